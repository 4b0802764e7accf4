import { raw, type FilterQuery } from '@mikro-orm/postgresql';
import { loadRow } from '../../../runtime/data/rows.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { LedgerTransactionKind, LedgerTransactionStatus } from '../entities/enums.js';
import { LedgerTransaction } from '../entities/transaction.js';
import type { LedgerTransactionsArgs } from '../inputs/transaction.js';

type Where = FilterQuery<LedgerTransaction>;
const { PENDING, VOID_PENDING } = LedgerTransactionKind;
const RESOLUTION = 'select 1 from accounting.pending_resolution r where r.pending_id';

/** A status as a filter: of a pending transaction its resolution says it, of the others their kind. */
function inStatus(status: LedgerTransactionStatus): Where {
  if (status === LedgerTransactionStatus.PENDING)
    return { kind: PENDING, [raw(alias => `not exists (${RESOLUTION} = ${alias}.id)`)]: [] } as Where;
  const resolved = { [raw(alias => `exists (${RESOLUTION} = ${alias}.id and r.outcome = '${status}')`)]: [] };
  const own =
    status === LedgerTransactionStatus.POSTED
      ? { kind: { $nin: [PENDING, VOID_PENDING] } }
      : { kind: VOID_PENDING, [raw(alias => `exists (${RESOLUTION} = ${alias}.pending_id and r.outcome = '${status}')`)]: [] };
  return { $or: [{ kind: PENDING, ...resolved }, own] } as Where;
}

const onAccount = (accountId: string): Where =>
  ({
    [raw(
      alias => `exists (select 1 from accounting.ledger_entry e where e.transaction_id = ${alias}.id and e.account_id = ?)`,
      [accountId],
    )]: [],
  }) as Where;

/** Transactions, newest first. */
export function transactionsPage(
  ctx: Context,
  { accountId, userId, sourceType, sourceId, from, to, status, ...paging }: LedgerTransactionsArgs,
): Promise<Connection<LedgerTransaction>> {
  const effective = { ...(from && { $gte: from }), ...(to && { $lt: to }) };
  const plain = {
    ...(userId && { userId: userId.toLowerCase() }),
    ...(sourceType && { sourceType }),
    ...(sourceId && { sourceId }),
    ...((from || to) && { effectiveAt: effective }),
  };
  const where = {
    $and: [plain, ...(status ? [inStatus(status)] : []), ...(accountId ? [onAccount(accountId.toLowerCase())] : [])],
  } as Where;
  return page(ctx.em, LedgerTransaction, where, paging, { time: 'postedAt' });
}

interface Resolution {
  id: string;
  transaction_id: string;
  outcome: 'posted' | 'voided' | 'expired';
}

const loadResolution = (ctx: Context, pendingId: string): Promise<Resolution | null> =>
  ctx.load('resolution of pending', pendingId, async ids => {
    const rows = await ctx.sql<Resolution>(
      'select pending_id as id, transaction_id, outcome from accounting.pending_resolution where pending_id = any($1::uuid[])',
      [ids],
    );
    return inOrder(ids, rows, row => row.id);
  });

/** What has become of it. */
export async function statusOf(ctx: Context, { id, kind, pendingId }: LedgerTransaction): Promise<LedgerTransactionStatus> {
  if (kind !== PENDING && kind !== VOID_PENDING) return LedgerTransactionStatus.POSTED;
  const resolution = await loadResolution(ctx, kind === PENDING ? id : pendingId!);
  return (resolution?.outcome as LedgerTransactionStatus | undefined) ?? LedgerTransactionStatus.PENDING;
}

export const loadTransaction = async (ctx: Context, id: string | null): Promise<LedgerTransaction | null> =>
  id === null ? null : loadRow(ctx, LedgerTransaction, 'id', id);

export async function resolvedBy(ctx: Context, { id, kind }: LedgerTransaction): Promise<LedgerTransaction | null> {
  const resolution = kind === PENDING ? await loadResolution(ctx, id) : null;
  return loadTransaction(ctx, resolution?.transaction_id ?? null);
}

/** The reversal of a transaction, in a batch. */
export const reversedBy = (ctx: Context, { id }: LedgerTransaction): Promise<LedgerTransaction | null> =>
  ctx.load('reversal of transaction', id, async ids => {
    const rows = await ctx.em.find(LedgerTransaction, { reversesId: { $in: [...ids] } });
    return inOrder(ids, rows, row => row.reversesId!);
  });

interface Seal {
  id: string;
  sequence: string;
  height: string;
}

/** Where the chain has it; null until it is sealed. */
export const loadSeal = (ctx: Context, id: string): Promise<Seal | null> =>
  ctx.load('seal of transaction', id, async ids => {
    const rows = await ctx.sql<Seal>(
      'select transaction_id as id, sequence, height from accounting.chain_leaf where transaction_id = any($1::uuid[])',
      [ids],
    );
    return inOrder(ids, rows, row => row.id);
  });

const OF_PAYMENTS = `
select id, metadata->>'payment_id' as payment_id from accounting.ledger_transaction
where metadata->>'payment_id' = any($1::text[]) order by posted_at, id`;

/** Everything that names a payment, oldest first, in a batch. */
export async function ofPayment(ctx: Context, paymentId: string): Promise<LedgerTransaction[]> {
  const found = await ctx.load('transactions of payment', paymentId.toLowerCase(), async ids => {
    const rows = await ctx.sql<{ id: string; payment_id: string }>(OF_PAYMENTS, [ids]);
    const transactions = await ctx.em.find(LedgerTransaction, { id: { $in: rows.map(({ id }) => id) } });
    const byId = new Map(transactions.map(one => [one.id, one]));
    return ids.map(id => rows.filter(row => row.payment_id === id).map(row => byId.get(row.id)!));
  });
  return found ?? [];
}

/** The debit of a payout as payments has asked for it, in a batch. */
export const ofPayout = (ctx: Context, payoutId: string): Promise<LedgerTransaction | null> =>
  ctx.load('transaction of payout', payoutId.toLowerCase(), async ids => {
    const rows = await ctx.em.find(LedgerTransaction, { sourceService: 'payments', sourceType: 'payout', sourceId: { $in: [...ids] } });
    return inOrder(ids, rows, row => row.sourceId);
  });
