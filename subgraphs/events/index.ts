import { service } from '../../runtime/service.js';
import { canaryConsumer } from './consumers/canary.js';
import { erase } from './erase.js';
import { ready } from './queries/bus.js';
import { references } from './references.js';
import { BusResolver } from './resolvers/bus.js';
import { ConsumerResolver } from './resolvers/consumer.js';
import { DeadLetterResolver } from './resolvers/dead-letter.js';
import { DeliveryLogResolver } from './resolvers/delivery-log.js';
import { EventTypeResolver } from './resolvers/event-type.js';
import { LogResolver } from './resolvers/log.js';
import { PublishResolver } from './resolvers/publish.js';
import { ReplayResolver } from './resolvers/replay.js';
import { HandlingResolver, TraceResolver } from './resolvers/trace.js';
import { UserEventsResolver } from './resolvers/user-events.js';
import { alarmWorker } from './workers/alarms.js';
import { tailWorker } from './workers/log-tail.js';

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
  references,
  consumers: [canaryConsumer],
  workers: [tailWorker, alarmWorker],
  erase,
  ready,
});
