import { findRow, lockRow } from '../../../runtime/data/rows.js';
import { actorOf, isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, Problem } from '../../../runtime/request/errors.js';
import { twoPhases } from '../../../runtime/request/two-phase.js';
import { after } from '../../../runtime/time/durations.js';
import { PayoutKind, PayoutStatus as Status } from '../entities/enums-operations.js';
import { Payout, PayoutDestination } from '../entities/payout.js';
import type { CreatePayoutInput } from '../inputs/payout.js';
import type { ProcessorPayout, ProcessorResult } from '../ports/processor.js';
import { processorOf } from '../ports/processors.js';
import { payoutNeedsApproval } from '../rules/approval.js';
import { APPROVE_WITHIN_MS } from '../rules/payout.js';
import { hold, send } from './payout-call.js';
import { planLook, settlePayout, takePayoutStep } from './payout-outcome.js';

/** `known`: an earlier request made it. `refused`: the wallet has less. `silent`: the books did not answer. */
type Outcome =
  | { readonly is: 'known' | 'refused' | 'silent' }
  | { readonly is: 'held'; readonly ledgerId: string; readonly sent: ProcessorResult<ProcessorPayout> | null };

async function requireDestination(ctx: Context, userId: string): Promise<PayoutDestination> {
  const destination = await findRow(ctx, PayoutDestination, { userId, processor: processorOf(ctx.host).name });
  return destination ?? fail('conflict', 'The user has no payout destination', { reason: 'no_payout_destination' });
}

/** @throws Problem conflict, reason `no_payout_destination`. */
async function draft(ctx: Context, { userId, amount, reference }: CreatePayoutInput): Promise<Payout> {
  if (amount.amount < 1) invalid('/input/amount/amount', 'must be at least 1');
  const destination = await requireDestination(ctx, userId.toLowerCase());
  const waits = isStaff(ctx.caller) && payoutNeedsApproval(amount.amount);
  return Object.assign(new Payout(), {
    kind: PayoutKind.DISBURSEMENT,
    userId: userId.toLowerCase(),
    amountMinor: amount.amount,
    currency: amount.currency,
    status: waits ? Status.REQUIRES_APPROVAL : Status.PENDING,
    destinationId: destination.id,
    destinationSummary: destination.summary,
    reference,
    processor: processorOf(ctx.host).name,
    requester: actorOf(ctx.caller),
    approveBefore: waits ? after(ctx.now(), APPROVE_WITHIN_MS) : null,
    createdAt: ctx.now(),
  });
}

/** Transaction 1. A reference that is known finds its payout. */
async function intend(ctx: Context, { input }: { input: CreatePayoutInput }): Promise<string> {
  const known = await findRow(ctx, Payout, { reference: input.reference });
  if (known) return known.id;
  const payout = await draft(ctx, input);
  planLook(ctx, payout);
  ctx.em.persist(payout);
  ctx.audit('payout.requested', payout.id, { amount: payout.amountMinor, currency: payout.currency, status: payout.status });
  return payout.id;
}

/** Reserves the money, then pays, unless somebody has to approve first. */
async function call(ctx: Context, { id }: { id: string }): Promise<Outcome> {
  const payout = await findRow(ctx, Payout, { id });
  if (!payout || payout.ledgerTransactionId !== null || payout.ledgerSettled) return { is: 'known' };
  try {
    const ledgerId = await hold(ctx, payout);
    if (ledgerId === null) return { is: 'refused' };
    return { is: 'held', ledgerId, sent: payout.status === Status.PENDING ? await send(ctx, payout) : null };
  } catch (error) {
    if (error instanceof Problem && error.code === 'unavailable') return { is: 'silent' };
    throw error;
  }
}

export const payment = twoPhases({ intend, call });

/** Transaction 2. What the wallet cannot pay was never asked for. */
export async function payoutMade(ctx: Context): Promise<Payout | Problem> {
  const { intent, outcome } = payment.of(ctx);
  const payout = await lockRow(ctx, Payout, { id: intent.id });
  if (outcome.is === 'silent') return new Problem('unavailable', 'The books cannot be reached right now', { retryAfter: 30 });
  if (outcome.is === 'refused' && payout.ledgerTransactionId === null) return refuse(ctx, payout);
  if (outcome.is !== 'held') ctx.status(200);
  else {
    payout.ledgerTransactionId ??= outcome.ledgerId;
    if (outcome.sent) settlePayout(ctx, payout, outcome.sent);
  }
  return payout;
}

function refuse(ctx: Context, payout: Payout): Problem {
  ctx.em.remove(payout);
  ctx.audit('payout.refused', payout.id, { reason: 'insufficient_funds' });
  return new Problem('conflict', 'The wallet has less than that', { reason: 'insufficient_funds' });
}

/** Another person than the one who asked. @throws Problem forbidden. Source: payments 3.7, 7.17. */
function requireOther(ctx: Context, payout: Payout): void {
  if (payout.requester === actorOf(ctx.caller))
    fail('forbidden', 'Whoever asks for a payout cannot decide on it', { reason: 'same_person' });
}

async function intendApproval(ctx: Context, { id }: { id: string }): Promise<string> {
  const payout = await lockRow(ctx, Payout, { id });
  requireOther(ctx, payout);
  takePayoutStep(ctx, payout, 'approve');
  Object.assign(payout, { approver: actorOf(ctx.caller), approveBefore: null });
  planLook(ctx, payout);
  return payout.id;
}

async function callApproved(ctx: Context, { id }: { id: string }): Promise<ProcessorResult<ProcessorPayout> | null> {
  const payout = await findRow(ctx, Payout, { id });
  const isHeld = payout?.status === Status.PENDING && payout.ledgerTransactionId !== null;
  return isHeld ? send(ctx, payout) : null; // without a reservation the sweep makes it first
}

export const approval = twoPhases({ intend: intendApproval, call: callApproved });

/** The approved payout, as the processor has it. */
export async function payoutApproved(ctx: Context): Promise<Payout> {
  const { intent, outcome } = approval.of(ctx);
  const payout = await lockRow(ctx, Payout, { id: intent.id });
  if (outcome) settlePayout(ctx, payout, outcome);
  return payout;
}

/** Says no; the money is free again. @throws Problem not_found, forbidden, conflict. */
export async function rejectPayout(ctx: Context, id: string): Promise<Payout> {
  const payout = await lockRow(ctx, Payout, { id });
  requireOther(ctx, payout);
  takePayoutStep(ctx, payout, 'reject');
  return payout;
}

async function intendCancel(ctx: Context, { id }: { id: string }): Promise<string> {
  const payout = await lockRow(ctx, Payout, { id });
  if (payout.status !== Status.REQUIRES_APPROVAL && payout.status !== Status.PENDING)
    fail('conflict', `A payout that is ${payout.status.replaceAll('_', ' ')} cannot be cancelled`);
  if (payout.status === Status.REQUIRES_APPROVAL) takePayoutStep(ctx, payout, 'cancel');
  else ctx.audit('payout.cancel_intended', payout.id);
  return payout.id;
}

/** One that the processor has not been told of is asked of it by its key first: the call may be on its way. */
async function callCancel(ctx: Context, { id }: { id: string }): Promise<ProcessorResult<ProcessorPayout> | null> {
  const payout = await findRow(ctx, Payout, { id });
  if (!payout || payout.status !== Status.PENDING) return null;
  const processor = processorOf(ctx.host);
  const asked = { idempotencyKey: `cancel:${id}`, clock: ctx.clock };
  if (payout.processorRef !== null) return processor.cancelPayout({ payoutId: payout.processorRef }, asked);
  const found = await processor.retrievePayout({ key: id, since: payout.createdAt }, asked);
  return found.status === 'unknown' || !found.data ? found : processor.cancelPayout({ payoutId: found.data.id }, asked);
}

export const cancellation = twoPhases({ intend: intendCancel, call: callCancel });

/** The payout, cancelled; or why it is too late. */
export async function payoutCancelled(ctx: Context): Promise<Payout | Problem> {
  const { intent, outcome } = cancellation.of(ctx);
  const payout = await lockRow(ctx, Payout, { id: intent.id });
  if (outcome?.status === 'unknown') return new Problem('unavailable', 'The processor did not answer', { retryAfter: 10 });
  if (outcome?.status === 'succeeded') settlePayout(ctx, payout, outcome);
  if (payout.status === Status.CANCELLED) return payout;
  return new Problem('conflict', `A payout that is ${payout.status.replaceAll('_', ' ')} cannot be cancelled`);
}
