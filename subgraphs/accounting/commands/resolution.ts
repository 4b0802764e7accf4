import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { LedgerPendingAction, LedgerTransactionKind } from '../entities/enums.js';
import { LedgerTransaction } from '../entities/transaction.js';
import type { MoneyInput } from '../../../runtime/schema/scalars.js';
import type { ResolvePendingLedgerTransactionInput, ReverseLedgerTransactionInput } from '../inputs/transaction.js';
import { originOf, type Posting, type PostOutcome } from '../ports/ledger-engine.js';
import { postHere } from '../ports/postgres/engine.js';
import { draftsOf } from '../ports/postgres/facts.js';
import { debitsOf, partOf, reversed, type EntryDraft } from '../rules/entries.js';
import { answerOf } from './posting.js';

const { PENDING, POST_PENDING, VOID_PENDING, REVERSAL } = LedgerTransactionKind;

/** A transaction that concerns another one; its source is that one's id, so there is one of each kind at most. */
function about(ctx: Context, { id, description, userId, metadata }: LedgerTransaction, kind: LedgerTransactionKind): Posting {
  return {
    kind,
    source: { service: 'accounting', type: kind, id },
    ruleVersion: null,
    description,
    userId,
    effectiveAt: null,
    expiresAt: null,
    metadata,
    entries: [],
    late: null,
    isFact: false,
    resolves: null,
    reverses: null,
    requestHash: null,
    origin: originOf(ctx),
    audit: null,
  };
}

async function entriesOf(ctx: Context, { id }: LedgerTransaction): Promise<EntryDraft[]> {
  return (await draftsOf(ctx, [id])).get(id)!;
}

/** What is left of the entries where less than all of it is posted. */
function toPost(reserved: readonly EntryDraft[], amount: MoneyInput | null | undefined): readonly EntryDraft[] {
  if (!amount) return reserved;
  const currencies = new Set(reserved.map(one => one.currency));
  if (currencies.size > 1) invalid('/input/amount', 'is for transactions of one currency');
  if (!currencies.has(amount.currency)) invalid('/input/amount/currency', 'must be the currency of the transaction');
  const most = debitsOf(reserved);
  if (amount.amount < 1 || amount.amount > most) invalid('/input/amount/amount', `must be from 1 to ${most}`);
  return partOf(reserved, amount.amount);
}

/** How a pending transaction ends. */
export function resolutionOf(
  ctx: Context,
  pending: LedgerTransaction,
  reserved: readonly EntryDraft[],
  outcome: 'posted' | 'voided' | 'expired',
): Posting {
  const { id: pendingId, source, expiresAt } = pending;
  const resolves = { pendingId, outcome, reserved, source, expiresAt: expiresAt! };
  return { ...about(ctx, pending, outcome === 'posted' ? POST_PENDING : VOID_PENDING), resolves, entries: reserved };
}

/** Posts or voids a pending transaction. @throws Problem not_found, conflict: it is none, or resolved or expired already. */
export async function resolvePending(ctx: Context, input: ResolvePendingLedgerTransactionInput): Promise<LedgerTransaction> {
  const pending = await requireRow(ctx, LedgerTransaction, { id: input.id });
  if (pending.kind !== PENDING) fail('conflict', 'The transaction is not pending', { reason: 'not_pending' });
  const isPost = input.action === LedgerPendingAction.POST;
  if (!isPost && input.amount) invalid('/input/amount', 'is for posting');
  const reserved = await entriesOf(ctx, pending);
  const resolution = resolutionOf(ctx, pending, reserved, isPost ? 'posted' : 'voided');
  const [outcome] = await postHere(ctx, [{ ...resolution, entries: isPost ? toPost(reserved, input.amount) : reserved }]);
  return audited(ctx, outcome!, `ledger_transaction.${isPost ? 'posted' : 'voided'}`, { pending_id: pending.id });
}

async function audited(ctx: Context, outcome: PostOutcome, action: string, details: Record<string, string>): Promise<LedgerTransaction> {
  const transaction = await answerOf(ctx, outcome);
  ctx.audit(action, transaction.id, details);
  return transaction;
}

/** Books the opposite of a transaction. @throws Problem not_found; conflict: not posted, a reversal itself, or reversed already. */
export async function reverseTransaction(
  ctx: Context,
  { id, reason, reasonCode }: ReverseLedgerTransactionInput,
): Promise<LedgerTransaction> {
  const original = await requireRow(ctx, LedgerTransaction, { id });
  if (original.kind === REVERSAL) fail('conflict', 'A reversal is not reversed', { reason: 'is_reversal' });
  if (original.kind === PENDING || original.kind === VOID_PENDING)
    fail('conflict', 'The transaction is not posted', { reason: 'not_posted' });
  const [outcome] = await postHere(ctx, [
    {
      ...about(ctx, original, REVERSAL),
      entries: reversed(await entriesOf(ctx, original)),
      reverses: { id: original.id, source: original.source, reasonCode },
    },
  ]);
  return audited(ctx, outcome!, 'ledger_transaction.reversed', { original_id: original.id, reason, reason_code: reasonCode });
}
