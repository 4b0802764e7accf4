import { paymentDisputeClosed, paymentDisputeCreated } from '../../../events/catalogue/payments.js';
import { findRow, FOR_UPDATE, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { Dispute } from '../entities/dispute.js';
import { DisputeStatus as Status } from '../entities/enums-operations.js';
import type { PaymentProcessor } from '../entities/enums-payment.js';
import { Payment } from '../entities/payment.js';
import type { ProcessorDispute } from '../ports/processor.js';
import { obligationFacts } from '../queries/obligation-facts.js';
import { DISPUTE_STATES, isInquiry, isOpen, openedAs, outcomeOf, stepsTo, type DisputeTrigger } from '../rules/dispute.js';

/** Place in the list of what has no deadline: behind all others. */
const NEVER = new Date('9999-12-31T00:00:00.000Z');

/** Rows of a dispute, both locked. */
interface Rows {
  dispute: Dispute;
  payment: Payment;
}

async function factsOf(ctx: Context, { dispute, payment }: Rows) {
  return {
    dispute_id: dispute.id,
    payment_id: payment.id,
    amount: dispute.amountMinor,
    fee_amount: dispute.feeMinor,
    currency: dispute.currency,
    reason: dispute.reason,
    status: dispute.status,
    order_id: payment.orderId,
    invoice_id: payment.invoiceId,
    subscription_id: payment.subscriptionId,
    ...(await obligationFacts(ctx, payment)),
  };
}

async function tellOpened(ctx: Context, rows: Rows): Promise<void> {
  const data = { ...(await factsOf(ctx, rows)), evidence_due_at: rows.dispute.evidenceDueAt?.toISOString() ?? null };
  ctx.emit(paymentDisputeCreated, data, { userId: rows.payment.userId });
}

async function tellClosed(ctx: Context, rows: Rows): Promise<void> {
  const outcome = outcomeOf(rows.dispute.status)!;
  ctx.emit(paymentDisputeClosed, { ...(await factsOf(ctx, rows)), outcome }, { userId: rows.payment.userId });
}

/** The bank takes the money: it counts against the payment, no more of it than had not gone back before. Source: payments 7.3. */
function withdraw({ dispute, payment }: Rows): void {
  dispute.countedMinor = Math.min(dispute.amountMinor, payment.refundableMinor);
  dispute.fundsWithdrawn = true;
  payment.amountDisputedMinor += dispute.countedMinor;
  payment.version += 1;
}

function giveBack({ dispute, payment }: Rows): void {
  payment.amountDisputedMinor -= dispute.countedMinor;
  payment.version += 1;
  Object.assign(dispute, { countedMinor: 0, fundsWithdrawn: false });
}

const GIVES_BACK: readonly Status[] = [Status.WON, Status.PREVENTED];

/** One step of a dispute, with all that follows. @throws Problem conflict for a step that its state does not allow. Source: payments 3.6. */
export async function takeDisputeStep(ctx: Context, rows: Rows, trigger: DisputeTrigger): Promise<void> {
  const { dispute } = rows;
  dispute.status = move(DISPUTE_STATES, 'dispute', dispute.status, trigger);
  dispute.version += 1;
  ctx.audit(`dispute.${trigger}`, dispute.id, { payment_id: dispute.paymentId, status: dispute.status });
  if (trigger === 'submit_evidence') dispute.evidenceSubmittedAt ??= ctx.now();
  if (trigger === 'escalate') withdraw(rows);
  if (trigger === 'escalate') await tellOpened(ctx, rows);
  if (isOpen(dispute.status)) return;
  if (GIVES_BACK.includes(dispute.status)) giveBack(rows);
  dispute.closedAt = ctx.now();
  await tellClosed(ctx, rows);
}

async function open(ctx: Context, payment: Payment, reported: ProcessorDispute, processor: PaymentProcessor): Promise<Dispute> {
  const dispute = Object.assign(new Dispute(), {
    paymentId: payment.id,
    userId: payment.userId,
    processor,
    processorRef: reported.id,
    amountMinor: reported.amount,
    feeMinor: reported.fee,
    currency: reported.currency,
    status: openedAs(reported.status, reported.fundsWithdrawn),
    reason: reported.reason,
    evidenceDueAt: reported.evidenceDueAt,
    listedAt: reported.evidenceDueAt ?? NEVER,
    openedAt: reported.openedAt,
    createdAt: ctx.now(),
  });
  if (!isInquiry(dispute.status)) withdraw({ dispute, payment });
  ctx.em.persist(dispute);
  ctx.audit('dispute.opened', dispute.id, { payment_id: payment.id, status: dispute.status, amount: dispute.amountMinor });
  await tellOpened(ctx, { dispute, payment });
  return dispute;
}

/**
 * Brings a dispute to where the processor says it is, by the steps that lie between; what lies behind is no news.
 * @returns whether something changed; false too for a dispute of a charge that is not ours.
 */
export async function applyDispute(ctx: Context, processor: PaymentProcessor, reported: ProcessorDispute): Promise<boolean> {
  const known = await findRow(ctx, Payment, { processor, processorRef: reported.chargeId });
  if (!known) return false;
  const payment = await lockRow(ctx, Payment, { id: known.id });
  const found = await findRow(ctx, Dispute, { processor, processorRef: reported.id }, { ...FOR_UPDATE, refresh: true });
  const dispute = found ?? (await open(ctx, payment, reported, processor));
  if (reported.fee !== null) dispute.feeMinor = reported.fee;
  const steps = stepsTo(dispute.status, reported.status) ?? [];
  for (const trigger of steps) await takeDisputeStep(ctx, { dispute, payment }, trigger);
  return found === null || steps.length > 0;
}

/** Locks a dispute with its payment, in the order of all locks. @throws Problem not_found. */
export async function lockDispute(ctx: Context, id: string): Promise<Rows> {
  const known = await lockPaymentOf(ctx, id);
  return { dispute: await lockRow(ctx, Dispute, { id }), payment: known };
}

async function lockPaymentOf(ctx: Context, id: string): Promise<Payment> {
  const dispute = await findRow(ctx, Dispute, { id });
  return lockRow(ctx, Payment, { id: dispute?.paymentId ?? '' });
}

/** Whoever does not answer in time has lost. One dispute whose evidence was due at `at`. Source: payments 3.6. */
export async function missDeadlines(ctx: Context, at: Date): Promise<void> {
  const late = await ctx.em.find(
    Dispute,
    { status: Status.NEEDS_RESPONSE, evidenceDueAt: { $lte: at } },
    { limit: 50, orderBy: { paymentId: 'asc' } },
  );
  for (const { id } of late) {
    const rows = await lockDispute(ctx, id);
    if (rows.dispute.status === Status.NEEDS_RESPONSE) await takeDisputeStep(ctx, rows, 'miss_deadline');
  }
}
