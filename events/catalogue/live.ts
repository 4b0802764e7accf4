import { defineEvent } from '../define.js';
import { bool, code, data, id, int, oneOf, ref, ts } from '../payload.js';

const owner = 'live' as const;

export const streamingSessionEnded = defineEvent('integration.streaming.session_ended.v1',
  data({ session_id: id(), vendor_session_ref: ref('bc_1207'), ended_at: ts(), duration_s: int(3600), peak_viewers: int(143) }),
  { owner, when: 'The streaming vendor reports the end of a broadcast.', user: 'optional', about: 'the host', scope: null, consumers: ['live'] },
);

export const liveSessionCreated = defineEvent('live.session.created.v1',
  data({
    session_id: id(), kind: oneOf('broadcast', 'group', 'one_to_one'), starts_at: ts('2026-11-24T10:00:00.000Z'), capacity: int(200).nullable(),
  }),
  { owner, when: 'A session is published.', user: 'optional', about: 'the host', scope: null, consumers: ['comms', 'content'] },
);

export const liveSessionStarted = defineEvent('live.session.started.v1',
  data({ session_id: id(), started_at: ts(), registered_count: int(210) }),
  { owner, when: 'A session is on air.', user: 'optional', about: 'the host', scope: null, consumers: ['comms'] },
);

export const liveSessionEnded = defineEvent('live.session.ended.v1',
  data({ session_id: id(), ended_at: ts(), duration_s: int(3600), attended_count: int(180) }),
  { owner, when: 'A session is over.', user: 'optional', about: 'the host', scope: null, consumers: ['comms'] },
);

export const liveSessionCancelled = defineEvent('live.session.cancelled.v1',
  data({ session_id: id(), reason: code('host_unavailable'), starts_at: ts('2026-11-24T10:00:00.000Z'), registered_count: int(210) }),
  { owner, when: 'Cancelled.', user: 'optional', about: 'the host', scope: null, consumers: ['comms'] },
);

export const liveSessionRegistered = defineEvent('live.session.registered.v1',
  data({ session_id: id(), registration_id: id(), starts_at: ts('2026-11-24T10:00:00.000Z') }),
  { owner, when: 'A seat is confirmed for the member (directly or from the waitlist).', user: 'required', scope: 'read:live', consumers: ['comms'] },
);

export const liveRegistrationCreated = defineEvent('live.registration.created.v1',
  data({ registration_id: id(), session_id: id(), status: oneOf('confirmed', 'waitlisted'), position: int(3).nullable() }),
  { owner, when: 'A registration row is made, confirmed or waitlisted.', user: 'required', scope: 'read:live' },
);

export const liveSessionWaitlistPromoted = defineEvent('live.session.waitlist_promoted.v1',
  data({ session_id: id(), registration_id: id(), confirm_by: ts('2026-11-21T09:30:00.000Z').nullable() }),
  { owner, when: 'A waitlisted member gets a seat.', user: 'required', scope: 'read:live', consumers: ['comms'] },
);

export const liveQuestionSubmitted = defineEvent('live.question.submitted.v1',
  data({ question_id: id(), session_id: id(), anonymous: bool() }),
  { owner, when: 'A question is asked.', user: 'required', scope: 'read:live' },
);

export const liveQuestionModerated = defineEvent('live.question.moderated.v1',
  data({ question_id: id(), session_id: id(), status: oneOf('approved', 'rejected', 'answered', 'hidden'), moderator_user_id: id().nullable() }),
  { owner, when: 'Status set by a host.', user: 'required', about: 'the asker', scope: 'read:live', consumers: ['comms'] },
);

export const liveQuestionVoted = defineEvent('live.question.voted.v1',
  data({ question_id: id(), session_id: id(), voted: bool(), vote_count: int(9) }),
  { owner, when: 'A vote is added or taken back.', user: 'required', about: 'the voter', scope: 'read:live' },
);

export const liveRecordingReady = defineEvent('live.recording.ready.v1',
  data({ session_id: id(), recording_id: id(), duration_s: int(3600), ready_at: ts() }),
  { owner, when: 'The recording can be watched.', user: 'optional', about: 'the host', scope: null, consumers: ['comms', 'content', 'ai'] },
);

export const liveStreamEvent = defineEvent('live.stream.event.v1',
  data({
    session_id: id(), vendor_event_id: ref('evt_5531'),
    kind: oneOf('connected', 'disconnected', 'idle', 'recording_started', 'recording_stopped', 'error'), at: ts(),
  }),
  { owner, when: 'The streaming vendor reports a technical event, normalised.', user: 'optional', about: 'the host', scope: null },
);
