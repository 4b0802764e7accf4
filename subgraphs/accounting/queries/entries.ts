import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { LedgerEntry } from '../entities/transaction.js';
import type { EntriesArgs } from '../inputs/account.js';

interface Row {
  id: string;
  transaction_id: string;
  line: number;
  account_id: string;
  direction: LedgerEntry['direction'];
  amount: string;
  currency: string;
  balance_after: string;
  account_version: string | null;
  effective_ms: number;
}

const COLUMNS = `e.id, e.transaction_id, e.line, e.account_id, e.direction, e.amount, e.currency, e.balance_after, e.account_version,
  (extract(epoch from e.effective_at) * 1000)::float8 as effective_ms`;

const entryOf = (row: Row): LedgerEntry =>
  Object.assign(new LedgerEntry(), {
    id: row.id,
    transactionId: row.transaction_id,
    line: row.line,
    accountId: row.account_id,
    direction: row.direction,
    amount: { amount: Number(row.amount), currency: row.currency },
    balanceAfter: { amount: Number(row.balance_after), currency: row.currency },
    accountVersion: row.account_version === null ? null : Number(row.account_version),
    effectiveAt: new Date(Math.round(row.effective_ms)),
  });

const PAGE = `
select ${COLUMNS} from accounting.ledger_entry e
where e.account_id = $1 and e.account_version is not null and e.account_version < $2
  and ($3::timestamptz is null or e.effective_at >= $3) and ($4::timestamptz is null or e.effective_at < $4)
order by e.account_version desc limit $5`;

const versionOf = (after: string | null | undefined): number => {
  const [version] = after ? decodeCursor(after, 1) : [Number.MAX_SAFE_INTEGER];
  return Number.isSafeInteger(version) ? (version as number) : (decodeCursor('', 1)[0] as never);
};

/** Posted entries of an account in the order of its running chain, newest first. */
export async function entriesPage(
  ctx: Context,
  accountId: string,
  { first, after, from, to }: EntriesArgs,
): Promise<Connection<LedgerEntry>> {
  const params = [accountId, versionOf(after), from?.toISOString() ?? null, to?.toISOString() ?? null, first + 1];
  const rows = (await ctx.sql<Row>(PAGE, params)).map(entryOf);
  return toConnection(rows, first, row => [row.accountVersion]);
}

const OF_TRANSACTIONS = `
select ${COLUMNS} from accounting.ledger_entry e where e.transaction_id = any($1::uuid[]) order by e.transaction_id, e.line`;

/** Entries of a transaction in line order, in a batch with those of the others that are shown. */
export async function loadEntries(ctx: Context, transactionId: string): Promise<LedgerEntry[]> {
  const found = await ctx.load('entries of transaction', transactionId, async ids => {
    const rows = (await ctx.sql<Row>(OF_TRANSACTIONS, [ids])).map(entryOf);
    const byTransaction = Map.groupBy(rows, row => row.transactionId);
    return ids.map(id => byTransaction.get(id) ?? []);
  });
  return found!;
}
