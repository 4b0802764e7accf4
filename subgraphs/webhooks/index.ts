import { service } from '../../runtime/service.js';
import { autoDisableTimer } from './timers/auto-disable.js';
import { deliveryConsumer } from './consumers/delivery.js';
import { holdLimitTimer } from './timers/held.js';
import { identityTimer } from './timers/identity-sweep.js';
import { jobWorker } from './workers/jobs.js';
import { secretsTimer } from './commands/secrets.js';
import { attemptsTimer, retentionTimer } from './timers/timers.js';
import { endingSecretsTimer, warningsTimer } from './timers/warnings.js';
import { areReady, deliveryWorker } from './workers/worker.js';
import { WebhookAttempt, WebhookDelivery } from './entities/delivery.js';
import {
  ErasedUser,
  GrantProjection,
  WebhookConfiguration,
  WebhookEvent,
  WebhookLane,
  WebhookShard,
  WebhookWorker,
} from './entities/engine.js';
import { WebhookHealth, WebhookSecretInfo, WebhookSubscription } from './entities/subscription.js';
import { InboundReceipt, InboundRejection, InboundSourceState } from './entities/inbound.js';
import { WebhookJob } from './entities/job.js';
import { WebhookManager } from './entities/manager.js';
import { WebhookNotice } from './entities/notice.js';
import { inboundPaths, mountInbound } from './native/inbound.js';
import { settingsOf } from './ports/settings.js';
import { EventType } from './stubs.js';
import { AttemptLogResolver } from './resolvers/attempt-log.js';
import { DeliveryResolver } from './resolvers/delivery.js';
import { AttemptFieldsResolver, DeliveryFieldsResolver } from './resolvers/delivery-fields.js';
import { DisclosureResolver } from './resolvers/disclosure.js';
import { erase } from './erase.js';
import { EventTypeResolver } from './resolvers/event-type.js';
import { ClientFieldsResolver, EventTypeFieldsResolver, PlatformEventFieldsResolver } from './resolvers/federation.js';
import { InboundResolver } from './resolvers/inbound.js';
import { JobResolver } from './resolvers/job.js';
import { ManagerResolver } from './resolvers/manager.js';
import { ReplayResolver } from './resolvers/replay.js';
import { SecretResolver } from './resolvers/secret.js';
import { TestDeliveryResolver } from './resolvers/test-delivery.js';
import { StatsResolver } from './resolvers/stats.js';
import { SubscriptionResolver } from './resolvers/subscription.js';
import { SubscriptionFieldsResolver } from './resolvers/subscription-fields.js';
import { SubscriptionStateResolver } from './resolvers/subscription-state.js';
import {
  deliveryReferences,
  jobReferences,
  pointers,
  receiptReferences,
  subscriptionReferences,
  userReferences,
} from './queries/entity-references.js';

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
    SubscriptionStateResolver,
    SubscriptionFieldsResolver,
    SecretResolver,
    DeliveryResolver,
    DeliveryFieldsResolver,
    AttemptFieldsResolver,
    ReplayResolver,
    JobResolver,
    TestDeliveryResolver,
    InboundResolver,
    EventTypeResolver,
    ManagerResolver,
    AttemptLogResolver,
    DisclosureResolver,
    StatsResolver,
    PlatformEventFieldsResolver,
    ClientFieldsResolver,
    EventTypeFieldsResolver,
  ],
  types: [EventType],
  references: {
    WebhookSubscription: subscriptionReferences,
    WebhookDelivery: deliveryReferences,
    WebhookJob: jobReferences,
    InboundReceipt: receiptReferences,
    User: userReferences,
    OAuthClient: pointers,
    PlatformEvent: pointers,
    EventType: pointers,
  },
  consumers: [deliveryConsumer],
  timers: [attemptsTimer, warningsTimer, autoDisableTimer, endingSecretsTimer, secretsTimer, holdLimitTimer, identityTimer, retentionTimer],
  workers: [deliveryWorker, jobWorker],
  erase,
  native: async (app, host) => {
    settingsOf(host); // a wrong setting stops the start
    await mountInbound(app, host);
  },
  nativePaths: inboundPaths,
  ready: async host => ({ shards: areReady(host) }),
});
