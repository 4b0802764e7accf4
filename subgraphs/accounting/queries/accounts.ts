import type { FilterQuery } from '@mikro-orm/postgresql';
import { reachesAll } from '../../../runtime/access/access.js';
import { findRow, loadRow } from '../../../runtime/data/rows.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { ACCOUNT_VIEWERS } from '../entities/access.js';
import { LedgerAccount } from '../entities/account.js';
import type { LedgerBalance } from '../entities/report.js';
import type { LedgerAccountsArgs } from '../inputs/account.js';

/** Which of these codes are those of accounts. */
export async function knownCodes(ctx: Context, codes: readonly string[]): Promise<Set<string>> {
  if (codes.length === 0) return new Set();
  const rows = await ctx.sql<{ code: string }>('select code from accounting.ledger_account where code = any($1::text[])', [codes]);
  return new Set(rows.map(row => row.code));
}

/** A member reaches accounts of the own wallets only. */
export const visibleAccounts = ({ caller }: Context): FilterQuery<LedgerAccount> =>
  reachesAll(ACCOUNT_VIEWERS, caller) ? {} : { userId: caller.userId };

export function accountsPage(
  ctx: Context,
  { code, type, status, currency, userId, ...paging }: LedgerAccountsArgs,
): Promise<Connection<LedgerAccount>> {
  const beginning = code?.replaceAll(/[\\%_]/g, '\\$&');
  const where = {
    ...(beginning && { code: { $like: `${beginning}%` } }),
    ...(type && { type }),
    ...(status && { status }),
    ...(currency && { currency }),
    ...(userId && { userId: userId.toLowerCase() }),
  };
  return page(ctx.em, LedgerAccount, where, paging, { time: 'createdAt' });
}

export const findAccount = (ctx: Context, id: string): Promise<LedgerAccount | null> => findRow(ctx, LedgerAccount, { id });

export const loadAccount = async (ctx: Context, id: string): Promise<LedgerAccount> => (await loadRow(ctx, LedgerAccount, 'id', id))!;

/** Accounts by id or code, in one statement; of a member the own ones. */
export async function accountsBy(ctx: Context, keys: readonly { id?: string; code?: string }[]): Promise<(LedgerAccount | null)[]> {
  const ids = keys.flatMap(({ id }) => (id && isUuid(id) ? id.toLowerCase() : []));
  const codes = keys.flatMap(({ code }) => code ?? []);
  const asked = { $or: [{ id: { $in: ids } }, { code: { $in: codes } }] };
  const rows = await ctx.em.find(LedgerAccount, { $and: [asked, visibleAccounts(ctx)] } as FilterQuery<LedgerAccount>);
  const byKey = new Map(rows.flatMap(row => [[row.id, row] as const, [row.code, row] as const]));
  return keys.map(({ id, code }) => byKey.get(id?.toLowerCase() ?? code ?? '') ?? null);
}

const BALANCE = `
select k.account_id, coalesce(sum(case when e.direction = a.normal_side then e.amount else - e.amount end), 0) as balance
from unnest($1::uuid[], $2::timestamptz[]) k(account_id, at) join accounting.ledger_account a on a.id = k.account_id
left join accounting.ledger_entry e on e.account_id = k.account_id and e.posted and e.effective_at <= k.at
group by k.account_id, k.at`;

/** The balance at an instant, from entries. @throws Problem invalid_request for one that has not come. */
export async function balanceAt(ctx: Context, { id, currency }: LedgerAccount, at: Date): Promise<LedgerBalance> {
  if (at > ctx.now()) invalid('/at', 'must not be in the future');
  const [row] = await ctx.sql<{ balance: string }>(BALANCE, [[id], [at.toISOString()]]);
  return { accountId: id, at, balance: { amount: Number(row!.balance), currency } };
}
