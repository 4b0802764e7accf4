import { findRow, lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { BillingCustomer } from '../entities/customer.js';
import {
  BillingSubscriptionSource,
  BillingSubscriptionStatus as Status,
  InvoiceKind,
  InvoiceLineKind as Kind,
  SubscriptionChangeStatus,
} from '../entities/enums-billing.js';
import { Invoice } from '../entities/invoice.js';
import { BillingPrice } from '../entities/price.js';
import { Promo } from '../entities/promo.js';
import { SubscriptionChange, type BillingSubscription } from '../entities/subscription.js';
import type { BrandTerms } from '../ports/brand-terms.js';
import { anchoredAt, intervalAround, nextBoundary, secondsBetween, type Period } from '../rules/periods.js';
import { directionOf, prorate, times } from '../rules/proration.js';
import { discountOf } from '../rules/recurring-promo.js';
import type { Tax } from '../rules/tax.js';
import { applyNow, dropPlanned, subscribed } from './change-effect.js';
import { makeOut, type NewLine } from './invoice.js';
import { collect } from './invoice-payment.js';
import { taxOn, withTax } from './period-invoice.js';
import { anchorOf, moveOn, priceOf, recurrenceOf } from './subscription-state.js';

/** What a subscription is to become. */
export interface Wanted {
  price: BillingPrice;
  quantity: number;
  /** Null: now of what costs more, else at the end of the period. */
  effective: 'now' | 'period_end' | null;
  isProrated: boolean;
  /** The customer is absent. */
  offSession: boolean;
}

/** A change with all that follows from it. Minor units. */
export interface PlannedChange {
  from: BillingPrice;
  to: BillingPrice;
  quantity: number;
  direction: 'upgrade' | 'downgrade';
  isNow: boolean;
  /** A new cadence begins a new period. */
  restarts: boolean;
  effectiveAt: Date;
  lines: NewLine[];
  tax: Tax;
  /** What was paid and is not used beyond what the change costs: it goes to the customer's credit. */
  toCredit: number;
}

/** @throws Problem invalid_request for a price that is none of the same kind, brand and currency. */
export async function requireSamePlan(
  ctx: Context,
  { subjectKind, brandId }: BillingSubscription,
  from: BillingPrice,
  id: string,
): Promise<BillingPrice> {
  const price = await findRow(ctx, BillingPrice, { id: id.toLowerCase(), active: true, brandId, subjectKind });
  if (!price?.interval) invalid('/input/priceId', 'is no price to which the subscription can change');
  if (price.currency !== from.currency) invalid('/input/priceId', `the customer pays in ${from.currency}`);
  return price;
}

/** What the promo of the running period takes off an amount, so that what is given back was paid. */
async function reductionOf(
  ctx: Context,
  { latestInvoiceId, currentPeriodStart }: BillingSubscription,
): Promise<(amount: bigint) => bigint> {
  const invoice = latestInvoiceId === null ? null : await findRow(ctx, Invoice, { id: latestInvoiceId });
  const isOfPeriod = invoice?.periodStart?.getTime() === currentPeriodStart.getTime();
  const promo = invoice?.promoId && isOfPeriod ? await findRow(ctx, Promo, { id: invoice.promoId }) : null;
  return amount => (promo ? amount - BigInt(discountOf({ ...promo, amountOff: promo.amountOffMinor }, amount)) : amount);
}

const isPaidTime = ({ status, source }: BillingSubscription): boolean =>
  status === Status.ACTIVE && source !== BillingSubscriptionSource.COMP;

interface Amounts {
  credit: number;
  charge: number;
  period: Period;
}

/** To the second, of the whole interval that the period is, or is the end of. */
async function amountsOf(
  ctx: Context,
  subscription: BillingSubscription,
  plan: Omit<PlannedChange, 'lines' | 'tax' | 'toCredit'>,
  at: Date,
): Promise<Amounts> {
  const reduce = await reductionOf(ctx, subscription);
  const { currentPeriodEnd: end } = subscription;
  const whole = intervalAround(anchorOf(subscription), recurrenceOf(plan.from), new Date(end.getTime() - 1));
  const rest = { remaining: secondsBetween(at, end), length: secondsBetween(whole.start, whole.end) };
  const [old, fresh] = [times(plan.from.unitAmountMinor, subscription.quantity), times(plan.to.unitAmountMinor, plan.quantity)];
  const { credit, charge } = prorate(reduce(old), reduce(fresh), rest);
  if (!plan.restarts) return { credit, charge, period: { start: at, end } };
  const next = nextBoundary(anchoredAt(at), recurrenceOf(plan.to), at);
  return { credit, charge: Number(reduce(fresh)), period: { start: at, end: next } };
}

function linesOf(
  { from, to, quantity }: Pick<PlannedChange, 'from' | 'to' | 'quantity'>,
  was: number,
  { credit, charge, period }: Amounts,
): NewLine[] {
  return [
    { kind: Kind.PRORATION_CREDIT, description: from.key, amount: 0 - credit, quantity: was, priceId: from.id, period },
    { kind: Kind.PRORATION_CHARGE, description: to.key, amount: charge, quantity, priceId: to.id, period },
  ];
}

/** What a change means as of an instant; nothing is written. Null: it changes nothing. */
export async function planChange(
  ctx: Context,
  subscription: BillingSubscription,
  { price: to, quantity, effective, isProrated }: Wanted,
  terms: Pick<BrandTerms, 'taxRates'>,
  at: Date,
): Promise<PlannedChange | null> {
  const from = await priceOf(ctx, subscription);
  if (to.id === from.id && quantity === subscription.quantity) return null;
  const direction = directionOf(subscribed(from, subscription.quantity), subscribed(to, quantity));
  const isNow = effective === null ? direction === 'upgrade' : effective === 'now';
  const isSameCadence = from.interval === to.interval && from.intervalCount === to.intervalCount;
  const restarts = isNow && !isSameCadence && subscription.status !== Status.TRIALING;
  const effectiveAt = isNow ? at : subscription.currentPeriodEnd;
  const plan = { from, to, quantity, direction, isNow, restarts, effectiveAt } as const;
  const isCharged = isNow && isProrated && isPaidTime(subscription);
  if (!isCharged) return { ...plan, lines: [], tax: { amounts: [0], region: null }, toCredit: 0 };
  const amounts = await amountsOf(ctx, subscription, plan, at);
  const toCredit = Math.max(0, amounts.credit - amounts.charge);
  const kept: NewLine[] = toCredit > 0 ? [{ kind: Kind.PRORATION_CHARGE, description: 'credit', amount: toCredit }] : [];
  const lines = [...linesOf(plan, subscription.quantity, amounts), ...kept];
  const tax = await taxOn(ctx, subscription, terms, lines, to.taxInclusive);
  return { ...plan, lines: withTax(lines, tax, to.taxInclusive), tax, toCredit };
}

const newChange = (
  ctx: Context,
  subscription: BillingSubscription,
  plan: PlannedChange,
  status: SubscriptionChangeStatus,
): SubscriptionChange =>
  Object.assign(new SubscriptionChange(), {
    subscriptionId: subscription.id,
    fromPriceId: plan.from.id,
    toPriceId: plan.to.id,
    quantity: plan.quantity,
    fromQuantity: subscription.quantity,
    restarts: plan.restarts,
    effectiveAt: plan.effectiveAt,
    createdAt: ctx.now(),
    status,
  });

/** It takes the place of what was planned before. */
async function planLater(ctx: Context, subscription: BillingSubscription, plan: PlannedChange): Promise<void> {
  await dropPlanned(ctx, subscription);
  await ctx.em.flush();
  const change = newChange(ctx, subscription, plan, SubscriptionChangeStatus.PENDING);
  ctx.em.persist(change);
  subscription.version += 1;
  ctx.audit('subscription.change_planned', subscription.id, { to_price_id: plan.to.id, quantity: plan.quantity, at: plan.effectiveAt });
}

async function requireNoneAwaiting(ctx: Context, { id }: BillingSubscription): Promise<void> {
  const awaiting = await ctx.em.count(SubscriptionChange, { subscriptionId: id, status: SubscriptionChangeStatus.AWAITING_PAYMENT });
  if (awaiting > 0) fail('conflict', 'a change of the subscription waits for its payment', { reason: 'change_in_progress' });
}

/** What a change has begun: the invoice that is to be paid first, if any. */
export interface BegunChange {
  invoiceId: string | null;
  toCredit: number;
}

/**
 * Begins a change; the subscription is locked. What costs something takes effect when it is paid for, all else at once or as planned.
 * @throws Problem conflict unless it is active or in trial, or while another change waits for its payment.
 */
export async function beginChange(
  ctx: Context,
  subscription: BillingSubscription,
  plan: PlannedChange,
  terms: BrandTerms,
  offSession: boolean,
): Promise<BegunChange> {
  moveOn(subscription, 'change');
  await requireNoneAwaiting(ctx, subscription);
  if (!plan.isNow) {
    await planLater(ctx, subscription, plan);
    return { invoiceId: null, toCredit: 0 };
  }
  if (plan.lines.length === 0) return applyFree(ctx, subscription, plan);
  return charge(ctx, subscription, plan, terms, offSession);
}

async function applyFree(ctx: Context, subscription: BillingSubscription, plan: PlannedChange): Promise<BegunChange> {
  const change = newChange(ctx, subscription, plan, SubscriptionChangeStatus.AWAITING_PAYMENT);
  ctx.em.persist(change);
  await ctx.em.flush();
  await applyNow(ctx, subscription, change);
  return { invoiceId: null, toCredit: 0 };
}

async function charge(
  ctx: Context,
  subscription: BillingSubscription,
  plan: PlannedChange,
  terms: BrandTerms,
  offSession: boolean,
): Promise<BegunChange> {
  const change = newChange(ctx, subscription, plan, SubscriptionChangeStatus.AWAITING_PAYMENT);
  ctx.em.persist(change);
  const customer = await requireRow(ctx, BillingCustomer, { id: subscription.customerId });
  const period = plan.lines[0]!.period!;
  const invoice = await makeOut(ctx, {
    customer,
    currency: plan.to.currency,
    kind: InvoiceKind.CHANGE,
    lines: plan.lines,
    seller: terms.legalName,
    dunning: terms.dunning,
    subscriptionId: subscription.id,
    period,
    taxRegion: plan.tax.region,
  });
  change.invoiceId = invoice.id;
  if (plan.restarts) subscription.latestInvoiceId = invoice.id;
  await ctx.em.flush();
  if (plan.toCredit > 0) await keepCredit(ctx, subscription, invoice, plan.toCredit);
  await collect(ctx, invoice, { offSession });
  return { invoiceId: invoice.id, toCredit: plan.toCredit };
}

/** What is not used goes to the customer's credit, never to a card. Source: payments 7.9. */
async function keepCredit(ctx: Context, { customerId }: BillingSubscription, invoice: Invoice, amount: number): Promise<void> {
  const { id, currency } = invoice;
  const customer = await lockRow(ctx, BillingCustomer, { id: customerId });
  Object.assign(invoice, { keptCreditMinor: amount, keptCreditDueAt: ctx.now() });
  customer.creditBalanceMinor += amount;
  customer.version += 1;
  ctx.audit('customer.credited', customer.id, { invoice_id: id, amount, currency });
}

/** The price of the same plan at another cadence. @throws Problem invalid_request at /interval. */
export async function priceAtCadence(
  ctx: Context,
  subscription: BillingSubscription,
  interval: BillingPrice['interval'],
  intervalCount: number,
): Promise<BillingPrice> {
  const from = await priceOf(ctx, subscription);
  const { brandId, subjectKind, subjectId, tier, currency } = from;
  const where = { brandId, subjectKind, subjectId, tier, currency, interval, intervalCount, active: true };
  const found = await ctx.em.findOne(BillingPrice, where, { orderBy: { createdAt: 'desc' } });
  return found ?? invalid('/input/interval', 'is no cadence at which this is sold');
}
