import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { HOUR_MS, after } from '../../../runtime/time/durations.js';
import { LedgerAccount } from '../entities/account.js';
import type { BalanceExplanation, ClearingException } from '../entities/report.js';
import { explain } from '../rules/explanation.js';
import { findAccount } from './accounts.js';

interface Row {
  transaction_id: string;
  service: string;
  type: string;
  source_id: string;
  rule_version: number | null;
  effective_ms: number;
  signed: string;
  cancelled: boolean;
}

/** What moved an account by an instant, oldest first; a reversal and what it reverses cancel each other where both have come. */
const MOVES = `
select e.transaction_id, t.source_service as service, t.source_type as type, t.source_id, t.rule_version,
  (extract(epoch from e.effective_at) * 1000)::float8 as effective_ms,
  sum(case when e.direction = $3 then e.amount else - e.amount end)::text as signed,
  exists (select 1 from accounting.ledger_transaction r where (r.reverses = t.id or r.id = t.reverses) and r.effective_at <= $2) as cancelled
from accounting.ledger_entry e join accounting.ledger_transaction t on t.id = e.transaction_id
where e.account_id = $1 and e.posted and e.effective_at <= $2
group by e.transaction_id, t.id, e.effective_at order by e.effective_at, min(e.account_version)`;

/** The smallest list of sources that make up a balance. Null: no such account. Source: accounting 9.4. */
export async function explainBalance(ctx: Context, accountId: string, at: Date | null): Promise<BalanceExplanation | null> {
  const account = await findAccount(ctx, accountId);
  if (!account) return null;
  const until = at ?? ctx.now();
  if (until > ctx.now()) invalid('/at', 'must not be in the future');
  const rows = await ctx.sql<Row>(MOVES, [account.id, until.toISOString(), account.normalSide]);
  const moves = rows.map(row => ({ row, transactionId: row.transaction_id, amount: Number(row.signed) }));
  const found = explain(moves, new Set(rows.filter(row => row.cancelled).map(row => row.transaction_id)));
  const { currency } = account;
  return {
    account,
    at: until,
    balance: { amount: moves.reduce((sum, one) => sum + one.amount, 0), currency },
    sources: found.map(({ entry: { row }, amount }) => ({
      transactionId: row.transaction_id,
      source: { service: row.service, type: row.type, id: row.source_id, ruleVersion: row.rule_version },
      effectiveAt: new Date(Math.round(row.effective_ms)),
      amount: { amount, currency },
    })),
  };
}

interface FlowRow {
  account_id: string;
  flow_id: string;
  net: string;
  since_ms: number;
  ids: string[];
}

/** Flows through clearing accounts that have not come back to zero. */
const OPEN_FLOWS = `
select e.account_id, coalesce(e.flow_id, e.transaction_id::text) as flow_id,
  sum(case when e.direction = a.normal_side then e.amount else - e.amount end)::text as net,
  (extract(epoch from min(e.effective_at)) * 1000)::float8 as since_ms, array_agg(distinct e.transaction_id::text) as ids
from accounting.ledger_account a join accounting.ledger_entry e on e.account_id = a.id and e.posted
where a.code like 'liabilities:clearing:%' or a.code like 'assets:processor:unassigned:%'
group by e.account_id, a.normal_side, coalesce(e.flow_id, e.transaction_id::text)
having sum(case when e.direction = a.normal_side then e.amount else - e.amount end) <> 0 and min(e.effective_at) < $1::timestamptz
order by min(e.effective_at), 2`;

const OVERDUE_MS = 24 * HOUR_MS;

/** Source: accounting 7.1. */
export async function clearingExceptions(ctx: Context): Promise<ClearingException[]> {
  const rows = await ctx.sql<FlowRow>(OPEN_FLOWS, [after(ctx.now(), -OVERDUE_MS).toISOString()]);
  const accounts = await ctx.em.find(LedgerAccount, { id: { $in: [...new Set(rows.map(row => row.account_id))] } });
  const byId = new Map(accounts.map(account => [account.id, account]));
  return rows.map(({ account_id, flow_id: flowId, net, since_ms, ids }) => {
    const account = byId.get(account_id)!;
    const amount = { amount: Number(net), currency: account.currency };
    return { account, flowId, amount, since: new Date(Math.round(since_ms)), transactionIds: ids };
  });
}
