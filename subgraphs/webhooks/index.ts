import { service } from '../../runtime/service.js';
import { clockControl } from '../../runtime/test-controls.js';
import { autoDisableTimer } from './consumers/auto-disable.js';
import { deliveryConsumer } from './consumers/delivery.js';
import { holdLimitTimer } from './consumers/held.js';
import { identityTimer } from './consumers/identity-sweep.js';
import { jobWorker } from './consumers/jobs.js';
import { secretsTimer } from './consumers/secrets.js';
import { attemptsTimer, retentionTimer } from './consumers/timers.js';
import { endingSecretsTimer, warningsTimer } from './consumers/warnings.js';
import { areReady, deliveryWorker } from './consumers/worker.js';
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
import { EventType } from './references.js';
import { AttemptLogResolver } from './resolver/attempt-log.js';
import { DeliveryResolver } from './resolver/delivery.js';
import { AttemptFieldsResolver, DeliveryFieldsResolver } from './resolver/delivery-fields.js';
import { DisclosureResolver } from './resolver/disclosure.js';
import { erase } from './resolver/erasure.js';
import { EventTypeResolver } from './resolver/event-type.js';
import { ClientFieldsResolver, EventTypeFieldsResolver, PlatformEventFieldsResolver } from './resolver/federation.js';
import { InboundResolver } from './resolver/inbound.js';
import { JobResolver } from './resolver/job.js';
import { ManagerResolver } from './resolver/manager.js';
import { ReplayResolver } from './resolver/replay.js';
import { SecretResolver } from './resolver/secret.js';
import { TestDeliveryResolver } from './resolver/test-delivery.js';
import { StatsResolver } from './resolver/stats.js';
import { SubscriptionResolver } from './resolver/subscription.js';
import { SubscriptionFieldsResolver } from './resolver/subscription-fields.js';
import { SubscriptionStateResolver } from './resolver/subscription-state.js';
import {
  deliveryReferences,
  jobReferences,
  pointers,
  receiptReferences,
  subscriptionReferences,
  userReferences,
} from './resolver/entity-references.js';

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
    clockControl('webhooks'),
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
