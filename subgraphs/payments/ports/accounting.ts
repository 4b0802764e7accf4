import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';

const POST = stored('mutation PaymentsHoldPayout($input: PostLedgerTransactionInput!) { postLedgerTransaction(input: $input) { id } }');
const RESOLVE = stored(
  'mutation PaymentsResolvePayout($input: ResolvePendingLedgerTransactionInput!) { resolvePendingLedgerTransaction(input: $input) { id } }',
);
const RESOLVED = stored(
  'query PaymentsPayoutBooked($id: ID!) { ledgerTransaction(id: $id) { id resolvedBy { id kind reversedBy { id } } } }',
);
const REVERSE = stored(
  'mutation PaymentsReversePayout($input: ReverseLedgerTransactionInput!) { reverseLedgerTransaction(input: $input) { id } }',
);
const BOOKED = stored(`query PaymentsBookedCharges($from: DateTime!, $to: DateTime!, $after: String) {
  ledgerTransactions(sourceType: "payment.charged", from: $from, to: $to, first: 100, after: $after) {
    nodes { source { id } entries { direction amount { amount currency } } } pageInfo { endCursor hasNextPage }
  }
}`);

type Asker = Pick<ServiceHost, 'federation'>;

/** The debit of a payout; minor units. */
export interface PayoutDebit {
  readonly payoutId: string;
  readonly userId: string;
  readonly amount: number;
  readonly currency: string;
  /** Processor that pays. */
  readonly processor: string;
  readonly expiresAt: Date;
}

/** What a service that is not there answers: the gateway knows no such operation. */
const ABSENT: readonly string[] = ['unavailable', 'invalid_request'];

/** @throws Problem unavailable while accounting cannot be reached, or is no part of the supergraph; its own problems otherwise. */
async function ask<Data>({ federation }: Asker, document: StoredDocument, variables: Record<string, unknown>): Promise<Data> {
  try {
    return await federation.run<Data>(document, variables);
  } catch (error) {
    if (!(error instanceof Problem) || !ABSENT.includes(error.code)) throw error;
    throw new Problem('unavailable', 'The books cannot be reached right now', { retryAfter: 30, cause: error });
  }
}

const isConflict = (error: unknown, reason?: string): error is Problem =>
  error instanceof Problem && error.code === 'conflict' && (reason === undefined || error.options.reason === reason);

/**
 * Reserves the money of a payout in the books, so that it cannot be paid out twice; the same payout again finds its reservation.
 * @returns the pending transaction's id, null where the wallet has less. @throws Problem unavailable. Source: accounting 4, payments 3.7.
 */
export async function holdPayout(host: Asker, { payoutId, userId, processor, expiresAt, ...money }: PayoutDebit): Promise<string | null> {
  const currency = money.currency.toLowerCase();
  const input = {
    source: { service: 'payments', type: 'payout', id: payoutId },
    description: 'payout',
    userId,
    pending: true,
    expiresAt: expiresAt.toISOString(),
    entries: [
      { accountCode: `liabilities:wallet:earnings:${userId}:${currency}`, direction: 'DEBIT', amount: money, minAvailable: 0 },
      { accountCode: `assets:processor:${processor}:${currency}`, direction: 'CREDIT', amount: money },
    ],
    metadata: { payout_id: payoutId },
  };
  try {
    return (await ask<{ postLedgerTransaction: { id: string } }>(host, POST, { input })).postLedgerTransaction.id;
  } catch (error) {
    if (isConflict(error, 'insufficient_funds')) return null;
    throw error;
  }
}

interface Resolution {
  ledgerTransaction: { resolvedBy: { id: string; kind: string; reversedBy: { id: string } | null } | null } | null;
}

/** Posts the reservation of a payout that was paid, or gives it back; again: nothing. @returns id of the resolution. @throws Problem unavailable. */
export async function resolvePayout(host: Asker, pendingId: string, action: 'POST' | 'VOID'): Promise<string | null> {
  try {
    const input = { id: pendingId, action };
    return (await ask<{ resolvePendingLedgerTransaction: { id: string } }>(host, RESOLVE, { input })).resolvePendingLedgerTransaction.id;
  } catch (error) {
    if (!isConflict(error)) throw error;
    const { ledgerTransaction } = await ask<Resolution>(host, RESOLVED, { id: pendingId });
    return ledgerTransaction?.resolvedBy?.id ?? null;
  }
}

/** Books the return of a payout that had been paid; again: nothing. @throws Problem unavailable. */
export async function reversePayout(host: Asker, pendingId: string): Promise<void> {
  const { ledgerTransaction } = await ask<Resolution>(host, RESOLVED, { id: pendingId });
  const posted = ledgerTransaction?.resolvedBy;
  if (!posted || posted.kind !== 'POST_PENDING' || posted.reversedBy) return;
  const input = { id: posted.id, reason: 'returned by the bank', reasonCode: 'payout_returned' };
  await ask(host, REVERSE, { input }).catch(error => (isConflict(error) ? null : Promise.reject(error as Error)));
}

interface Page {
  ledgerTransactions: {
    nodes: { source: { id: string }; entries: { direction: string; amount: { amount: number; currency: string } }[] }[];
    pageInfo: { endCursor: string | null; hasNextPage: boolean };
  };
}

/** Charges in the books of a period: what was credited, by payment. Null where accounting is not there. */
export async function bookedCharges(host: Asker, from: Date, to: Date): Promise<ReadonlyMap<string, number> | null> {
  const booked = new Map<string, number>();
  let after: string | null = null;
  do {
    const page: Page | null = await ask<Page>(host, BOOKED, { from: from.toISOString(), to: to.toISOString(), after }).catch(() => null);
    if (page === null) return null;
    const { nodes, pageInfo }: Page['ledgerTransactions'] = page.ledgerTransactions;
    for (const { source, entries } of nodes) {
      const credits = entries.filter(one => one.direction === 'CREDIT');
      booked.set(
        source.id,
        credits.reduce((sum, one) => sum + one.amount.amount, 0),
      );
    }
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null);
  return booked;
}
