import { service } from '../../runtime/service.js';
import { deliveryConsumer } from './consumers/delivery.js';
import { WebhookAttempt } from './entities/attempt.js';
import { WebhookDelivery } from './entities/delivery.js';
import {
  ErasedUser,
  GrantProjection,
  WebhookConfiguration,
  WebhookEvent,
  WebhookLane,
  WebhookShard,
  WebhookWorker,
} from './entities/engine.js';
import { InboundReceipt, InboundRejection, InboundSourceState } from './entities/inbound.js';
import { WebhookJob } from './entities/job.js';
import { WebhookManager } from './entities/manager.js';
import { WebhookNotice } from './entities/notice.js';
import { WebhookHealth, WebhookSecretInfo, WebhookSubscription } from './entities/subscription.js';
import { erase } from './erase.js';
import { inboundPaths, mountInbound } from './native/inbound.js';
import { references } from './references.js';
import { AttemptResolver } from './resolvers/attempt.js';
import { DeliveryFieldsResolver } from './resolvers/delivery-fields.js';
import { DeliveryResolver } from './resolvers/delivery.js';
import { DisclosureResolver } from './resolvers/disclosure.js';
import { EventTypeFieldsResolver, EventTypeResolver } from './resolvers/event-type.js';
import { ClientFieldsResolver, PlatformEventFieldsResolver } from './resolvers/federation.js';
import { InboundResolver } from './resolvers/inbound.js';
import { JobResolver } from './resolvers/job.js';
import { ManagerResolver } from './resolvers/manager.js';
import { SubscriptionFieldsResolver } from './resolvers/subscription-fields.js';
import { SubscriptionResolver } from './resolvers/subscription.js';
import { EventType } from './stubs.js';
import { attemptsTimer } from './timers/attempts.js';
import { autoDisableTimer, warningsTimer } from './timers/health.js';
import { holdLimitTimer } from './timers/hold-limit.js';
import { identityTimer } from './timers/identity.js';
import { retentionTimer } from './timers/retention.js';
import { endingSecretsTimer, secretsTimer } from './timers/secrets.js';
import { deliveryWorker, ready } from './workers/delivery.js';
import { closingWorker } from './workers/closings.js';
import { jobWorker } from './workers/jobs.js';

export default service({
  slug: 'webhooks',
  purpose: 'Signed delivery of events to outside subscribers, in order per user, with retries, dead letters and replay',
  entities: [
    WebhookSubscription,
    WebhookSecretInfo,
    WebhookHealth,
    WebhookDelivery,
    WebhookAttempt,
    WebhookConfiguration,
    WebhookEvent,
    WebhookLane,
    GrantProjection,
    ErasedUser,
    WebhookShard,
    WebhookWorker,
    WebhookManager,
    WebhookNotice,
    WebhookJob,
    InboundReceipt,
    InboundSourceState,
    InboundRejection,
  ],
  resolvers: [
    SubscriptionResolver,
    SubscriptionFieldsResolver,
    DeliveryResolver,
    DeliveryFieldsResolver,
    JobResolver,
    InboundResolver,
    EventTypeResolver,
    ManagerResolver,
    AttemptResolver,
    DisclosureResolver,
    PlatformEventFieldsResolver,
    ClientFieldsResolver,
    EventTypeFieldsResolver,
  ],
  types: [EventType],
  references,
  consumers: [deliveryConsumer],
  timers: [attemptsTimer, warningsTimer, autoDisableTimer, endingSecretsTimer, secretsTimer, holdLimitTimer, identityTimer, retentionTimer],
  workers: [deliveryWorker, jobWorker, closingWorker],
  erase,
  native: mountInbound,
  nativePaths: inboundPaths,
  ready,
});
