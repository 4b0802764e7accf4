import { prepared } from '../../../events/prepared.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import type { Context } from '../../../runtime/request/context.js';
import { LedgerAccount } from '../entities/account.js';
import { Wallet } from '../entities/wallet.js';

/** A wallet with the account that has its numbers. */
export type FullWallet = Wallet & { account: LedgerAccount };

interface Row {
  id: string;
  user_id: string;
  kind: Wallet['kind'];
  account_id: string;
  created_ms: number;
  code: string;
  name: string;
  type: LedgerAccount['type'];
  normal_side: LedgerAccount['normalSide'];
  currency: string;
  status: LedgerAccount['status'];
  floor: string | null;
  posted_debits: string;
  posted_credits: string;
  pending_debits: string;
  pending_credits: string;
}

const COLUMNS = `w.id, w.user_id, w.kind, w.account_id, (extract(epoch from w.created_at) * 1000)::float8 as created_ms, a.code, a.name, a.type,
  a.normal_side, a.currency, a.status, a.floor, a.posted_debits, a.posted_credits, a.pending_debits, a.pending_credits`;
const FROM = 'from accounting.wallet w join accounting.ledger_account a on a.id = w.account_id';

function walletOf(row: Row): FullWallet {
  const createdAt = new Date(Math.round(row.created_ms));
  const account = Object.assign(new LedgerAccount(), {
    id: row.account_id,
    code: row.code,
    name: row.name,
    type: row.type,
    normalSide: row.normal_side,
    currency: row.currency,
    status: row.status,
    floor: row.floor === null ? null : Number(row.floor),
    postedDebits: Number(row.posted_debits),
    postedCredits: Number(row.posted_credits),
    pendingDebits: Number(row.pending_debits),
    pendingCredits: Number(row.pending_credits),
    userId: row.user_id,
    createdAt,
  });
  const { id, user_id: userId, kind, currency, account_id: accountId } = row;
  return Object.assign(new Wallet(), { id, userId, kind, currency, accountId, createdAt, account });
}

const OF_USERS = prepared(`select ${COLUMNS} ${FROM} where w.user_id = any($1::uuid[]) order by w.kind, w.currency`);
const BY_ID = prepared(`select ${COLUMNS} ${FROM} where w.id = any($1::uuid[]) and ($2::uuid is null or w.user_id = $2)`);

/** Wallets of users with their numbers: one statement. */
export async function walletsOf(ctx: Context, userIds: readonly string[]): Promise<FullWallet[]> {
  const known = userIds.filter(isUuid);
  return known.length ? (await ctx.sql<Row>(OF_USERS, [known])).map(walletOf) : [];
}

/** Wallets by id; to a user token those of its user only. */
export async function walletsBy(ctx: Context, ids: readonly string[]): Promise<(FullWallet | null)[]> {
  const asked = ids.map(id => id.toLowerCase());
  const owner = ctx.caller.kind === 'user' ? ctx.caller.userId : null;
  const rows = await ctx.sql<Row>(BY_ID, [asked.filter(isUuid), owner]);
  return inOrder(asked, rows.map(walletOf), wallet => wallet.id);
}
