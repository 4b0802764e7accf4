import { service } from '../../runtime/service.js';
import { alarmWorker } from './workers/alarms.js';
import { canaryConsumer } from './consumers/canary.js';
import { ready } from './queries/readiness.js';
import { BusResolver } from './resolvers/bus.js';
import { consumerReferences, ConsumerResolver } from './resolvers/consumer.js';
import { deadLetterReferences, DeadLetterResolver } from './resolvers/dead-letter.js';
import { erase } from './erase.js';
import { eventTypeReferences, EventTypeResolver } from './resolvers/event-type.js';
import { DeliveryLogResolver } from './resolvers/delivery-log.js';
import { LogResolver, platformEventReferences } from './resolvers/log.js';
import { tailWorker } from './queries/log-tail.js';
import { PublishResolver } from './resolvers/publish.js';
import { replayReferences, ReplayResolver } from './resolvers/replay.js';
import { HandlingResolver, TraceResolver } from './resolvers/trace.js';
import { UserEventsResolver, userReferences } from './resolvers/user-events.js';

export default service({
  slug: 'events',
  purpose: 'The event bus: the catalogue of types, the log, its consumers and their dead letters',
  entities: [], // the machinery's tables, read by SQL: the log is partitioned and may not be changed
  resolvers: [
    EventTypeResolver,
    ConsumerResolver,
    DeadLetterResolver,
    LogResolver,
    TraceResolver,
    HandlingResolver,
    UserEventsResolver,
    PublishResolver,
    ReplayResolver,
    DeliveryLogResolver,
    BusResolver,
  ],
  references: {
    EventType: eventTypeReferences,
    EventConsumer: consumerReferences,
    ConsumerDeadLetter: deadLetterReferences,
    PlatformEvent: platformEventReferences,
    EventReplay: replayReferences,
    User: userReferences,
  },
  consumers: [canaryConsumer],
  workers: [tailWorker, alarmWorker],
  erase,
  ready,
});
