import { service } from '../../runtime/service.js';
import { clockControl } from '../../runtime/test-controls.js';
import { autoDisableTimer } from './consumers/auto-disable.js';
import { deliveryConsumer } from './consumers/delivery.js';
import { secretsTimer } from './consumers/secrets.js';
import { attemptsTimer, retentionTimer } from './consumers/timers.js';
import { deliveryWorker, workerOf } from './consumers/worker.js';
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
import { settingsOf } from './ports/settings.js';
import { DeliveryResolver } from './resolver/delivery.js';
import { AttemptFieldsResolver, DeliveryFieldsResolver } from './resolver/delivery-fields.js';
import { erase } from './resolver/erasure.js';
import { EventTypeResolver } from './resolver/event-type.js';
import { ReplayResolver } from './resolver/replay.js';
import { SecretResolver } from './resolver/secret.js';
import { SubscriptionResolver } from './resolver/subscription.js';
import { SubscriptionFieldsResolver } from './resolver/subscription-fields.js';
import { SubscriptionStateResolver } from './resolver/subscription-state.js';
import { deliveryReferences, subscriptionReferences } from './resolver/entity-references.js';

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
    EventTypeResolver,
    clockControl('webhooks'),
  ],
  references: {
    WebhookSubscription: subscriptionReferences,
    WebhookDelivery: deliveryReferences,
  },
  consumers: [deliveryConsumer],
  timers: [attemptsTimer, autoDisableTimer, secretsTimer, retentionTimer],
  workers: [deliveryWorker],
  erase,
  native: async (_app, host) => void settingsOf(host), // has no path of its own yet; a wrong setting stops the start
  ready: async host => ({ shards: workerOf(host)?.ready ?? true }),
});
