import { orderPlaced } from '../../events/catalogue/commerce.js';
import {
  paymentDisputeClosed,
  paymentInvoicePaid,
  paymentInvoicePastDue,
  subscriptionCancelled,
  subscriptionCreated,
  subscriptionPaused,
  subscriptionResumed,
  subscriptionTierChanged,
} from '../../events/catalogue/payments.js';
import { handle, type Consumer, type Envelope } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { record, type Told } from './commands/facts.js';
import { refold } from './commands/refold.js';
import { unlockByOrders } from './commands/rewards.js';
import type { FactData } from './rules/facts.js';

const MEMBERSHIP_PLAN = 'membership_plan';

/** Where and when an event says something of a subscription. */
const told = <Kind extends keyof FactData>(
  { id, user_id: userId, occurred_at: occurredAt, seq }: Envelope,
  kind: Kind,
  subjectId: string,
  data: FactData[Kind],
): Told<Kind> => ({ id, kind, userId: userId!, subjectId, occurredAt, seq, data });

/** Keeps a fact and brings the member to what all facts say; one that was told of before changes nothing. */
async function learn<Kind extends keyof FactData>(ctx: Context, fact: Told<Kind>): Promise<void> {
  if (await record(ctx, fact)) await refold(ctx, fact.userId);
}

const created = handle(subscriptionCreated, async (ctx: Context, event) => {
  const { data } = event;
  if (data.kind !== 'billing' || data.subject_kind !== MEMBERSHIP_PLAN) return;
  const { subject_id: plan_id, tier: tier_key, source, current_period_end: period_end } = data;
  await learn(ctx, told(event, 'created', data.subscription_id, { plan_id, tier_key, source, period_end }));
});

const paused = handle(subscriptionPaused, async (ctx: Context, event) => {
  const { data } = event;
  if (data.kind === 'billing' && data.subject_kind === MEMBERSHIP_PLAN) await learn(ctx, told(event, 'paused', data.subscription_id, {}));
});

const resumed = handle(subscriptionResumed, async (ctx: Context, event) => {
  const { data } = event;
  if (data.kind !== 'billing' || data.subject_kind !== MEMBERSHIP_PLAN) return;
  await learn(ctx, told(event, 'resumed', data.subscription_id, { period_end: data.current_period_end }));
});

const cancelled = handle(subscriptionCancelled, async (ctx: Context, event) => {
  const { data } = event;
  if (data.kind !== 'billing' || data.subject_kind !== MEMBERSHIP_PLAN) return;
  const { reason, involuntary } = data;
  await learn(ctx, told(event, 'cancelled', data.subscription_id, { reason, involuntary }));
});

/** The event does not say what the subscription is of: one that is of no plan waits for ever. */
const tierChanged = handle(subscriptionTierChanged, async (ctx: Context, event) => {
  const { subscription_id: id, to_tier: tier_key, direction } = event.data;
  await learn(ctx, told(event, 'tier_changed', id, { tier_key, direction: direction === 'upgrade' ? 'up' : 'down' }));
});

/** An invoice of no subscription, such as that of an order, is no business of a membership. Source: membership 7.5. */
const pastDue = handle(paymentInvoicePastDue, async (ctx: Context, event) => {
  const { subscription_id: id, invoice_id } = event.data;
  if (id !== null) await learn(ctx, told(event, 'invoice_past_due', id, { invoice_id }));
});

const paid = handle(paymentInvoicePaid, async (ctx: Context, event) => {
  const { subscription_id: id, invoice_id, period_start, period_end } = event.data;
  if (id !== null) await learn(ctx, told(event, 'invoice_paid', id, { invoice_id, period_start, period_end }));
});

const disputed = handle(paymentDisputeClosed, async (ctx: Context, event) => {
  const { subscription_id: id, dispute_id, outcome } = event.data;
  if (id === null || outcome === 'withdrawn') return;
  await learn(ctx, told(event, outcome === 'lost' ? 'dispute_lost' : 'dispute_won', id, { dispute_id }));
});

/** A guest unlocks nothing. */
const placed = handle(orderPlaced, async (ctx: Context, event) => {
  const { user_id: userId, data } = event;
  if (userId === null) return;
  await record(ctx, { ...told(event, 'ordered', data.order_id, {}), brandId: data.brand_id });
  await unlockByOrders(ctx, userId, data.brand_id);
});

/** Source: membership 5. */
export const consumers: readonly Consumer<Context>[] = [
  { name: 'membership.billing', on: [created, paused, resumed, cancelled, tierChanged, pastDue, paid, disputed] },
  { name: 'membership.orders', on: [placed] },
];
