import { findRow, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { PayoutStatus as Status } from '../entities/enums-operations.js';
import { Payout } from '../entities/payout.js';
import type { ProcessorPayout, ProcessorResult } from '../ports/processor.js';
import { nextLookMs, PAYOUT_STATES, stepTo, type PayoutTrigger } from '../rules/payout.js';
import { after } from '../../../runtime/time/durations.js';

type Result = ProcessorResult<ProcessorPayout>;

/**
 * One step of a locked payout; the ledger follows, in its own time. It follows a payout without a reservation on its row, too: the processor
 * may tell of its end before the request that reserved has written down what it reserved, or without that request. @throws Problem conflict. Source: payments 3.7. */
export function takePayoutStep(ctx: Context, payout: Payout, trigger: PayoutTrigger, failureCode: string | null = null): void {
  payout.status = move(PAYOUT_STATES, 'payout', payout.status, trigger);
  payout.version += 1;
  if (trigger === 'pay') payout.paidAt = ctx.now();
  if (trigger === 'fail') payout.failureCode = failureCode;
  const isMoney = payout.status !== Status.IN_TRANSIT && payout.status !== Status.PENDING;
  if (isMoney) Object.assign(payout, { ledgerSettled: false, nextLookAt: ctx.now(), looks: 0 });
  ctx.audit(`payout.${trigger}`, payout.id, { status: payout.status, amount: payout.amountMinor, currency: payout.currency });
}

/** A declined payout that the processor has made is FAILED or CANCELLED there; one that it has not made failed. */
const reportedOf = (result: Result): ProcessorPayout['status'] | null =>
  result.status === 'unknown' ? null : (result.data?.status ?? (result.status === 'declined' ? Status.FAILED : null));

/** Applies what the processor says of a locked payout. @returns whether something changed. */
export function settlePayout(ctx: Context, payout: Payout, result: Result): boolean {
  const reported = reportedOf(result);
  if (result.status !== 'unknown' && result.data) {
    payout.processorRef ??= result.data.id;
    payout.arrivalDate = result.data.arrivalDate ?? payout.arrivalDate;
  }
  const trigger = reported && stepTo(payout.status, reported, payout.paidAt, ctx.now());
  if (!trigger) return false;
  takePayoutStep(ctx, payout, trigger, result.status === 'declined' ? result.decline.code : null);
  return true;
}

/** The payout that the processor speaks of. */
async function payoutOf(ctx: Context, { id, key }: ProcessorPayout): Promise<Payout | null> {
  return (await findRow(ctx, Payout, { id: key ?? '' })) ?? findRow(ctx, Payout, { processorRef: id });
}

/** Applies what was read after a call of the processor. @returns whether something changed; false for a payout that is not ours. */
export async function applyPayout(ctx: Context, result: Result): Promise<boolean> {
  const data = result.status === 'unknown' ? null : result.data;
  const known = data && (await payoutOf(ctx, data));
  return known ? settlePayout(ctx, await lockRow(ctx, Payout, { id: known.id }), result) : false;
}

/** Plans the next look at a payout that is under way. */
export function planLook(ctx: Context, payout: Payout): void {
  payout.nextLookAt = after(ctx.now(), nextLookMs(payout.looks));
  payout.looks += 1;
}
