import {
  paymentInvoiceFailed,
  paymentInvoicePaid,
  paymentInvoicePastDue,
  paymentInvoiceRefunded,
  paymentScheduled,
  subscriptionCancelled,
  subscriptionCreated,
  subscriptionPaused,
  subscriptionResumed,
  subscriptionTierChanged,
} from '../../../events/catalogue/payments.js';
import type { Context } from '../../../runtime/request/context.js';
import type { BillingPrice } from '../entities/price.js';
import type { Invoice } from '../entities/invoice.js';
import type { BillingSubscription } from '../entities/subscription.js';
import { times } from '../rules/proration.js';

const text = (at: Date): string => at.toISOString();
const textOrNull = (at: Date | null): string | null => at?.toISOString() ?? null;

const about = ({ userId, brandId }: { userId: string; brandId: string }) => ({ userId, brandId });

/** What all events of a subscription say of it. */
const subject = ({ id, subjectKind, subjectId, tier }: BillingSubscription) =>
  ({ kind: 'billing', subscription_id: id, subject_kind: subjectKind, subject_id: subjectId, tier }) as const;

/** Tells of a subscription once, when there is money, a trial, a gift or a gratuity for it. Source: payments 7.11. */
export function emitCreated(ctx: Context, subscription: BillingSubscription, price: BillingPrice): void {
  if (subscription.createdEmittedAt !== null) return;
  subscription.createdEmittedAt = ctx.now();
  const { status, source, quantity, currentPeriodEnd, trialEndsAt } = subscription;
  ctx.emit(
    subscriptionCreated,
    {
      ...subject(subscription),
      price_id: price.id,
      status,
      source,
      quantity,
      interval: price.interval!,
      interval_count: price.intervalCount!,
      amount: Number(times(price.unitAmountMinor, quantity)),
      currency: price.currency,
      current_period_end: text(currentPeriodEnd),
      trial_ends_at: textOrNull(trialEndsAt),
    },
    about(subscription),
  );
}

/** How a subscription ended. */
export interface Ending {
  reason: string;
  atPeriodEnd: boolean;
  /** Not by the customer: dunning, a refusal, staff. */
  involuntary: boolean;
}

export const emitCancelled = (ctx: Context, subscription: BillingSubscription, { reason, atPeriodEnd, involuntary }: Ending): void =>
  ctx.emit(
    subscriptionCancelled,
    { ...subject(subscription), reason, ended_at: text(subscription.endedAt!), at_period_end: atPeriodEnd, involuntary },
    about(subscription),
  );

export const emitPaused = (ctx: Context, subscription: BillingSubscription): void =>
  ctx.emit(
    subscriptionPaused,
    { ...subject(subscription), paused_at: text(subscription.pausedAt!), resume_at: textOrNull(subscription.resumeAt) },
    about(subscription),
  );

export const emitResumed = (ctx: Context, subscription: BillingSubscription): void =>
  ctx.emit(
    subscriptionResumed,
    { ...subject(subscription), resumed_at: text(ctx.now()), current_period_end: text(subscription.currentPeriodEnd) },
    about(subscription),
  );

/** Tells of a change of plan in effect; nothing where both prices are of one tier. */
export function emitTierChanged(
  ctx: Context,
  subscription: BillingSubscription,
  from: BillingPrice,
  to: BillingPrice,
  direction: 'upgrade' | 'downgrade',
): void {
  if (from.tier === to.tier) return;
  ctx.emit(
    subscriptionTierChanged,
    {
      kind: 'billing',
      subscription_id: subscription.id,
      from_price_id: from.id,
      to_price_id: to.id,
      from_tier: from.tier,
      to_tier: to.tier,
      direction,
      effective_at: text(ctx.now()),
    },
    about(subscription),
  );
}

const INVOICE_EVENTS = {
  paid: paymentInvoicePaid,
  failed: paymentInvoiceFailed,
  past_due: paymentInvoicePastDue,
  refunded: paymentInvoiceRefunded,
} as const;

export const emitInvoice = (ctx: Context, what: keyof typeof INVOICE_EVENTS, invoice: Invoice): void =>
  ctx.emit(
    INVOICE_EVENTS[what],
    {
      invoice_id: invoice.id,
      number: invoice.number!.toLowerCase(), // codes of events are in small letters
      subscription_id: invoice.subscriptionId,
      total_amount: invoice.totalMinor,
      amount_due: invoice.amountDueMinor,
      amount_refunded: invoice.amountRefundedMinor,
      currency: invoice.currency,
      attempt_count: invoice.attemptCount,
      next_attempt_at: textOrNull(invoice.nextAttemptAt),
      period_start: textOrNull(invoice.periodStart),
      period_end: textOrNull(invoice.periodEnd),
    },
    about(invoice),
  );

/** A future charge that is fixed. */
export interface Scheduled {
  userId: string;
  brandId: string;
  subscriptionId: string | null;
  invoiceId: string | null;
  amount: number;
  currency: string;
  chargeAt: Date;
  kind: 'renewal' | 'trial_end' | 'retry';
}

export const emitScheduled = (ctx: Context, { subscriptionId, invoiceId, chargeAt, amount, currency, kind, ...who }: Scheduled): void =>
  ctx.emit(
    paymentScheduled,
    { subscription_id: subscriptionId, invoice_id: invoiceId, amount, currency, charge_at: text(chargeAt), kind },
    about(who),
  );
