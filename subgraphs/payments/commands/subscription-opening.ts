import type { Context } from '../../../runtime/request/context.js';
import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { after, DAY_MS, HOUR_MS } from '../../../runtime/time/durations.js';
import type { BillingCustomer } from '../entities/customer.js';
import {
  BillingSubscriptionSource as Source,
  BillingSubscriptionStatus as Status,
  InvoiceKind,
  InvoiceLineKind as Kind,
} from '../entities/enums-billing.js';
import { PromoKind } from '../entities/enums-offers.js';
import type { Invoice } from '../entities/invoice.js';
import type { BillingPrice } from '../entities/price.js';
import type { Promo } from '../entities/promo.js';
import { BillingSubscription } from '../entities/subscription.js';
import type { BrandTerms } from '../ports/brand-terms.js';
import { anchoredAt, boundary, intervalAround, type Period } from '../rules/periods.js';
import { afterOne, reducedPeriods } from '../rules/recurring-promo.js';
import { times } from '../rules/proration.js';
import { emitCreated } from './billing-events.js';
import { makeOut, type NewLine } from './invoice.js';
import { isInProgress } from './invoice-payment.js';
import { billPeriod, withTax } from './period-invoice.js';
import { abandonSubscription } from './subscription-end.js';
import { anchorOf, plan, priceOf, recurrenceOf } from './subscription-state.js';

/** An unpaid purchase may be paid for so long. Source: payments 3.3. */
const INCOMPLETE_MS = 23 * HOUR_MS;

/** What a checkout has asked for already, minor units. */
export interface CheckoutTotals {
  discountMinor: number;
  taxMinor: number;
  taxRegion: string | null;
  cashAppliedMinor: number;
  creditAppliedMinor: number;
}

export interface Opening {
  /** Where it must be known before. */
  id?: string;
  customer: BillingCustomer;
  price: BillingPrice;
  quantity: number;
  paymentMethodId: string | null;
  promo: Promo | null;
  /** 0: none; see {@link trialDaysFor}. */
  trialDays: number;
  brand: BrandTerms;
  source?: Source;
  /** The periods count from here; the first one ends there. */
  anchorAt?: Date | null;
  metadata?: unknown;
  checkoutSessionId?: string | null;
  affiliateCode?: string | null;
  /** Of a checkout; without them the customer's credit pays first, and the rest is due. */
  totals?: CheckoutTotals | null;
  /** The invoice gets this id. */
  invoiceId?: string | null;
}

export interface Opened {
  subscription: BillingSubscription;
  /** Null while trialing, and of what is free. */
  invoice: Invoice | null;
}

/** Days that a purchase is tried: asked for by a service, else those of price or promo, once for each user and subject. Source: payments 4.3. */
export async function trialDaysFor(
  ctx: Context,
  { userId, price, promo, asked }: { userId: string; price: BillingPrice; promo: Promo | null; asked?: number | null },
): Promise<number> {
  if (asked != null) return asked;
  const offered = promo?.kind === PromoKind.TRIAL_DAYS ? (promo.trialDays ?? 0) : price.trialDays;
  if (offered === 0) return 0;
  const tried = await ctx.em.count(BillingSubscription, { userId, subjectId: price.subjectId, trialEndsAt: { $ne: null } });
  return tried > 0 ? 0 : offered;
}

const LIVE = [Status.INCOMPLETE, Status.TRIALING, Status.ACTIVE, Status.PAST_DUE, Status.PAUSED];

/** One membership for each user and brand: an unpaid attempt makes room. @throws Problem conflict, reason `second_membership`. */
async function makeRoom(ctx: Context, userId: string, price: BillingPrice): Promise<void> {
  if (price.subjectKind !== PriceSubjectKind.MEMBERSHIP_PLAN) return;
  const where = { userId, brandId: price.brandId, subjectKind: price.subjectKind, status: { $in: LIVE } };
  const live = await ctx.em.findOne(BillingSubscription, where, { ...FOR_UPDATE, refresh: true });
  if (!live) return;
  const isOpen = live.status !== Status.INCOMPLETE || (live.latestInvoiceId && (await isInProgress(ctx, live.latestInvoiceId)));
  if (isOpen) fail('conflict', 'the user has a membership of this brand', { reason: 'second_membership' });
  await abandonSubscription(ctx, live, 'cancel');
  await ctx.em.flush();
}

function draft(ctx: Context, { customer, price, ...given }: Opening): BillingSubscription {
  const { quantity, paymentMethodId, promo, source = Source.PURCHASE, metadata, checkoutSessionId } = given;
  const hasPeriods = promo !== null && promo.kind !== PromoKind.TRIAL_DAYS;
  return Object.assign(new BillingSubscription(), given.id !== undefined && { id: given.id }, {
    userId: customer.userId,
    customerId: customer.id,
    brandId: price.brandId,
    priceId: price.id,
    subjectKind: price.subjectKind,
    subjectId: price.subjectId,
    tier: price.tier,
    quantity,
    source,
    paymentMethodId,
    promoId: hasPeriods ? promo.id : null,
    promoPeriodsLeft: hasPeriods ? reducedPeriods(promo) : null,
    metadata: metadata ?? {},
    checkoutSessionId: checkoutSessionId ?? null,
    createdAt: ctx.now(),
  });
}

/** Periods count from the end of the trial, from the given instant, or from now. */
function firstPeriod(
  ctx: Context,
  subscription: BillingSubscription,
  { price, trialDays, anchorAt }: Opening,
): { period: Period; whole: Period } {
  const now = ctx.now();
  const begins = trialDays > 0 ? after(now, trialDays * DAY_MS) : (anchorAt ?? now);
  const { at, day } = anchoredAt(begins);
  Object.assign(subscription, { anchorAt: at, anchorDay: day });
  if (begins > now) return { period: { start: now, end: begins }, whole: intervalAround({ at, day }, recurrenceOf(price), now) };
  const period = { start: now, end: boundary({ at, day }, recurrenceOf(price), 1) };
  return { period, whole: period };
}

/**
 * Opens a subscription, in the transaction of its purchase: TRIALING with a trial, ACTIVE where it is free, else INCOMPLETE with an
 * invoice that is to be paid. @throws Problem conflict, reason `second_membership`; invalid_request for an anchor too far.
 */
export async function openSubscription(ctx: Context, opening: Opening): Promise<Opened> {
  const { customer, price, trialDays } = opening;
  await makeRoom(ctx, customer.userId, price);
  const subscription = draft(ctx, opening);
  const { period, whole } = firstPeriod(ctx, subscription, opening);
  if (trialDays === 0 && period.start < whole.start) invalid('/input/anchorAt', 'must be at most one interval away');
  Object.assign(subscription, { currentPeriodStart: period.start, currentPeriodEnd: period.end });
  ctx.audit('subscription.opened', subscription.id, { price_id: price.id, source: subscription.source, trial_days: trialDays });
  if (trialDays > 0) return begin(ctx, subscription, price, Status.TRIALING);
  if (subscription.source === Source.COMP) return begin(ctx, subscription, price, Status.ACTIVE);
  subscription.status = Status.INCOMPLETE;
  subscription.incompleteUntil = after(ctx.now(), INCOMPLETE_MS);
  ctx.em.persist(subscription);
  await ctx.em.flush(); // its invoice refers to it
  const { totals } = opening;
  const invoice = totals
    ? await invoiceOfCheckout(ctx, subscription, opening, period, totals)
    : await billPeriod(ctx, subscription, price, period, opening.brand, whole);
  return { subscription, invoice };
}

/** It needs no payment now: it is told of at once. */
function begin(ctx: Context, subscription: BillingSubscription, price: BillingPrice, status: Status): Opened {
  subscription.status = status;
  if (status === Status.TRIALING) subscription.trialEndsAt = subscription.currentPeriodEnd;
  plan(subscription, price);
  ctx.em.persist(subscription);
  emitCreated(ctx, subscription, price);
  return { subscription, invoice: null };
}

/** The first invoice as its checkout has reckoned it. */
async function invoiceOfCheckout(
  ctx: Context,
  subscription: BillingSubscription,
  { customer, price, quantity, promo, brand, ...given }: Opening,
  period: Period,
  totals: CheckoutTotals,
): Promise<Invoice> {
  const { discountMinor, taxMinor, taxRegion, cashAppliedMinor: cash, creditAppliedMinor: credit } = totals;
  const amount = Number(times(price.unitAmountMinor, quantity));
  const line: NewLine = { kind: Kind.RECURRING, description: price.key, amount, quantity, priceId: price.id, period };
  const off: NewLine[] = discountMinor > 0 ? [{ kind: Kind.DISCOUNT, description: promo?.code ?? 'discount', amount: -discountMinor }] : [];
  const invoice = await makeOut(ctx, {
    customer,
    currency: price.currency,
    kind: InvoiceKind.PERIOD,
    lines: withTax([line, ...off], { amounts: [taxMinor], region: taxRegion }, price.taxInclusive),
    seller: brand.legalName,
    dunning: brand.dunning,
    subscriptionId: subscription.id,
    period,
    taxRegion,
    promo: promo && discountMinor > 0 ? { id: promo.id, code: promo.code } : null,
    affiliateCode: given.affiliateCode ?? null,
    checkoutSessionId: given.checkoutSessionId ?? null,
    applied: { cash, credit },
    id: given.invoiceId ?? null,
  });
  if (discountMinor > 0) subscription.promoPeriodsLeft = afterOne(subscription.promoPeriodsLeft);
  Object.assign(subscription, { latestInvoiceId: invoice.id, periodIndex: 1 });
  return invoice;
}

/** A membership that somebody gave. */
export interface Given {
  customer: BillingCustomer;
  price: BillingPrice;
  giftId: string;
  periods: number;
  autoRenew: boolean;
}

/** Opens a subscription whose first periods are given: ACTIVE at once, without an invoice. @throws Problem conflict, reason `second_membership`. */
export async function giveSubscription(ctx: Context, { customer, price, giftId, periods, autoRenew }: Given): Promise<BillingSubscription> {
  await makeRoom(ctx, customer.userId, price);
  const opening = { customer, price, quantity: 1, paymentMethodId: null, promo: null, trialDays: 0, source: Source.GIFT } as Opening;
  const subscription = draft(ctx, opening);
  const anchor = anchoredAt(ctx.now());
  const end = boundary(anchor, recurrenceOf(price), periods);
  Object.assign(subscription, { anchorAt: anchor.at, anchorDay: anchor.day, currentPeriodStart: anchor.at, currentPeriodEnd: end });
  Object.assign(subscription, { giftId, cancelAtPeriodEnd: !autoRenew });
  ctx.audit('subscription.given', subscription.id, { gift_id: giftId, periods });
  return begin(ctx, subscription, price, Status.ACTIVE).subscription;
}

/** Lengthens what runs by the given periods; what comes after counts from there on the same days. It is locked. */
export async function extendSubscription(
  ctx: Context,
  subscription: BillingSubscription,
  { price, periods, giftId }: { price: BillingPrice; periods: number; giftId: string },
): Promise<void> {
  const { day } = anchorOf(subscription);
  const end = boundary({ at: subscription.currentPeriodEnd, day }, recurrenceOf(price), periods);
  Object.assign(subscription, { currentPeriodEnd: end, anchorAt: end, version: subscription.version + 1 });
  if (subscription.nextRunAt !== null) plan(subscription, await priceOf(ctx, subscription));
  ctx.audit('subscription.extended', subscription.id, { gift_id: giftId, periods, current_period_end: end });
}
