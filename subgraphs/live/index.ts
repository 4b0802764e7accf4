import { service } from '../../runtime/service.js';
import { consumers } from './consumers.js';
import { LiveCall, LiveCallParticipant } from './entities/call.js';
import { LiveQuestion, LiveQuestionVote } from './entities/question.js';
import { LiveRecording } from './entities/recording.js';
import { LiveRegistration } from './entities/registration.js';
import {
  LiveAttendance,
  LiveKick,
  LiveParticipant,
  LivePresence,
  StreamingConnection,
  StreamingReceipt,
  StreamingRoom,
} from './entities/room.js';
import { LiveSeries, LiveSession, LiveSessionHost } from './entities/session.js';
import { erase } from './erase.js';
import { mountChat } from './native/chat.js';
import { mountEmbedded } from './native/embedded.js';
import { mountStream, streamPaths } from './native/stream.js';
import { mountWebhook, webhookPaths } from './native/webhook.js';
import { references } from './references.js';
import { CallMemberResolver, CallResolver } from './resolvers/call.js';
import { BrandLiveResolver, RecordingResolver, UserLiveResolver } from './resolvers/extended.js';
import { QuestionResolver } from './resolvers/question.js';
import { RegistrationResolver } from './resolvers/registration.js';
import { RoomResolver } from './resolvers/room.js';
import { SessionResolver, TeamMemberResolver } from './resolvers/session.js';
import { seed } from './seed.js';
import { Brand, MembershipTier, User } from './stubs.js';
import { timers } from './timers.js';
import { keeper } from './workers/keeper.js';

export default service({
  slug: 'live',
  purpose: 'Live sessions with seats, questions and recordings, and calls',
  entities: [
    LiveSession,
    LiveSessionHost,
    LiveSeries,
    LiveRegistration,
    LiveQuestion,
    LiveQuestionVote,
    LiveCall,
    LiveCallParticipant,
    LiveRecording,
    LiveParticipant,
    LiveKick,
    LiveAttendance,
    LivePresence,
    StreamingRoom,
    StreamingConnection,
    StreamingReceipt,
  ],
  resolvers: [
    SessionResolver,
    TeamMemberResolver,
    RegistrationResolver,
    RoomResolver,
    QuestionResolver,
    CallResolver,
    CallMemberResolver,
    UserLiveResolver,
    BrandLiveResolver,
    RecordingResolver,
  ],
  types: [User, Brand, MembershipTier],
  references,
  consumers,
  timers,
  workers: [keeper],
  nativePaths: [...webhookPaths, ...streamPaths],
  seed,
  erase,
  native: async (app, host, authenticate) => {
    await mountWebhook(app, host);
    await mountStream(app, host, authenticate);
    mountEmbedded(app, host);
    mountChat(app, host);
  },
});
