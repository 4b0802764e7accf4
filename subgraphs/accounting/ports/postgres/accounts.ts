import { LRUCache } from 'lru-cache';
import { prepared } from '../../../../events/prepared.js';
import { newId } from '../../../../runtime/data/ids.js';
import type { Context } from '../../../../runtime/request/context.js';
import type { AccountState } from '../../rules/book.js';
import { chartAccount, type ChartAccount } from '../../rules/chart.js';

interface Row {
  id: string;
  code: string;
  normal_side: AccountState['normalSide'];
  currency: string;
  status: AccountState['status'];
  floor: string | null;
  posted_debits: string;
  posted_credits: string;
  pending_debits: string;
  pending_credits: string;
  entry_count: string;
  event_count: string;
  wallet_id: string | null;
  wallet_kind: NonNullable<AccountState['wallet']>['kind'];
  wallet_user: string;
}

const stateOf = (row: Row): AccountState => ({
  id: row.id,
  code: row.code,
  normalSide: row.normal_side,
  currency: row.currency,
  status: row.status,
  floor: row.floor === null ? null : Number(row.floor),
  postedDebits: Number(row.posted_debits),
  postedCredits: Number(row.posted_credits),
  pendingDebits: Number(row.pending_debits),
  pendingCredits: Number(row.pending_credits),
  entryCount: Number(row.entry_count),
  eventCount: Number(row.event_count),
  wallet: row.wallet_id === null ? null : { id: row.wallet_id, kind: row.wallet_kind, userId: row.wallet_user },
});

/** In id order, so that no two batches wait for each other. */
const LOCK = prepared(`
select a.id, a.code, a.normal_side, a.currency, a.status, a.floor, a.posted_debits, a.posted_credits, a.pending_debits, a.pending_credits,
  a.entry_count, a.event_count, w.id as wallet_id, w.kind as wallet_kind, w.user_id as wallet_user
from accounting.ledger_account a left join accounting.wallet w on w.account_id = a.id
where a.code = any($1::text[]) order by a.id for update of a`);

/** Codes that were seen in the table; accounts are never deleted. Of a size, because with a `max` there is room for all from the start, 5.6 MB. */
const known = new LRUCache<string, true>({ maxSize: 200_000, sizeCalculation: () => 1 });
const knownAs = (ctx: Context, code: string): string => `${ctx.host.databaseUrl} ${code}`;

async function missingOf(ctx: Context, codes: readonly string[]): Promise<string[]> {
  const unseen = codes.filter(code => !known.has(knownAs(ctx, code)));
  if (unseen.length === 0) return [];
  const rows = await ctx.sql<{ code: string }>('select code from accounting.ledger_account where code = any($1::text[])', [unseen]);
  const found = new Set(rows.map(row => row.code));
  return unseen.filter(code => !found.has(code));
}

const OPEN = `
insert into accounting.ledger_account (id, code, name, type, normal_side, currency, floor, user_id, created_at)
select n.id, n.code, n.name, n.type, n.normal_side, n.currency, n.floor, n.user_id, $9::timestamptz
from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::uuid[])
  n(id, code, name, type, normal_side, currency, floor, user_id)
on conflict (code) do nothing`;

const OPEN_WALLETS = `
insert into accounting.wallet (id, user_id, kind, currency, account_id, created_at)
select n.id, n.user_id, n.kind, a.currency, a.id, $5::timestamptz
from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[]) n(id, code, kind, user_id) join accounting.ledger_account a on a.code = n.code
on conflict do nothing`;

/** Opens what the chart knows, in the order of the codes, before anything is locked: whoever opens the same waits here, holding no lock. */
async function open(ctx: Context, codes: readonly string[], at: Date): Promise<void> {
  const accounts = [...codes]
    .sort()
    .map(chartAccount)
    .filter(one => one !== null);
  if (accounts.length === 0) return;
  const column = <Name extends keyof ChartAccount>(name: Name) => accounts.map(one => one[name]);
  await ctx.sql(OPEN, [
    accounts.map(newId),
    column('code'),
    column('name'),
    column('type'),
    column('normalSide'),
    column('currency'),
    column('floor'),
    column('userId'),
    at.toISOString(),
  ]);
  const wallets = accounts.filter(one => one.wallet !== null);
  if (wallets.length === 0) return;
  const params = [wallets.map(newId), wallets.map(one => one.code), wallets.map(one => one.wallet), wallets.map(one => one.userId)];
  await ctx.sql(OPEN_WALLETS, [...params, at.toISOString()]);
}

/** The accounts of a batch, locked until its commit; `wanted` are opened where they are missing, `others` only locked where they exist. */
export async function lockAccounts(
  ctx: Context,
  wanted: ReadonlySet<string>,
  others: ReadonlySet<string>,
  at: Date,
): Promise<Map<string, AccountState>> {
  const missing = await missingOf(ctx, [...wanted]);
  if (missing.length > 0) await open(ctx, missing, at);
  const rows = await ctx.sql<Row>(LOCK, [[...new Set([...wanted, ...others])]]);
  if (missing.length === 0) for (const { code } of rows) known.set(knownAs(ctx, code), true);
  return new Map(rows.map(row => [row.code, stateOf(row)]));
}

const UPDATE = prepared(`
update accounting.ledger_account a set posted_debits = n.pd, posted_credits = n.pc, pending_debits = n.hd, pending_credits = n.hc,
  entry_count = n.entries, event_count = n.events
from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) n(id, pd, pc, hd, hc, entries, events)
where a.id = n.id`);

/** Each account once, however many postings were on it. */
export async function storeAccounts(ctx: Context, accounts: readonly AccountState[]): Promise<void> {
  if (accounts.length === 0) return;
  const column = (name: keyof AccountState) => accounts.map(one => one[name]);
  const names = ['id', 'postedDebits', 'postedCredits', 'pendingDebits', 'pendingCredits', 'entryCount', 'eventCount'] as const;
  await ctx.sql(UPDATE, names.map(column));
}
