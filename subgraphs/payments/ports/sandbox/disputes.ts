import { DisputeReason, DisputeStatus } from '../../entities/enums-operations.js';
import type { ProcessorDispute, ProcessorResult } from '../processor.js';
import { book, DISPUTE_FEE } from './money.js';
import { inMs, notify } from './notices.js';
import type { SandboxObject } from './objects.js';
import { declinedWith, nothingThere } from './outcomes.js';
import { idOf, type SandboxTransaction } from './store.js';

type Dispute = SandboxObject<'dispute'>;
type Charge = SandboxObject<'charge'>;
type Result = ProcessorResult<ProcessorDispute>;

/** Until evidence must be there, ms. */
const EVIDENCE_MS = 7 * 86_400_000;

const { WARNING_NEEDS_RESPONSE, WARNING_UNDER_REVIEW, WARNING_CLOSED, NEEDS_RESPONSE, UNDER_REVIEW, WON, LOST, PREVENTED } = DisputeStatus;
const WARNINGS: readonly DisputeStatus[] = [WARNING_NEEDS_RESPONSE, WARNING_UNDER_REVIEW];
const CHARGEBACKS: readonly DisputeStatus[] = [NEEDS_RESPONSE, UNDER_REVIEW];

export const isOpen = ({ data, dueAt }: Dispute): boolean => dueAt === null && [...WARNINGS, ...CHARGEBACKS].includes(data.status);

/** Whoever does not answer in time has lost. */
const statusAt = ({ data }: Dispute, now: Date): DisputeStatus =>
  data.status === NEEDS_RESPONSE && new Date(data.evidenceDueAt) <= now ? LOST : data.status;

const shown = (dispute: Dispute, now: Date): ProcessorDispute => ({
  id: dispute.id,
  chargeId: dispute.data.chargeId,
  amount: dispute.data.amount,
  currency: dispute.data.currency,
  fee: dispute.data.fundsWithdrawn ? dispute.data.fee : null,
  status: statusAt(dispute, now),
  reason: dispute.data.reason,
  evidenceDueAt: new Date(dispute.data.evidenceDueAt),
  fundsWithdrawn: dispute.data.fundsWithdrawn,
  openedAt: dispute.createdAt,
});

async function withdraw(tx: SandboxTransaction, dispute: Dispute): Promise<void> {
  Object.assign(dispute.data, { status: NEEDS_RESPONSE, fundsWithdrawn: true, fee: DISPUTE_FEE });
  tx.save(dispute);
  const { chargeId, amount, currency } = dispute.data;
  await book(tx, { kind: 'dispute', sourceId: dispute.id, chargeId, amount: -amount, currency, fee: DISPUTE_FEE });
}

interface Opening {
  reason: DisputeReason;
  isInquiry: boolean;
  amount?: number;
  /** It shows after so long. */
  delayMs?: number;
}

/** The cardholder complains: about what is left of the charge, or a part. */
export async function openDispute(tx: SandboxTransaction, charge: Charge, { reason, isInquiry, amount, delayMs }: Opening): Promise<void> {
  const number = (await tx.below('dispute', charge.id)).length;
  const data = {
    chargeId: charge.id,
    amount: amount ?? charge.data.captured - charge.data.refunded,
    currency: charge.data.currency,
    fee: 0,
    status: isInquiry ? WARNING_NEEDS_RESPONSE : NEEDS_RESPONSE,
    reason,
    evidenceDueAt: new Date(tx.now.getTime() + EVIDENCE_MS).toISOString(),
    fundsWithdrawn: false,
  };
  const dispute = tx.insert('dispute', idOf('dp', `${charge.id}:${number}`), data, {
    parentId: charge.id,
    dueAt: delayMs ? inMs(delayMs) : null,
  });
  if (!delayMs) await show(tx, dispute);
}

/** What the cardholder can still complain about; refunds may have come first. */
async function leftOf(tx: SandboxTransaction, { data }: Dispute): Promise<number> {
  const charge = await tx.peek('charge', data.chargeId); // whoever refunds locks the charge before the dispute, so it is not locked here
  return charge ? charge.data.captured - charge.data.refunded - (await tx.disputedOf(data.chargeId)) : 0;
}

/** A dispute becomes visible. */
export async function show(tx: SandboxTransaction, dispute: Dispute): Promise<void> {
  dispute.dueAt = null;
  const left = await leftOf(tx, dispute);
  if (left <= 0) dispute.data.status = PREVENTED;
  else dispute.data.amount = Math.min(dispute.data.amount, left);
  tx.save(dispute);
  if (left <= 0) return;
  if (dispute.data.status === NEEDS_RESPONSE) await withdraw(tx, dispute);
  await told(tx, dispute, 'created');
}

const told = (tx: SandboxTransaction, { id, data }: Dispute, what: string): Promise<void> =>
  notify(tx, `dispute.${what}`, 'dispute', id, data.chargeId);

async function end(tx: SandboxTransaction, dispute: Dispute, status: DisputeStatus): Promise<void> {
  dispute.data.status = status;
  tx.save(dispute);
  const { chargeId, amount, currency } = dispute.data;
  if (status === WON) await book(tx, { kind: 'dispute_reversal', sourceId: dispute.id, chargeId, amount, currency });
  await told(tx, dispute, 'closed');
}

/** A refund of the whole amount ends an inquiry before it becomes a chargeback. */
export async function preventedBy(tx: SandboxTransaction, dispute: Dispute, refunded: number): Promise<void> {
  if (refunded >= dispute.data.amount) await end(tx, dispute, PREVENTED);
}

const openOf = async (tx: SandboxTransaction, charge: Charge): Promise<Dispute | undefined> =>
  (await tx.below('dispute', charge.id)).find(one => isOpen(one) && CHARGEBACKS.concat(WARNINGS).includes(statusAt(one, tx.now)));

/** Opens a dispute, or makes a chargeback of an inquiry. */
export async function openOrEscalate(tx: SandboxTransaction, charge: Charge, amount: number | null): Promise<boolean> {
  const dispute = await openOf(tx, charge);
  if (dispute && !WARNINGS.includes(dispute.data.status)) return false;
  if (dispute) await withdraw(tx, dispute);
  if (dispute) await told(tx, dispute, 'updated');
  if (!dispute) await openDispute(tx, charge, { reason: DisputeReason.FRAUDULENT, isInquiry: false, ...(amount !== null && { amount }) });
  return true;
}

/** The issuer decides; an inquiry that is won is closed, and cannot be lost. */
export async function decide(tx: SandboxTransaction, charge: Charge, isWon: boolean): Promise<boolean> {
  const dispute = await openOf(tx, charge);
  const isWarning = dispute !== undefined && WARNINGS.includes(dispute.data.status);
  if (!dispute || (isWarning && !isWon)) return false;
  const won = isWarning ? WARNING_CLOSED : WON;
  await end(tx, dispute, isWon ? won : LOST);
  return true;
}

export async function submitEvidence(tx: SandboxTransaction, { disputeId }: { disputeId: string }): Promise<Result> {
  const dispute = await tx.lock('dispute', { id: disputeId });
  if (!dispute) return nothingThere();
  const next = { [WARNING_NEEDS_RESPONSE]: WARNING_UNDER_REVIEW, [NEEDS_RESPONSE]: UNDER_REVIEW }[statusAt(dispute, tx.now) as string];
  if (next) {
    dispute.data.status = next;
    tx.save(dispute);
    await told(tx, dispute, 'updated');
  }
  const isDone = [WARNING_UNDER_REVIEW, UNDER_REVIEW].includes(dispute.data.status);
  return isDone ? { status: 'succeeded', data: shown(dispute, tx.now) } : declinedWith('dispute_closed', shown(dispute, tx.now));
}

export async function acceptDispute(tx: SandboxTransaction, { disputeId }: { disputeId: string }): Promise<Result> {
  const dispute = await tx.lock('dispute', { id: disputeId });
  if (!dispute) return nothingThere();
  if (CHARGEBACKS.includes(dispute.data.status)) await end(tx, dispute, LOST);
  const isDone = dispute.data.status === LOST;
  return isDone ? { status: 'succeeded', data: shown(dispute, tx.now) } : declinedWith('dispute_closed', shown(dispute, tx.now));
}

export async function retrieveDispute(tx: SandboxTransaction, { id }: { id: string }): Promise<Result> {
  const dispute = await tx.lock('dispute', { id });
  return dispute && dispute.dueAt === null ? { status: 'succeeded', data: shown(dispute, tx.now) } : nothingThere();
}
