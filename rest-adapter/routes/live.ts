import { del, get, patch, post, type Route, type RouteTable } from '../route.js';

const COUNTS = 'counts { confirmed offered waitlisted attended remaining viewersNow peakViewers }';
const REGISTRATION = 'id sessionId userId status position source registeredAt confirmedAt confirmBy cancelledAt';
const SESSION = `id brandId kind status title description coverImageUrl tags locale visibility requiredFeature access { allowed reason } startsAt endsAt timeZone
  startedAt endedAt endReason capacity waitlistEnabled waitlistLimit promotionMode ${COUNTS} registrationRequired registrationOpensAt registrationClosesAt host { id }
  hosts { userId role } questionsEnabled questionModeration anonymousQuestions questionsOpenAt chatEnabled recordingEnabled
  viewerRegistration { id status position registeredAt confirmBy } series { id rrule timeZone } cancelReason cancelledAt playbackUrl createdAt updatedAt version`;
const QUESTION = `id sessionId body author { id } anonymous status voteCount viewerHasVoted viewerIsAuthor pinned answer answeredAt duplicateOf { id } reasonCode createdAt version`;
const CALL =
  'id kind status participants { userId role state } reference { type id } opensAt closesAt startedAt endedAt endReason durationSeconds version';
const JOIN = `sessionId provider mode url token tokenExpiresAt room participantId role canPublish canPublishData playbackUrl registration { id status } streamPath`;
const CALL_JOIN = 'callId provider mode url token tokenExpiresAt room participantId role canPublish canPublishData';
const RECORDING = 'id status durationSeconds sizeBytes playbackUrl transcriptUrl readyAt expiresAt createdAt';

const aUser = '0190b3a0-0000-7000-8000-0000000000a1';
const admin = '0190b3a0-0000-7000-8000-0000000000a9';
const session = {
  kind: 'broadcast',
  title: 'Ask the lab: ferritin',
  starts_at: '2030-12-01T18:00:00.000Z',
  ends_at: '2030-12-01T19:00:00.000Z',
  time_zone: 'America/New_York',
  capacity: 50,
};

const sessions: Route[] = [
  get('/v1/sessions', 'liveSessions', SESSION, 'List sessions'),
  get('/v1/live/sessions', 'liveSessions', SESSION, 'List what is on air now', { as: 'liveSessionsOnAir', constant: { status: ['LIVE'] } }),
  post('/v1/sessions', 'createLiveSession', SESSION, 'Give a session of your own', {
    status: 201,
    as: 'giveLiveSession',
    problems: { 409: 'An account is not active' },
    example: { request: session },
  }),
  get('/v1/sessions/{id}', 'liveSession', SESSION, 'Read a session', { omit: ['include'] }),
  patch('/v1/sessions/{id}', 'updateLiveSession', SESSION, 'Change, publish, start, end or cancel a session', {
    problems: { 409: 'Its state, version or taken seats do not allow it' },
    example: { request: { capacity: 60 } },
  }),
  del('/v1/sessions/{id}', 'deleteLiveSession', 'id', 'Delete a draft, or cancel a session', {
    omit: ['hide'],
    problems: { 409: 'It is live or over' },
  }),
  post('/v1/sessions/{id}/host', 'assignLiveHost', SESSION, 'Change the host team', {
    path: { id: 'sessionId' },
    problems: { 409: 'The only host cannot leave, or the account is not active' },
    example: { request: { user_id: aUser, role: 'moderator' } },
  }),
];

const administration: Route[] = [
  get('/v1/admin/sessions', 'adminLiveSessions', SESSION, 'List all sessions'),
  post('/v1/admin/sessions', 'createLiveSession', SESSION, 'Make a session', {
    status: 201,
    problems: { 409: 'An account is not active' },
    example: { request: { ...session, host_user_id: admin } },
  }),
  get('/v1/admin/sessions/{id}', 'liveSession', `${SESSION} createdBy`, 'Read any session', { as: 'adminLiveSession' }),
  patch('/v1/admin/sessions/{id}', 'updateLiveSession', SESSION, 'Change, publish, start, end or cancel any session', {
    as: 'adminUpdateLiveSession',
    problems: { 409: 'Its state, version or taken seats do not allow it' },
    example: { request: { capacity: 60 } },
  }),
  del('/v1/admin/sessions/{id}', 'deleteLiveSession', 'id', 'Delete a draft, cancel a session, hide one that is over', {
    as: 'adminDeleteLiveSession',
    constant: { hide: true },
    problems: { 409: 'It is live' },
  }),
  get('/v1/admin/sessions/{id}/registrations', 'liveSession.registrations', REGISTRATION, 'List registrations', {
    omit: ['include'],
    problems: { 403: 'Neither host team nor staff' },
  }),
  post('/v1/admin/series', 'createLiveSeries', 'id rrule timeZone sessionIds', 'Make sessions by a rule', {
    status: 201,
    problems: { 409: 'An account is not active' },
    example: { request: { ...session, host_user_id: admin, rrule: 'FREQ=WEEKLY;COUNT=4' } },
  }),
  del('/v1/admin/recordings/{id}', 'deleteLiveRecording', 'id', 'Take a recording away', { problems: { 409: 'It is still made' } }),
];

const registrations: Route[] = [
  post('/v1/sessions/{id}/registrations', 'registerForLiveSession', REGISTRATION, 'Register for a session', {
    status: [201, 200],
    path: { id: 'sessionId' },
    problems: { 403: 'A feature is required', 409: 'It is full, closed or over' },
    example: { request: {} },
  }),
  post('/v1/sessions/{id}/register', 'registerForLiveSession', REGISTRATION, 'Register yourself for a session', {
    as: 'registerMyselfForLiveSession',
    status: [201, 200],
    path: { id: 'sessionId' },
    omit: ['userId', 'overrideCapacity'],
    problems: { 403: 'A feature is required', 409: 'It is full, closed or over' },
  }),
  get('/v1/sessions/{id}/registrations/count', 'liveSession.counts', 'confirmed offered waitlisted capacity remaining', 'Count seats', {
    omit: ['include'],
  }),
  get('/v1/sessions/{id}/registrations/me', 'liveSession.viewerRegistration', REGISTRATION, 'Read the own registration', {
    omit: ['include'],
  }),
  del('/v1/sessions/{id}/registrations/me', 'cancelMyLiveRegistration', 'id', 'Cancel the own registration', {
    path: { id: 'sessionId' },
    problems: { 409: 'The session is over' },
  }),
];

const rooms: Route[] = [
  post('/v1/sessions/{id}/join', 'joinLiveSession', JOIN, 'Join a session', {
    problems: { 403: 'A registration is required, or you were removed', 409: 'It is not live, or full', 503: 'The vendor is down' },
  }),
  get('/v1/sessions/{id}/chat-token', 'liveChatToken', 'provider url channelId token role expiresAt', 'Get a token for the chat', {
    path: { id: 'sessionId' },
    problems: { 403: 'A registration is required, or you were removed', 409: 'The chat is off or closed' },
  }),
  post('/v1/sessions/{id}/stream-ticket', 'liveStreamTicket', 'ticket expiresAt path', 'Get a ticket for the stream', {
    status: 201,
    path: { id: 'sessionId' },
  }),
  post('/v1/sessions/{id}/participants/{participant_id}/remove', 'removeLiveParticipant', SESSION, 'Remove somebody from the room', {
    path: { id: 'sessionId' },
    problems: { 409: 'Members of the host team cannot be removed' },
    example: { request: { reason_code: 'disturbing' } },
  }),
  post('/v1/sessions/{id}/participants/{participant_id}/promote', 'setLiveParticipantRole', SESSION, 'Let somebody speak, or no more', {
    path: { id: 'sessionId' },
    example: { request: { role: 'speaker' } },
  }),
  get('/v1/sessions/{id}/recordings', 'liveSession.recordings', RECORDING, 'List recordings', { omit: ['include'] }),
];

const questions: Route[] = [
  get('/v1/sessions/{id}/questions', 'liveSession.questions', QUESTION, 'List questions', { omit: ['include'] }),
  post('/v1/sessions/{id}/questions', 'askLiveQuestion', QUESTION, 'Ask a question', {
    status: 201,
    path: { id: 'sessionId' },
    problems: { 403: 'A registration is required', 409: 'Questions are closed', 429: 'Too many questions' },
    example: { request: { body: 'Is 30 low?' } },
  }),
  patch('/v1/questions/{id}/status', 'moderateLiveQuestion', QUESTION, 'Moderate a question', {
    problems: { 409: 'Its state or version does not allow it' },
    example: { request: { status: 'approved' } },
  }),
  post('/v1/questions/{id}/vote', 'voteLiveQuestion', QUESTION, 'Vote for a question', {
    problems: { 409: 'It is your own, or questions are closed' },
    example: { request: { voted: true } },
  }),
  del('/v1/questions/{id}', 'deleteLiveQuestion', 'id', 'Withdraw or remove a question', { problems: { 409: 'It is answered' } }),
];

const calls: Route[] = [
  post('/v1/live/calls', 'createLiveCall', CALL, 'Make a call', {
    status: [201, 200],
    example: {
      request: {
        kind: 'one_to_one',
        participants: [
          { user_id: admin, role: 'host' },
          { user_id: aUser, role: 'guest' },
        ],
        reference: { type: 'visit', id: '0190b3a0-1111-7000-8000-000000000001' },
      },
    },
  }),
  get('/v1/live/calls/{id}', 'liveCall', CALL, 'Read a call'),
  post('/v1/live/calls/{id}/token', 'liveCallToken', CALL_JOIN, 'Enter a call', {
    problems: { 403: 'You were removed', 409: 'It is over, or cannot be entered now', 503: 'The vendor is down' },
  }),
  post('/v1/live/calls/{id}/end', 'endLiveCall', CALL, 'End a call'),
];

const testing: Route[] = [post('/v1/admin/test-clock', 'setLiveClock', 'now', "Move this service's manual clock (development and tests)")];

/** Routes of the live service. Source: contracts/live.md, section 4. */
const table: RouteTable = {
  service: 'live',
  routes: [...sessions, ...administration, ...registrations, ...rooms, ...questions, ...calls, ...testing],
};
export default table;
