import { service } from '../../runtime/service.js';
import { clockControl } from '../../runtime/test-controls.js';
import { alarmWorker } from './consumers/alarms.js';
import { canaryConsumer } from './consumers/canary.js';
import { ready } from './consumers/readiness.js';
import { BusResolver } from './resolver/bus.js';
import { consumerReferences, ConsumerResolver } from './resolver/consumer.js';
import { deadLetterReferences, DeadLetterResolver } from './resolver/dead-letter.js';
import { erase } from './resolver/erasure.js';
import { eventTypeReferences, EventTypeResolver } from './resolver/event-type.js';
import { DeliveryLogResolver } from './resolver/delivery-log.js';
import { LogResolver, platformEventReferences } from './resolver/log.js';
import { tailWorker } from './resolver/log-tail.js';
import { PublishResolver } from './resolver/publish.js';
import { replayReferences, ReplayResolver } from './resolver/replay.js';
import { HandlingResolver, TraceResolver } from './resolver/trace.js';
import { UserEventsResolver, userReferences } from './resolver/user-events.js';

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
    clockControl('events'),
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
