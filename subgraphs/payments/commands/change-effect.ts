import { findRow, lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { SubscriptionChangeStatus } from '../entities/enums-billing.js';
import type { Invoice } from '../entities/invoice.js';
import { BillingPrice } from '../entities/price.js';
import { SubscriptionChange, type BillingSubscription } from '../entities/subscription.js';
import { anchoredAt, nextBoundary, reanchored } from '../rules/periods.js';
import { directionOf, type Subscribed } from '../rules/proration.js';
import { isBilled, isOver } from '../rules/subscription-states.js';
import { emitTierChanged } from './billing-events.js';
import { voidInvoice } from './invoice.js';
import { anchorOf, plan, recurrenceOf } from './subscription-state.js';

export const subscribed = (price: BillingPrice, quantity: number): Subscribed => ({
  ...recurrenceOf(price),
  unitAmount: price.unitAmountMinor,
  quantity,
});

const { PENDING, AWAITING_PAYMENT, APPLIED, DROPPED } = SubscriptionChangeStatus;

/** The change that is planned for the end of the period. */
export const plannedChange = (ctx: Context, { id }: BillingSubscription): Promise<SubscriptionChange | null> =>
  findRow(ctx, SubscriptionChange, { subscriptionId: id, status: PENDING });

export async function dropPlanned(ctx: Context, subscription: BillingSubscription): Promise<void> {
  const planned = await plannedChange(ctx, subscription);
  if (!planned) return;
  planned.status = DROPPED;
  ctx.audit('subscription.change_dropped', subscription.id, { change_id: planned.id });
}

/** Puts a change in effect: price, quantity and tier, and where it restarts, a new period from now. */
async function apply(ctx: Context, subscription: BillingSubscription, change: SubscriptionChange): Promise<void> {
  const [from, to] = await Promise.all([change.fromPriceId, change.toPriceId].map(id => requireRow(ctx, BillingPrice, { id })));
  const direction = directionOf(subscribed(from!, change.fromQuantity), subscribed(to!, change.quantity));
  Object.assign(subscription, { priceId: to!.id, quantity: change.quantity, tier: to!.tier, subjectId: to!.subjectId });
  subscription.version += 1;
  change.status = APPLIED;
  if (change.restarts) restart(ctx, subscription, to!);
  if (isBilled(subscription.status)) plan(subscription, to!);
  emitTierChanged(ctx, subscription, from!, to!, direction);
  ctx.audit('subscription.changed', subscription.id, {
    from_price_id: from!.id,
    to_price_id: to!.id,
    quantity: change.quantity,
    direction,
  });
}

function restart(ctx: Context, subscription: BillingSubscription, price: BillingPrice): void {
  const anchor = anchoredAt(ctx.now());
  const end = nextBoundary(anchor, recurrenceOf(price), anchor.at);
  Object.assign(subscription, { anchorAt: anchor.at, anchorDay: anchor.day, currentPeriodStart: anchor.at, currentPeriodEnd: end });
}

/** A change takes effect now: without a payment, or with one that has arrived. */
export async function applyNow(ctx: Context, subscription: BillingSubscription, change: SubscriptionChange): Promise<void> {
  await dropPlanned(ctx, subscription);
  await ctx.em.flush();
  await apply(ctx, subscription, change);
}

/** The proration of a change is paid. A subscription that ended meanwhile stays as it is. */
export async function applyAwaiting(ctx: Context, subscription: BillingSubscription, invoice: Invoice): Promise<void> {
  const change = await findRow(ctx, SubscriptionChange, { invoiceId: invoice.id, status: AWAITING_PAYMENT });
  if (change && !isOver(subscription.status)) await applyNow(ctx, subscription, change);
}

/** The proration of a change is not paid: it is void, and nothing changes. */
export async function dropAwaiting(ctx: Context, invoice: Invoice, reason: string): Promise<void> {
  const change = await findRow(ctx, SubscriptionChange, { invoiceId: invoice.id, status: AWAITING_PAYMENT });
  if (change) change.status = DROPPED;
  await voidInvoice(ctx, invoice, reason);
}

/** What was planned for the end of the period takes effect with the next one; days of the month stay over a change of cadence. */
export async function applyPlanned(ctx: Context, subscription: BillingSubscription): Promise<void> {
  const change = await plannedChange(ctx, subscription);
  if (!change) return;
  const anchor = reanchored(anchorOf(subscription), subscription.currentPeriodEnd);
  Object.assign(subscription, { anchorAt: anchor.at, anchorDay: anchor.day });
  await apply(ctx, subscription, await lockRow(ctx, SubscriptionChange, { id: change.id }));
}
