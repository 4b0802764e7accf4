import type { ProcessorMoney, ProcessorRefund, ProcessorResult } from '../processor.js';
import { METHODS } from './methods.js';
import { book } from './money.js';
import { isOpen, preventedBy } from './disputes.js';
import { notify } from './notices.js';
import type { SandboxObject } from './objects.js';
import { declinedWith, nothingThere } from './outcomes.js';
import { idOf, type SandboxTransaction } from './store.js';

type Refund = SandboxObject<'refund'>;
type Result = ProcessorResult<ProcessorRefund>;

const shown = ({ id, key, data, createdAt }: Refund): ProcessorRefund => ({
  id,
  key,
  chargeId: data.chargeId,
  amount: data.amount,
  currency: data.currency,
  createdAt,
});

export function refundOutcome(refund: Refund): Result {
  const { status, code } = refund.data;
  return status === 'declined' ? declinedWith(code ?? 'refund_failed', shown(refund)) : { status, data: shown(refund) };
}

/** The money goes back. */
async function pay(tx: SandboxTransaction, refund: Refund): Promise<void> {
  refund.data.status = 'succeeded';
  tx.save(refund);
  const { chargeId, amount, currency } = refund.data;
  await book(tx, { kind: 'refund', sourceId: refund.id, chargeId, amount: -amount, currency });
}

/** It does not arrive; what had gone out comes back. */
async function bounce(tx: SandboxTransaction, refund: Refund, charge: SandboxObject<'charge'>): Promise<void> {
  const { status, amount, currency, chargeId } = refund.data;
  Object.assign(refund.data, { status: 'declined', code: 'refund_failed' });
  charge.data.refunded -= amount;
  tx.save(refund);
  tx.save(charge);
  if (status === 'succeeded') await book(tx, { kind: 'refund_failure', sourceId: refund.id, chargeId, amount, currency });
}

async function makeRefund(tx: SandboxTransaction, charge: SandboxObject<'charge'>, amount: number, key: string | null): Promise<Refund> {
  charge.data.refunded += amount;
  tx.save(charge);
  const name = key ?? `${charge.id}:external:${(await tx.below('refund', charge.id)).length}`;
  const data = { chargeId: charge.id, amount, currency: charge.data.currency, status: 'processing' as const, code: null };
  return tx.insert('refund', idOf('re', name), data, { ...(key !== null && { key }), parentId: charge.id });
}

const left = ({ data }: SandboxObject<'charge'>): number => data.captured - data.refunded;

/** Gives back a part of a charge; the same key finds the first refund. */
export async function refund(tx: SandboxTransaction, input: { chargeId: string } & ProcessorMoney, key: string): Promise<Result> {
  await tx.serialize(`refund:${key}`);
  const known = await tx.lock('refund', { key });
  if (known) return refundOutcome(known);
  const charge = await tx.lock('charge', { id: input.chargeId });
  if (!charge) return nothingThere();
  if (input.amount > left(charge) || input.currency !== charge.data.currency) return declinedWith('amount_too_large');
  const dispute = (await tx.below('dispute', charge.id)).find(isOpen);
  if (dispute?.data.fundsWithdrawn || input.amount > left(charge) - (await tx.disputedOf(charge.id)))
    return declinedWith('charge_disputed');
  const made = await makeRefund(tx, charge, input.amount, key);
  const how = METHODS[charge.data.token]?.behaviour.refund;
  if (how === 'fails') await bounce(tx, made, charge);
  else if (how !== 'pends') await pay(tx, made);
  await notify(tx, 'refund.updated', 'refund', made.id, charge.id);
  if (dispute) await preventedBy(tx, dispute, input.amount);
  return refundOutcome(made);
}

/** A refund made in the processor's own dashboard. */
export async function externalRefund(tx: SandboxTransaction, charge: SandboxObject<'charge'>, amount: number | null): Promise<boolean> {
  const most = left(charge) - (await tx.disputedOf(charge.id)); // what the issuer has taken back cannot go back again
  const wanted = amount ?? most;
  if (wanted <= 0 || wanted > most) return false;
  const made = await makeRefund(tx, charge, wanted, null);
  await pay(tx, made);
  await notify(tx, 'refund.created', 'refund', made.id, charge.id);
  const dispute = (await tx.below('dispute', charge.id)).find(isOpen);
  if (dispute && !dispute.data.fundsWithdrawn) await preventedBy(tx, dispute, wanted);
  return true;
}

/** A pending refund arrives; with `amount` 0 it fails, also one that had succeeded. */
export async function settleRefund(tx: SandboxTransaction, charge: SandboxObject<'charge'>, amount: number | null): Promise<boolean> {
  const wanted = amount === 0 ? ['processing', 'succeeded'] : ['processing'];
  const found = (await tx.below('refund', charge.id)).filter(one => wanted.includes(one.data.status)).at(-1);
  if (!found) return false;
  await (amount === 0 ? bounce(tx, found, charge) : pay(tx, found));
  await notify(tx, 'refund.updated', 'refund', found.id, charge.id);
  return true;
}

export async function retrieveRefund(tx: SandboxTransaction, reference: { id: string } | { key: string }): Promise<Result> {
  const found = await tx.look('refund', reference);
  return found ? refundOutcome(found) : nothingThere();
}
