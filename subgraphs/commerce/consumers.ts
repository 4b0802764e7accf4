import { vialDiscarded } from '../../events/catalogue/clinical.js';
import {
  partnerOrderCancelled,
  partnerOrderCreated,
  partnerOrderDelivered,
  partnerOrderFailed,
  partnerOrderProcessing,
  partnerOrderShipped,
  partnerOrderTransmitted,
} from '../../events/catalogue/partner.js';
import { medicationPrescribed } from '../../events/catalogue/patient-graph.js';
import { brandCacheInvalidated } from '../../events/catalogue/platform.js';
import { paymentFailed, paymentPaid, paymentRefunded } from '../../events/catalogue/payments.js';
import { webhookReceived } from '../../events/catalogue/webhooks.js';
import type { DataOf } from '../../events/define.js';
import { handle, type Consumer, type Envelope } from '../../events/consumer.js';
import { findRow } from '../../runtime/data/rows.js';
import type { Context } from '../../runtime/request/context.js';
import { preparation } from '../../runtime/request/operation.js';
import { declineOrder, expireOrder, refundedOrder, settleOrder } from './commands/order-outcome.js';
import { lockOrder } from './commands/order-row.js';
import { isKnownParcel, reportPartnerParcel, type PartnerLine } from './commands/partner-parcel.js';
import { lockHeld } from './commands/stock.js';
import { readObject, takeObject, type SyncObject } from './commands/sync-object.js';
import { renewalDeclined } from './commands/scheduled-outcome.js';
import { OrderFulfillmentStatus } from './entities/enums.js';
import { Order } from './entities/order.js';
import { forgetBrands } from './ports/brands.js';
import { lineOfPartnerOrder } from './ports/pharmacy.js';

/** Whether an event is about an order; what renews a subscription is not. */
const isOfOrder = ({ data }: Envelope<{ order_id: string | null }>): boolean => data.order_id !== null;

/** An order of ours, locked; null: it is none, or it was erased before it was paid. */
async function orderOf(ctx: Context, id: string | null): Promise<Order | null> {
  return id !== null && (await findRow(ctx, Order, { id })) ? lockOrder(ctx, id) : null;
}

/** What is settled is card, cash and credit together. Source: commerce 3. */
const paid = handle(
  paymentPaid,
  async (ctx: Context, { data }) => {
    const order = await orderOf(ctx, data.order_id);
    if (order)
      await settleOrder(ctx, order, { amount: data.total_amount + data.cash_amount + data.credit_amount, currency: data.currency });
  },
  isOfOrder,
);

const failed = handle(
  paymentFailed,
  async (ctx: Context, { data }) => {
    const order = await orderOf(ctx, data.order_id);
    if (!order) return;
    if (order.scheduledOrderId === null) return declineOrder(ctx, order);
    await lockHeld(ctx, 'order_id', [order.id]);
    const code = data.decline_code ?? data.category;
    if (await renewalDeclined(ctx, order.scheduledOrderId, data.attempt, code)) await expireOrder(ctx, order);
  },
  isOfOrder,
);

const WAITING = `
update commerce.scheduled_order c set next_attempt_at = $2 from commerce.product_subscription s
where s.id = c.subscription_id and s.user_id = $1 and c.status = 'scheduled' and c.failure_code = 'requirement_not_met'`;

/** A renewal that waits for a clearance is looked at again; nothing of the prescription is kept. */
const prescribed = handle(medicationPrescribed, async (ctx: Context, { user_id: userId }) => {
  if (userId !== null) await ctx.sql(WAITING, [userId, ctx.now().toISOString()]);
});

const SUGGEST = `
update commerce.product_subscription set refill_suggested = true, updated_at = $2, version = version + 1
where user_id = $1 and status <> 'cancelled' and not refill_suggested`;

const GONE: readonly string[] = ['used_up', 'lost', 'damaged'];

/** Something was used up, or lost: a refill is suggested, and nothing is ordered. */
const discarded = handle(vialDiscarded, async (ctx: Context, { user_id: userId, data }) => {
  if (userId !== null && GONE.includes(data.reason)) await ctx.sql(SUGGEST, [userId, ctx.now().toISOString()]);
});

const refunded = handle(
  paymentRefunded,
  async (ctx: Context, { data }) => {
    const order = await orderOf(ctx, data.order_id);
    if (order?.placedAt || order?.cancelledAt) refundedOrder(ctx, order, data.obligation_refunded ?? data.total_refunded);
  },
  isOfOrder,
);

const brands = handle(brandCacheInvalidated, (ctx: Context) => {
  forgetBrands(ctx.host);
  return Promise.resolve();
});

/** The object that a call of the storefront is about, as it is there now. */
const storefrontObject = preparation((ctx, { data }: Envelope<DataOf<typeof webhookReceived>>): Promise<SyncObject | null> =>
  data.source === 'storefront' ? readObject(ctx.host, data.topic, data.external_id) : Promise.resolve(null),
);

const called = handle(webhookReceived, async (ctx: Context) => {
  const object = storefrontObject.of(ctx);
  if (object) await takeObject(ctx, object);
});

interface PharmacyReport {
  order_ref: string;
  carrier?: string;
  tracking_ref?: string;
}

/** Whose an order of the pharmacy is, asked of partner where its reference is new here; null: known, or of nobody of ours. */
const partnerLine = preparation(async (ctx, { data }: Envelope<PharmacyReport>): Promise<PartnerLine | null> =>
  (await isKnownParcel(ctx, data.order_ref)) ? null : lineOfPartnerOrder(ctx.host, data.order_ref),
);

/** @param to null: nothing moves yet. */
const pharmacy =
  (to: OrderFulfillmentStatus | null) =>
  (ctx: Context, { data }: Envelope<PharmacyReport>): Promise<void> => {
    const { carrier, tracking_ref: trackingNumber } = data;
    return reportPartnerParcel(ctx, data.order_ref, partnerLine.of(ctx), to, {
      ...(carrier && { carrier }),
      ...(trackingNumber && { trackingNumber }),
    });
  };

/** Source: commerce 5. */
export const consumers: readonly Consumer<Context>[] = [
  { name: 'commerce.payments', on: [paid, failed, refunded] },
  { name: 'commerce.brands', on: [brands] },
  { name: 'commerce.storefront', prepare: storefrontObject.run, on: [called] },
  { name: 'commerce.subscriptions', on: [prescribed, discarded] },
  {
    name: 'commerce.partner_orders',
    prepare: partnerLine.run,
    on: [
      handle(partnerOrderCreated, pharmacy(null)),
      handle(partnerOrderTransmitted, pharmacy(null)),
      handle(partnerOrderProcessing, pharmacy(null)),
      handle(partnerOrderShipped, pharmacy(OrderFulfillmentStatus.SHIPPED)),
      handle(partnerOrderDelivered, pharmacy(OrderFulfillmentStatus.DELIVERED)),
      handle(partnerOrderFailed, pharmacy(OrderFulfillmentStatus.FAILED)),
      handle(partnerOrderCancelled, pharmacy(OrderFulfillmentStatus.CANCELLED)),
    ],
  },
];
