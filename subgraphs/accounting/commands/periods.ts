import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { newId } from '../../../runtime/data/ids.js';
import { AccountingPeriodStatus } from '../entities/enums.js';
import { AccountingPeriod } from '../entities/period.js';
import { isBalanced } from '../queries/reports.js';
import { monthBefore, monthsBetween } from '../rules/periods.js';
import { seal } from './sealing.js';

const FIRST = 'select (extract(epoch from min(effective_at)) * 1000)::float8 as ms from accounting.ledger_transaction';
const ADD = `
insert into accounting.accounting_period (id, name, starts_at, ends_at)
select * from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[]) on conflict do nothing`;

/** Months from the first transaction's, or at least the last one's, to this one, made where they are missing. */
async function addMonths(ctx: Context): Promise<void> {
  const [first] = await ctx.sql<{ ms: number | null }>(FIRST);
  const before = monthBefore(ctx.now());
  const from = first!.ms === null ? before : new Date(Math.min(first!.ms, before.getTime()));
  const months = monthsBetween(from, ctx.now());
  const known = new Set((await ctx.em.find(AccountingPeriod, {}, { fields: ['name'] })).map(one => one.name));
  const missing = months.filter(month => !known.has(month.name));
  if (missing.length === 0) return;
  await ctx.sql(ADD, [
    missing.map(newId),
    missing.map(one => one.name),
    missing.map(one => one.startsAt.toISOString()),
    missing.map(one => one.endsAt.toISOString()),
  ]);
}

/** Months of the books, oldest first. */
export async function periods(ctx: Context): Promise<AccountingPeriod[]> {
  await ctx.host.transaction(addMonths);
  return ctx.em.find(AccountingPeriod, {}, { orderBy: { startsAt: 'asc' } });
}

const UNSEALED = `
select 1 from accounting.ledger_transaction t
where t.effective_at < $1 and not exists (select 1 from accounting.chain_leaf l where l.transaction_id = t.id) limit 1`;

const refuse = (reason: string, detail: string): never => fail('conflict', detail, { reason });

async function checkClosable(ctx: Context, period: AccountingPeriod): Promise<void> {
  if (period.status === AccountingPeriodStatus.CLOSED) refuse('already_closed', 'The period is closed');
  if (period.endsAt > ctx.now()) refuse('not_over', 'The period is not over');
  const open = await ctx.em.count(AccountingPeriod, { startsAt: { $lt: period.startsAt }, status: AccountingPeriodStatus.OPEN });
  if (open > 0) refuse('previous_open', 'The period before it is open');
  if (!(await isBalanced(ctx, period.endsAt))) refuse('not_balanced', 'The trial balance is not balanced');
  if ((await ctx.sql(UNSEALED, [period.endsAt.toISOString()])).length > 0) refuse('not_sealed', 'The chain is not sealed to its end');
}

/** What was booked just before is sealed first, so that closing need not wait for the sealer. */
export const sealFirst = (ctx: Context): Promise<void> => seal(ctx.host);

/**
 * Closes a month for good. Postings wait meanwhile, and see it closed. @throws Problem not_found; conflict: closed already, not over, the
 * month before it open, not balanced or not sealed.
 */
export async function closePeriod(ctx: Context, id: string): Promise<AccountingPeriod> {
  await ctx.sql(`select pg_advisory_xact_lock(hashtextextended('accounting.periods', 5))`);
  const period = await lockRow(ctx, AccountingPeriod, { id });
  await checkClosable(ctx, period);
  Object.assign(period, {
    status: AccountingPeriodStatus.CLOSED,
    closedAt: ctx.now(),
    closedBy: ctx.caller.userId ?? ctx.caller.clientId,
  });
  ctx.audit('accounting_period.closed', id, { name: period.name });
  return period;
}
