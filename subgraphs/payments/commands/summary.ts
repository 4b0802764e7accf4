import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import type { InvoicePreview } from '../entities/billing-views.js';
import { BillingCustomer } from '../entities/customer.js';
import { BillingSubscriptionStatus as Status } from '../entities/enums-billing.js';
import { PaymentMethodStatus, PaymentStatus } from '../entities/enums-payment.js';
import { Invoice } from '../entities/invoice.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { Payment } from '../entities/payment.js';
import { BillingSubscription } from '../entities/subscription.js';
import { BillingAction, type BillingSummary, type MemberBillingSummary } from '../entities/summary.js';
import { purchaseFacts } from '../ports/purchase-facts.js';
import { memberFlags, refundRateBps } from '../rules/summary.js';
import { upcomingOf } from './upcoming.js';

const LIVE = [Status.TRIALING, Status.ACTIVE, Status.PAST_DUE, Status.PAUSED];
const DEFAULT_CURRENCY = 'USD';

/** What is due, and on how many invoices; which of them wait for the customer. */
const DUE = `
select coalesce(sum(total - cash_applied - credit_applied - amount_paid) filter (where currency = $2), 0)::float8 as outstanding,
  count(*) filter (where status = 'past_due')::int as overdue from payments.invoice where user_id = $1 and status in ('open', 'past_due')`;

/** Where somebody has several customers, the one that pays in future: of the newest purchase. */
const customerOf = (ctx: Context, userId: string): Promise<BillingCustomer | null> =>
  ctx.em.findOne(BillingCustomer, { userId }, { orderBy: { currencyFixed: 'desc', createdAt: 'desc' } });

const liveOf = (ctx: Context, userId: string): Promise<BillingSubscription[]> =>
  ctx.em.find(BillingSubscription, { userId, status: { $in: LIVE } }, { orderBy: { createdAt: 'desc', id: 'desc' } });

const lastPaymentOf = (ctx: Context, userId: string): Promise<Payment | null> =>
  ctx.em.findOne(Payment, { userId, status: PaymentStatus.SUCCEEDED }, { orderBy: { createdAt: 'desc', id: 'desc' } });

/** The earliest charge that is to come. */
async function nextChargeOf(ctx: Context, subscriptions: readonly BillingSubscription[]): Promise<InvoicePreview | null> {
  const previews = await Promise.all(subscriptions.filter(({ status }) => status !== Status.PAUSED).map(one => upcomingOf(ctx, one)));
  return previews.filter(one => one !== null).toSorted((a, b) => a.chargeAt.getTime() - b.chargeAt.getTime())[0] ?? null;
}

const USABLE = [PaymentMethodStatus.ACTIVE];

/** What the customer is to do, the most urgent first. */
async function actionsOf(
  ctx: Context,
  userId: string,
  overdue: number,
  method: PaymentMethod | null,
  isLive: boolean,
): Promise<BillingAction[]> {
  const waits = await ctx.em.count(Payment, { userId, status: PaymentStatus.REQUIRES_ACTION });
  const lacks = isLive && !(method && USABLE.includes(method.status));
  return [
    ...(waits > 0 ? [BillingAction.AUTHENTICATE_PAYMENT] : []),
    ...(lacks ? [BillingAction.UPDATE_PAYMENT_METHOD] : []),
    ...(overdue > 0 ? [BillingAction.PAY_INVOICE] : []),
  ];
}

/** Where somebody stands; zeros for whoever has bought nothing. */
export async function billingSummary(ctx: Context, userId: string): Promise<BillingSummary> {
  const customer = await customerOf(ctx, userId);
  const currency = customer?.currency ?? DEFAULT_CURRENCY;
  const method = customer && (await ctx.em.findOne(PaymentMethod, { customerId: customer.id, isDefault: true }));
  const subscriptions = await liveOf(ctx, userId);
  const [due] = await ctx.sql<{ outstanding: number; overdue: number }>(DUE, [userId, currency]);
  const money = (amount: number) => ({ amount, currency });
  return {
    user: { id: userId },
    currency,
    subscriptions,
    defaultPaymentMethod: method,
    nextCharge: await nextChargeOf(ctx, subscriptions),
    outstanding: money(due!.outstanding),
    creditBalance: money(customer?.creditBalanceMinor ?? 0),
    delinquent: customer?.delinquent ?? false,
    lastPayment: await lastPaymentOf(ctx, userId),
    actionRequired: await actionsOf(ctx, userId, due!.overdue, method, subscriptions.length > 0),
  };
}

const FIGURES = `
select coalesce(sum(amount_captured) filter (where currency = $2), 0)::float8 as charged,
  coalesce(sum(amount_refunded) filter (where currency = $2), 0)::float8 as refunded,
  to_char(min(captured_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as first from payments.payment where user_id = $1`;
const DISPUTES = `
select count(*) filter (where status in ('warning_needs_response', 'warning_under_review', 'needs_response', 'under_review'))::int as open,
  count(*) filter (where status = 'lost')::int as lost from payments.dispute where user_id = $1`;
const FAILED = `
select count(distinct p.id)::int as failed from payments.payment p join payments.payment_attempt a on a.payment_id = p.id
where p.user_id = $1 and a.status = 'failed' and a.started_at >= $2`;

const WINDOW_MS = 90 * DAY_MS;
const SHOWN_INVOICES = 20;

/** @throws Problem not_found for an unknown user. */
async function requireUser(ctx: Context, userId: string): Promise<void> {
  const { account } = await purchaseFacts(ctx, { clientId: ctx.caller.clientId, userId, places: false });
  if (!account) fail('not_found', 'No such user');
}

/** Where a member stands, with what stands out. @throws Problem not_found for an unknown user. */
export async function memberSummary(ctx: Context, userId: string): Promise<MemberBillingSummary> {
  await requireUser(ctx, userId);
  const summary = await billingSummary(ctx, userId);
  const { currency } = summary;
  const [sums] = await ctx.sql<{ charged: number; refunded: number; first: string | null }>(FIGURES, [userId, currency]);
  const [disputes] = await ctx.sql<{ open: number; lost: number }>(DISPUTES, [userId]);
  const [failures] = await ctx.sql<{ failed: number }>(FAILED, [userId, after(ctx.now(), -WINDOW_MS).toISOString()]);
  const { charged, refunded, first } = sums!;
  const figures = {
    charged,
    refunded,
    openDisputes: disputes!.open,
    lostDisputes: disputes!.lost,
    failedLast90d: failures!.failed,
    isDelinquent: summary.delinquent,
    hasLiveSubscription: summary.subscriptions.length > 0,
    hasMethod: summary.defaultPaymentMethod !== null,
  };
  return {
    summary,
    lifetimeCharged: { amount: charged, currency },
    lifetimeRefunded: { amount: refunded, currency },
    openDisputes: figures.openDisputes,
    lostDisputes: figures.lostDisputes,
    failedLast90d: figures.failedLast90d,
    refundRateBps: refundRateBps(figures),
    firstPaymentAt: first === null ? null : new Date(first),
    invoices: await ctx.em.find(Invoice, { userId }, { orderBy: { createdAt: 'desc', id: 'desc' }, limit: SHOWN_INVOICES }),
    flags: memberFlags(figures),
  };
}
