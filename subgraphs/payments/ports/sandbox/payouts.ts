import { PayoutStatus } from '../../entities/enums-operations.js';
import type { ProcessorMoney, ProcessorPayout, ProcessorResult } from '../processor.js';
import { DESTINATIONS } from './methods.js';
import { book } from './money.js';
import { CHANGE_DELAY_MS, inMs, notify } from './notices.js';
import type { PayoutData, SandboxObject } from './objects.js';
import { declinedWith, nothingThere } from './outcomes.js';
import { idOf, type SandboxTransaction } from './store.js';

type Payout = SandboxObject<'payout'>;
type Result = ProcessorResult<ProcessorPayout>;

const { PENDING, IN_TRANSIT, PAID, FAILED, CANCELLED } = PayoutStatus;
const DAYS_MS = 2 * 86_400_000;

const shown = ({ id, key, data, createdAt }: Payout): ProcessorPayout => ({
  id,
  key,
  amount: data.amount,
  currency: data.currency,
  status: data.status,
  arrivalDate: new Date(createdAt.getTime() + DAYS_MS).toISOString().slice(0, 10),
  createdAt,
});

function payoutOutcome(payout: Payout): Result {
  const { status, code } = payout.data;
  if (status === FAILED || status === CANCELLED) return declinedWith(code ?? `payout_${status}`, shown(payout));
  return { status: status === PAID ? 'succeeded' : 'processing', data: shown(payout) };
}

export async function describeDestination(
  _tx: SandboxTransaction,
  { token }: { token: string },
): Promise<ProcessorResult<{ summary: string }>> {
  const known = Object.hasOwn(DESTINATIONS, token) ? DESTINATIONS[token] : undefined;
  return known ? { status: 'succeeded', data: { summary: known.summary } } : nothingThere();
}

/** Sends money to a bank account, for which it takes a second; the same key finds the first payout. */
export async function createPayout(tx: SandboxTransaction, input: { destination: string } & ProcessorMoney, key: string): Promise<Result> {
  await tx.serialize(`payout:${key}`);
  const known = await tx.lock('payout', { key });
  if (known) return payoutOutcome(known);
  if (!Object.hasOwn(DESTINATIONS, input.destination)) return nothingThere();
  const { destination, amount, currency } = input;
  const data: PayoutData = { destination, amount, currency, status: PENDING, code: null };
  const made = tx.insert('payout', idOf('po', key), data, { key, dueAt: inMs(CHANGE_DELAY_MS) });
  await book(tx, { kind: 'payout', sourceId: made.id, chargeId: null, amount: -amount, currency });
  return payoutOutcome(made);
}

const told = (tx: SandboxTransaction, { id, data }: Payout): Promise<void> => notify(tx, `payout.${data.status}`, 'payout', id, id);

/** The money comes back. */
async function fail(tx: SandboxTransaction, payout: Payout, status: typeof FAILED | typeof CANCELLED, code: string): Promise<void> {
  payout.dueAt = null;
  Object.assign(payout.data, { status, code });
  tx.save(payout);
  const { amount, currency } = payout.data;
  await book(tx, { kind: 'payout_failure', sourceId: payout.id, chargeId: null, amount, currency });
  await told(tx, payout);
}

/** A payout arrives, or does not. */
export async function maturePayout(tx: SandboxTransaction, payout: Payout): Promise<void> {
  if (!DESTINATIONS[payout.data.destination]!.isPaid) return fail(tx, payout, FAILED, 'account_closed');
  payout.dueAt = null;
  payout.data.status = PAID;
  tx.save(payout);
  await told(tx, payout);
}

/** The bank returns it, also after it had arrived. */
export async function failPayout(tx: SandboxTransaction, payout: Payout): Promise<boolean> {
  if (![PENDING, IN_TRANSIT, PAID].includes(payout.data.status)) return false;
  await fail(tx, payout, FAILED, 'returned_by_bank');
  return true;
}

export async function cancelPayout(tx: SandboxTransaction, { payoutId }: { payoutId: string }): Promise<Result> {
  const payout = await tx.lock('payout', { id: payoutId });
  if (!payout) return nothingThere();
  if (payout.data.status === PENDING) await fail(tx, payout, CANCELLED, 'payout_cancelled');
  return payout.data.status === CANCELLED
    ? { status: 'succeeded', data: shown(payout) }
    : declinedWith('payout_not_cancellable', shown(payout));
}

export async function retrievePayout(tx: SandboxTransaction, reference: { id: string } | { key: string }): Promise<Result> {
  const payout = await tx.look('payout', reference);
  return payout ? payoutOutcome(payout) : nothingThere();
}
