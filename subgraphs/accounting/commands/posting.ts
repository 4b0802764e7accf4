import { requireRow } from '../../../runtime/data/rows.js';
import { hashOf } from '../../../runtime/data/idempotency.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, Problem, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { DAY_MS, MINUTE_MS, after } from '../../../runtime/time/durations.js';
import { LedgerPostOutcome, LedgerTransactionKind } from '../entities/enums.js';
import { LedgerTransaction, type LedgerPostResult } from '../entities/transaction.js';
import type { LedgerEntryInput, PostLedgerTransactionInput, PostLedgerTransactionsInput } from '../inputs/transaction.js';
import { isOneBatch, ledgerOf } from '../ports/postgres/engine.js';
import { originOf, type Posting, type PostOutcome } from '../ports/ledger-engine.js';
import { knownCodes } from '../queries/accounts.js';
import { chartAccount } from '../rules/chart.js';
import { entryViolations, type EntryDraft } from '../rules/entries.js';
import { DESCRIPTION, metadataViolations } from '../rules/metadata.js';

/** How far ahead a transaction may be dated, and how long a pending one may wait. Source: accounting 3, 4. */
const AHEAD_MS = MINUTE_MS;
const EXPIRY_MS = 7 * DAY_MS;
const MAX_EXPIRY_MS = 30 * DAY_MS;

const draftOf = ({ amount, ...entry }: LedgerEntryInput): EntryDraft => ({
  ...entry,
  amount: amount.amount,
  currency: amount.currency,
  flowId: entry.recognition?.key ?? entry.recognitionCut?.key ?? null,
});

function timeViolations({ pending, expiresAt, effectiveAt }: PostLedgerTransactionInput, now: Date, pointer: string): Violation[] {
  const found: Violation[] = [];
  if (effectiveAt && effectiveAt > after(now, AHEAD_MS))
    found.push({ pointer: `${pointer}/effectiveAt`, message: 'must not be in the future' });
  if (expiresAt && !pending) found.push({ pointer: `${pointer}/expiresAt`, message: 'is for pending transactions' });
  if (expiresAt && (expiresAt <= now || expiresAt > after(now, MAX_EXPIRY_MS)))
    found.push({ pointer: `${pointer}/expiresAt`, message: 'must be in the future, at most 30 days ahead' });
  return found;
}

function recognitionOfPending({ pending, entries }: PostLedgerTransactionInput, pointer: string): Violation[] {
  if (!pending || !entries.some(one => one.recognition || one.recognitionCut)) return [];
  return [{ pointer: `${pointer}/pending`, message: 'a pending transaction recognises nothing' }];
}

/** Everything that is wrong with a request, whatever the books hold. */
function violationsOf(ctx: Context, input: PostLedgerTransactionInput, known: ReadonlySet<string>, pointer: string): Violation[] {
  const metadata = input.metadata ?? {};
  const isKnown = (code: string): boolean => known.has(code) || chartAccount(code) !== null;
  const described = new RegExp(DESCRIPTION).test(input.description);
  return [
    ...(described ? [] : [{ pointer: `${pointer}/description`, message: 'must be plain words about the fact' }]),
    ...entryViolations(input.entries.map(draftOf), metadata, isKnown, `${pointer}/entries`),
    ...metadataViolations(metadata, `${pointer}/metadata`),
    ...timeViolations(input, ctx.now(), pointer),
    ...recognitionOfPending(input, pointer),
  ];
}

/** Accounts outside of the chart that are there. */
const knownOf = (ctx: Context, inputs: readonly PostLedgerTransactionInput[]): Promise<Set<string>> =>
  knownCodes(
    ctx,
    [...new Set(inputs.flatMap(one => one.entries.map(entry => entry.accountCode)))].filter(code => !chartAccount(code)),
  );

function postingOf(ctx: Context, input: PostLedgerTransactionInput): Posting {
  const { source, description, pending } = input;
  return {
    kind: pending ? LedgerTransactionKind.PENDING : LedgerTransactionKind.DIRECT,
    source,
    ruleVersion: null,
    description,
    userId: input.userId?.toLowerCase() ?? null,
    effectiveAt: input.effectiveAt ?? null,
    expiresAt: pending ? (input.expiresAt ?? after(ctx.now(), EXPIRY_MS)) : null,
    metadata: input.metadata ?? {},
    entries: input.entries.map(draftOf),
    late: null,
    isFact: false,
    resolves: null,
    reverses: null,
    requestHash: hashOf(input),
    origin: originOf(ctx),
    audit: 'ledger_transaction.posted',
  };
}

/** What a caller gets for one posting. @throws Problem that it was rejected with. */
export async function answerOf(ctx: Context, outcome: PostOutcome): Promise<LedgerTransaction> {
  if (outcome.outcome === 'rejected') throw outcome.problem;
  if (outcome.outcome === 'nothing') throw new Error('a posting that was asked for booked nothing');
  if (outcome.outcome === 'exists') ctx.status(200);
  return requireRow(ctx, LedgerTransaction, { id: outcome.id });
}

/** @throws Problem invalid_request with every violation; conflict or idempotency_mismatch of the books. */
export async function postTransaction(ctx: Context, input: PostLedgerTransactionInput): Promise<LedgerTransaction> {
  requireValid(violationsOf(ctx, input, await knownOf(ctx, [input]), '/input'));
  const [outcome] = await ledgerOf(ctx.host).post([postingOf(ctx, input)]);
  return answerOf(ctx, outcome!);
}

const resultOf = (outcome: PostOutcome, index: number): LedgerPostResult => {
  if (outcome.outcome !== 'rejected') {
    const result = outcome.outcome === 'exists' ? LedgerPostOutcome.EXISTS : LedgerPostOutcome.CREATED;
    return { index, result, transactionId: 'id' in outcome ? outcome.id : null, code: null, detail: null };
  }
  const { code, options, message } = outcome.problem;
  return { index, result: LedgerPostOutcome.REJECTED, transactionId: null, code: options.reason ?? code, detail: message };
};

const aborted = (): PostOutcome => ({
  outcome: 'rejected',
  problem: new Problem('conflict', 'Another transaction of the batch was refused', { reason: 'batch_aborted' }),
});

const invalidOf = (violations: readonly Violation[]): PostOutcome => ({
  outcome: 'rejected',
  problem: new Problem('invalid_request', violations.map(({ pointer, message }) => `${pointer}: ${message}`).join('; ')),
});

/** Books many at once; what is invalid in itself never reaches the books. @throws Problem invalid_request for an atomic batch that no commit can hold. */
export async function postTransactions(ctx: Context, { transactions, atomic }: PostLedgerTransactionsInput): Promise<LedgerPostResult[]> {
  const known = await knownOf(ctx, transactions);
  const violations = transactions.map(one => violationsOf(ctx, one, known, ''));
  const isInvalid = violations.some(one => one.length > 0);
  if (atomic && isInvalid) return violations.map((one, index) => resultOf(one.length ? invalidOf(one) : aborted(), index));
  const valid = transactions.filter((_, index) => violations[index]!.length === 0).map(one => postingOf(ctx, one));
  if (atomic && !isOneBatch(valid))
    fail('invalid_request', 'The batch is too large', {
      errors: [{ pointer: '/input/transactions', message: 'name at most 900 users, and wallets with transactions at most 1800' }],
    });
  const outcomes = valid.length ? await ledgerOf(ctx.host).post(valid, { atomic }) : [];
  let next = 0;
  return violations.map((one, index) => resultOf(one.length ? invalidOf(one) : outcomes[next++]!, index));
}
