import { requireRow } from '../../../../runtime/data/rows.js';
import type { Context } from '../../../../runtime/request/context.js';
import { Payment } from '../../entities/payment.js';
import { Refund } from '../../entities/refund.js';
import { processorOf } from '../../ports/processors.js';
import { RESOURCE_MISSING } from '../../rules/decline.js';
import { applyRefund, runRefund, type RefundResult } from './settle.js';

async function lookFor(ctx: Context, { id, processorRef, paymentId }: Refund): Promise<RefundResult> {
  const { processorRef: chargeId } = await requireRow(ctx, Payment, { id: paymentId! });
  const reference = processorRef ? { id: processorRef } : { key: id, chargeId: chargeId! };
  return processorOf(ctx.host).retrieveRefund(reference, { idempotencyKey: `look:${id}`, clock: ctx.clock });
}

const isMissing = (result: RefundResult): boolean => result.status === 'declined' && result.decline.code === RESOURCE_MISSING;

/** Finds out what became of a refund, and asks for it where the processor knows nothing of it; outside transactions. */
export async function resolveRefund(ctx: Context, id: string): Promise<void> {
  const refund = await requireRow(ctx, Refund, { id });
  if (refund.amountMinor === 0 || refund.toCash || refund.paymentId === null) return void (await runRefund(ctx.host, id));
  const found = await lookFor(ctx, refund);
  if (isMissing(found)) return void (await runRefund(ctx.host, id));
  await ctx.host.transaction(own => applyRefund(own, id, found));
}
