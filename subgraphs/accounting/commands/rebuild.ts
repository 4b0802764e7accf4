import type { Context } from '../../../runtime/request/context.js';
import type { BalanceRebuild } from '../entities/report.js';
import { EntryDirection } from '../entities/enums.js';

interface Row {
  id: string;
  currency: string;
  normal_side: EntryDirection;
  cached: string[];
  computed: string[];
}

/** Nobody posts meanwhile. A statement of its own, because the next one is to see what was committed while this one waited. */
const LOCK = 'select count(*) from (select 1 from accounting.ledger_account order by id for update) locked';

/** Every account's totals and counts as cached and as its entries have them. */
const COMPARE = `
with computed as (
  select e.account_id, coalesce(sum(e.amount) filter (where e.posted and e.direction = 'debit'), 0) as pd,
    coalesce(sum(e.amount) filter (where e.posted and e.direction = 'credit'), 0) as pc,
    coalesce(sum(e.amount) filter (where p.transaction_id is not null and e.direction = 'debit'), 0) as hd,
    coalesce(sum(e.amount) filter (where p.transaction_id is not null and e.direction = 'credit'), 0) as hc,
    coalesce(max(e.account_version), 0) as entries
  from accounting.ledger_entry e
  left join accounting.ledger_transaction p0 on p0.id = e.transaction_id and p0.kind = 'pending'
  left join lateral (select p0.id as transaction_id where p0.id is not null
    and not exists (select 1 from accounting.pending_resolution r where r.pending_id = p0.id)) p on true
  group by e.account_id)
select a.id, a.currency, a.normal_side, array[a.posted_debits, a.posted_credits, a.pending_debits, a.pending_credits, a.entry_count]::text[] as cached,
  array[coalesce(c.pd, 0), coalesce(c.pc, 0), coalesce(c.hd, 0), coalesce(c.hc, 0), coalesce(c.entries, 0)]::text[] as computed
from accounting.ledger_account a left join computed c on c.account_id = a.id order by a.id`;

const STORE = `
update accounting.ledger_account a set posted_debits = n.pd, posted_credits = n.pc, pending_debits = n.hd, pending_credits = n.hc, entry_count = n.entries
from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) n(id, pd, pc, hd, hc, entries) where a.id = n.id`;

function balanceOf(side: EntryDirection, totals: readonly string[]): number {
  const credits = Number(BigInt(totals[1]!) - BigInt(totals[0]!));
  return side === EntryDirection.CREDIT ? credits : 0 - credits;
}

/** Compares all cached totals with the entries and, unless it is a dry run, puts them right. */
export async function rebuildBalances(ctx: Context, dryRun: boolean): Promise<BalanceRebuild> {
  await ctx.sql(LOCK);
  const rows = await ctx.sql<Row>(COMPARE);
  const drifted = rows.filter(row => row.cached.some((total, at) => total !== row.computed[at]));
  if (!dryRun && drifted.length > 0)
    await ctx.sql(STORE, [drifted.map(row => row.id), ...[0, 1, 2, 3, 4].map(at => drifted.map(row => row.computed[at]))]);
  ctx.audit('ledger_account.rebuilt', null, { dry_run: dryRun, checked: rows.length, drifted: drifted.map(row => row.id).slice(0, 100) });
  const shown = (row: Row, totals: readonly string[]) => ({ amount: balanceOf(row.normal_side, totals), currency: row.currency });
  return {
    checked: rows.length,
    drifted: drifted.map(row => ({ accountId: row.id, cached: shown(row, row.cached), computed: shown(row, row.computed) })),
  };
}
