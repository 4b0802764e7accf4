import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import type { Money } from '../../../runtime/schema/scalars.js';
import type { FinanceOverview, StuckPayment } from '../entities/operations.js';
import { Payment } from '../entities/payment.js';
import { ReconciliationRun } from '../entities/reconciliation.js';
import type { FinanceOverviewArgs } from '../inputs/operations.js';
import { unansweredAttempts, webhookLagSeconds } from './failures.js';

/** All counts in one statement; minor units of one currency. */
const COUNTS = `select
  (select coalesce(sum(amount_captured), 0)::float8 from payments.payment where currency = $1 and captured_at >= $2 and captured_at < $3) as charged,
  (select coalesce(sum(fee), 0)::float8 from payments.payment where currency = $1 and captured_at >= $2 and captured_at < $3) as fees,
  (select coalesce(sum(amount), 0)::float8 from payments.refund where currency = $1 and status = 'succeeded' and settled_at >= $2 and settled_at < $3) as refunded,
  (select coalesce(sum(amount), 0)::float8 from payments.dispute where currency = $1 and opened_at >= $2 and opened_at < $3 and (funds_withdrawn or status = 'lost')) as disputed,
  (select coalesce(sum(amount), 0)::float8 from payments.payout where currency = $1 and status = 'paid' and paid_at >= $2 and paid_at < $3) as "paidOut",
  (select coalesce(sum(total - cash_applied - credit_applied - amount_paid), 0)::float8 from payments.invoice where currency = $1 and status in ('open', 'past_due')) as outstanding,
  (select count(*)::int from payments.invoice where currency = $1 and status = 'past_due') as "pastDueInvoices",
  (select count(*)::int from payments.dispute where currency = $1 and closed_at is null) as "openDisputes",
  (select count(*)::int from payments.refund where currency = $1 and status = 'requires_approval') as "refundsToApprove",
  (select count(*)::int from payments.payout where currency = $1 and status = 'requires_approval') as "payoutsToApprove",
  (select count(*)::int from payments.processor_event where status = 'dead') as "deadProcessorEvents"`;

type Amounts = 'charged' | 'fees' | 'refunded' | 'disputed' | 'paidOut' | 'outstanding';
type Counts = 'pastDueInvoices' | 'openDisputes' | 'refundsToApprove' | 'payoutsToApprove' | 'deadProcessorEvents';

function periodOf(ctx: Context, { from, to }: FinanceOverviewArgs): { from: Date; to: Date } {
  const until = to ?? after(ctx.now(), 1); // what happened just now is in it
  const since = from ?? after(until, -DAY_MS);
  if (since >= until) fail('invalid_request', 'The period is invalid', { errors: [{ pointer: '/from', message: 'must be before `to`' }] });
  return { from: since, to: until };
}

async function stuckPayments(ctx: Context, currency: string): Promise<StuckPayment[]> {
  const found = await unansweredAttempts(ctx);
  const payments = new Map(
    (await ctx.em.find(Payment, { id: { $in: found.map(one => one.paymentId) }, currency })).map(one => [one.id, one]),
  );
  return found.flatMap(({ paymentId, since, attempts, nextLookAt }) => {
    const payment = payments.get(paymentId);
    return payment ? [{ payment, since, attempts, nextLookAt }] : [];
  });
}

/** The money of a period in one currency, and what waits for somebody. Source: payments 2. */
export async function financeOverview(ctx: Context, args: FinanceOverviewArgs): Promise<FinanceOverview> {
  const [{ from, to }, { currency }] = [periodOf(ctx, args), args];
  const [row] = await ctx.sql<Record<Amounts | Counts, number>>(COUNTS, [currency, from.toISOString(), to.toISOString()]);
  const { charged, fees, refunded, disputed, paidOut, outstanding, ...counts } = row!;
  const money = (amount: number): Money => ({ amount, currency });
  return {
    currency,
    from,
    to,
    charged: money(charged),
    fees: money(fees),
    refunded: money(refunded),
    disputed: money(disputed),
    paidOut: money(paidOut),
    outstanding: money(outstanding),
    ...counts,
    stuckPayments: await stuckPayments(ctx, currency),
    webhookLagSeconds: await webhookLagSeconds(ctx),
    lastReconciliation: (await ctx.em.find(ReconciliationRun, {}, { orderBy: { startedAt: 'desc', id: 'desc' }, limit: 1 }))[0] ?? null,
  };
}
