import {
  FulfillmentStatus,
  OrderFulfillmentStatus,
  OrderPaymentStatus,
  OrderStatus,
  ProductSubscriptionStatus,
} from '../entities/enums.js';
import type { TransitionTable } from '../../../runtime/request/states.js';

const { PENDING_PAYMENT, PLACED, COMPLETED, PAYMENT_FAILED, EXPIRED, CANCELLED } = OrderStatus;

export type OrderTrigger = 'place' | 'decline' | 'expire' | 'cancel' | 'complete' | 'lose';

/** Source: commerce 3. `lose`: what is paid cannot be allocated. */
export const ORDER_STATES: TransitionTable<OrderStatus, OrderTrigger> = {
  [PENDING_PAYMENT]: { place: PLACED, decline: PAYMENT_FAILED, expire: EXPIRED, lose: CANCELLED },
  [EXPIRED]: { place: PLACED, lose: CANCELLED },
  [PAYMENT_FAILED]: { place: PLACED, lose: CANCELLED },
  [PLACED]: { cancel: CANCELLED, complete: COMPLETED },
  [COMPLETED]: {},
  [CANCELLED]: {},
};

const { ACTIVE, PAUSED, PAST_DUE, CANCELLED: ENDED } = ProductSubscriptionStatus;

export type SubscriptionTrigger = 'pause' | 'resume' | 'decline' | 'recover' | 'give_up' | 'cancel';

/** Source: commerce 3. */
export const SUBSCRIPTION_STATES: TransitionTable<ProductSubscriptionStatus, SubscriptionTrigger> = {
  [ACTIVE]: { pause: PAUSED, decline: PAST_DUE, cancel: ENDED },
  [PAUSED]: { resume: ACTIVE, cancel: ENDED },
  [PAST_DUE]: { recover: ACTIVE, give_up: PAUSED, cancel: ENDED, decline: PAST_DUE },
  [ENDED]: {},
};

/** What a settlement of an order means. Source: commerce 3, settled. */
export function settlementOf(
  order: { status: OrderStatus; total: number; currency: string },
  paid: { amount: number; currency: string },
): 'place' | 'mismatch' | 'known' {
  if (![PENDING_PAYMENT, EXPIRED, PAYMENT_FAILED].includes(order.status)) return 'known';
  return paid.amount === order.total && paid.currency === order.currency ? 'place' : 'mismatch';
}

export interface LineCounts {
  quantity: number;
  fulfilled: number;
  cancelled: number;
  returned: number;
  requiresShipping: boolean;
}

/** Derived from lines and parcels. Source: commerce 2. */
export function fulfillmentStatusOf(lines: readonly LineCounts[], parcels: readonly OrderFulfillmentStatus[]): FulfillmentStatus {
  const [shipped, returned] = [lines.reduce((sum, one) => sum + one.fulfilled, 0), lines.reduce((sum, one) => sum + one.returned, 0)];
  if (shipped === 0) return FulfillmentStatus.UNFULFILLED;
  if (returned === shipped) return FulfillmentStatus.RETURNED;
  if (lines.some(one => one.fulfilled + one.cancelled < one.quantity)) return FulfillmentStatus.PARTIALLY_FULFILLED;
  const sent = parcels.filter(one => one === OrderFulfillmentStatus.SHIPPED || one === OrderFulfillmentStatus.DELIVERED);
  return sent.length > 0 && sent.every(one => one === OrderFulfillmentStatus.DELIVERED)
    ? FulfillmentStatus.DELIVERED
    : FulfillmentStatus.FULFILLED;
}

/** Whether nothing is left to be sent, and something was. */
export const isComplete = (lines: readonly LineCounts[]): boolean =>
  lines.every(one => one.fulfilled + one.cancelled === one.quantity) && lines.some(one => one.fulfilled > 0);

/** @param refunded of all that was paid. */
export function paymentStatusOf(now: OrderPaymentStatus, total: number, refunded: number): OrderPaymentStatus {
  if (now === OrderPaymentStatus.EXTERNAL) return now;
  if (refunded <= 0) return OrderPaymentStatus.PAID;
  return refunded >= total ? OrderPaymentStatus.REFUNDED : OrderPaymentStatus.PARTIALLY_REFUNDED;
}

const ORDER_OF_PARCELS = [
  OrderFulfillmentStatus.PENDING,
  OrderFulfillmentStatus.FAILED,
  OrderFulfillmentStatus.CANCELLED,
  OrderFulfillmentStatus.SHIPPED,
  OrderFulfillmentStatus.DELIVERED,
];

/** A report of the pharmacy that comes late moves nothing back. Source: commerce 5. */
export const isForward = (from: OrderFulfillmentStatus, to: OrderFulfillmentStatus): boolean =>
  ORDER_OF_PARCELS.indexOf(to) > ORDER_OF_PARCELS.indexOf(from);
