import type { DataOf } from '../../../events/define.js';
import type { paymentInvoicePaid, paymentInvoiceRefunded } from '../../../events/catalogue/payments.js';
import type { Context } from '../../../runtime/request/context.js';
import { LedgerTransactionKind } from '../entities/enums.js';
import { originOf, type LateEntries, type Posting } from '../ports/ledger-engine.js';
import { postHere } from '../ports/postgres/engine.js';
import { lockOrMake, lockSchedules, storeSchedules } from '../ports/postgres/schedules.js';
import { deferredRevenue, subscriptionIncome } from '../rules/chart.js';
import { CREDIT, DEBIT } from '../rules/entries.js';
import { announceRefund, endAt, recognise, setPeriod, type Schedule } from '../rules/recognition.js';

/** The last that a transaction does. */
const store = (ctx: Context, schedules: readonly Schedule[]): Promise<void> =>
  storeSchedules((text, params) => ctx.writeLast(text, params), schedules);

/** Gives what an invoice has brought its time; whichever of invoice and payment comes second opens the schedule. */
export async function openSchedule(ctx: Context, userId: string | null, data: DataOf<typeof paymentInvoicePaid>): Promise<void> {
  const { invoice_id, currency, period_start, period_end, subscription_id } = data;
  if (!period_start || !period_end || period_end <= period_start) return;
  const { schedule, ended } = await lockOrMake(ctx, invoice_id, currency, subscription_id);
  const about = { ...schedule, userId: schedule.userId ?? userId, subscriptionId: schedule.subscriptionId ?? subscription_id };
  const timed = setPeriod(about, new Date(period_start), new Date(period_end));
  await store(ctx, [ended ? endAt(timed, ended) : timed]);
}

/** Keeps what an invoice gives back from becoming income. */
export async function cutRefunded(ctx: Context, data: DataOf<typeof paymentInvoiceRefunded>): Promise<void> {
  const { schedule } = await lockOrMake(ctx, data.invoice_id, data.currency, null);
  await store(ctx, [announceRefund(schedule, data.amount_refunded, data.total_amount)]);
}

const ENDED = `insert into accounting.recognition_end (subscription_id, ended_at) values ($1, $2) on conflict do nothing`;
const OF_SUBSCRIPTION = 'select key from accounting.recognition_schedule where subscription_id = $1';

/** What a subscription has paid for a time that it will not have becomes income at its end. */
export async function endSubscription(ctx: Context, subscriptionId: string, endedAt: Date): Promise<void> {
  await ctx.sql(ENDED, [subscriptionId, endedAt.toISOString()]);
  const keys = (await ctx.sql<{ key: string }>(OF_SUBSCRIPTION, [subscriptionId])).map(row => row.key);
  const schedules = await lockSchedules(ctx, keys);
  await store(
    ctx,
    [...schedules.values()].map(one => endAt(one, endedAt)),
  );
}

/** What of a schedule is income by now. */
const earned = (key: string, currency: string): LateEntries => ({
  opens: [deferredRevenue(currency), subscriptionIncome(currency)],
  accounts: [],
  schedules: [key],
  flows: [],
  sources: [],
  build: facts => {
    const { schedule, amount } = recognise(facts.schedule(key)!, facts.now);
    const line = { amount, currency, flowId: null };
    const entries = [
      { ...line, accountCode: deferredRevenue(currency), direction: DEBIT, flowId: key },
      { ...line, accountCode: subscriptionIncome(currency), direction: CREDIT },
    ];
    const id = `${key}:${schedule.recognisedTo?.getTime() ?? 0}:${schedule.recognised}`;
    return { source: { service: 'accounting', type: 'recognition', id }, entries: amount > 0 ? entries : [], schedules: [schedule] };
  },
});

interface Due {
  key: string;
  currency: string;
  user_id: string | null;
}

const recognitionOf = (ctx: Context, { key, currency, user_id }: Due): Posting => ({
  kind: LedgerTransactionKind.DIRECT,
  source: { service: 'accounting', type: 'recognition', id: key },
  ruleVersion: null,
  description: 'revenue recognised',
  userId: user_id,
  effectiveAt: ctx.now(),
  expiresAt: null,
  metadata: { schedule_key: key },
  entries: [],
  late: earned(key, currency),
  isFact: true,
  resolves: null,
  reverses: null,
  requestHash: null,
  origin: originOf(ctx),
  audit: null,
});

/** Schedules of one transaction. */
const BATCH = 200;
const DUE = `
select key, currency, user_id from accounting.recognition_schedule
where next_at <= $1 order by next_at, key limit ${BATCH}`;

/** Books what has become income. Source: accounting 5, recognition. @throws Error where an account refuses it; it is tried again. */
export async function recogniseDue(ctx: Context): Promise<void> {
  const due = await ctx.sql<Due>(DUE, [ctx.now().toISOString()]);
  const outcomes = await postHere(
    ctx,
    due.map(one => recognitionOf(ctx, one)),
  );
  const refused = outcomes.find(one => one.outcome === 'rejected');
  if (refused) throw refused.problem;
}
