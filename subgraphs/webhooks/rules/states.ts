import type {
  WebhookDeliveryStatus,
  WebhookReplayAction,
  WebhookReplayRefusal,
  WebhookSubscriptionStatus,
  WebhookWait,
} from '../entities/enums.js';
import type { TransitionTable } from '../../../runtime/request/states.js';

export type SubscriptionTrigger = 'pause' | 'resume' | 'disable' | 'enable';

/** Source: section 3, Subscription. */
export const SUBSCRIPTION_STATES = {
  active: { pause: 'paused', disable: 'disabled' },
  paused: { resume: 'active', disable: 'disabled' },
  disabled: { enable: 'active' },
} as const satisfies TransitionTable<WebhookSubscriptionStatus, SubscriptionTrigger>;

export type DeliveryTrigger = 'succeed' | 'fail' | 'fail_last' | 'cancel' | 'retry_now' | 'discard';

/** Source: section 3, Delivery. A replay leaves its delivery as it is and makes another. */
export const DELIVERY_STATES: TransitionTable<WebhookDeliveryStatus, DeliveryTrigger> = {
  pending: { succeed: 'delivered', fail: 'retrying', fail_last: 'dead_lettered', cancel: 'cancelled' },
  retrying: { succeed: 'delivered', fail: 'retrying', fail_last: 'dead_lettered', cancel: 'cancelled', retry_now: 'retrying' },
  delivered: {},
  // an attempt was in the air when it was closed: its success stands
  dead_lettered: { succeed: 'delivered', discard: 'cancelled' },
  cancelled: { succeed: 'delivered' },
};

/** State after an attempt; one that was closed meanwhile is not brought back by a failure. Source: section 8, cancel. */
export const afterTrigger = (status: WebhookDeliveryStatus, trigger: DeliveryTrigger): WebhookDeliveryStatus =>
  DELIVERY_STATES[status][trigger] ?? status;

/** A replay makes another delivery; an open one goes out anyway, and a cancelled one may not. */
export const isReplayable = (status: WebhookDeliveryStatus): boolean => status === 'delivered' || status === 'dead_lettered';

export const isOpen = (status: WebhookDeliveryStatus): boolean => status === 'pending' || status === 'retrying';

/** What decides what a delivery waits for. */
export interface Waiting {
  status: WebhookDeliveryStatus;
  isHead: boolean;
  paused: boolean;
  circuitOpen: boolean;
  rateLimited: boolean;
}

/** What a pending delivery waits for; null for any other. Source: section 2, WebhookDelivery. */
export function waitingFor({ status, isHead, paused, circuitOpen, rateLimited }: Waiting): WebhookWait | null {
  if (status !== 'pending') return null;
  if (!isHead) return 'head_of_line';
  if (paused) return 'paused';
  if (circuitOpen) return 'circuit_open';
  return rateLimited ? 'rate_limit' : 'ready';
}

/** What is known of an event's newest delivery to one subscription when it is to be sent again. */
export interface Replayed {
  status: WebhookDeliveryStatus;
  isHead: boolean;
  subscriptionStatus: WebhookSubscriptionStatus;
  inFilter: boolean;
  granted: boolean;
}

export type ReplayDecision =
  { action: Exclude<WebhookReplayAction, 'refused'>; reason: null } | { action: 'refused'; reason: WebhookReplayRefusal };

/** Whether and how an event is sent again. Source: section 4, replay; acceptance 17 and 18. */
export function decideReplay({ status, isHead, subscriptionStatus, inFilter, granted }: Replayed): ReplayDecision {
  if (subscriptionStatus === 'disabled') return { action: 'refused', reason: 'subscription_disabled' };
  if (!inFilter) return { action: 'refused', reason: 'type_not_in_filter' };
  if (!granted) return { action: 'refused', reason: 'grant_inactive' };
  if (!isOpen(status)) return { action: 'created', reason: null };
  const sendable = status === 'retrying' && isHead && subscriptionStatus === 'active';
  return { action: sendable ? 'retried_now' : 'already_queued', reason: null };
}
