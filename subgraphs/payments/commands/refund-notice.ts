import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { Dispute } from '../entities/dispute.js';
import { DisputeStatus } from '../entities/enums-operations.js';
import { RefundOrigin, RefundReason } from '../entities/enums-payment.js';
import { Payment } from '../entities/payment.js';
import { Refund } from '../entities/refund.js';
import type { ProcessorRefund, ProcessorResult } from '../ports/processor.js';
import { processorOf } from '../ports/processors.js';
import { beginRefund } from './refund/create.js';
import { applyRefund, type RefundResult } from './refund/settle.js';

type Result = ProcessorResult<ProcessorRefund>;

/** The refund that the processor speaks of: its key is our id, or we have its own. */
async function refundOf(ctx: Context, { key, id }: ProcessorRefund): Promise<Refund | null> {
  const processor = processorOf(ctx.host).name;
  return (await findRow(ctx, Refund, { id: key ?? '' })) ?? findRow(ctx, Refund, { processor, processorRef: id });
}

const INQUIRIES = { $in: [DisputeStatus.WARNING_NEEDS_RESPONSE, DisputeStatus.WARNING_UNDER_REVIEW, DisputeStatus.PREVENTED] };

/** Made in the processor's own dashboard, or by it, to keep an inquiry from becoming a chargeback. */
async function originOf(ctx: Context, { id: paymentId }: Payment): Promise<RefundOrigin> {
  const inquiry = await ctx.em.findOne(Dispute, { paymentId, status: INQUIRIES });
  return inquiry ? RefundOrigin.DISPUTE_PREVENTION : RefundOrigin.EXTERNAL;
}

interface Made {
  paymentId: string;
  amount: number;
  currency: string;
  origin: RefundOrigin;
}

/** Writes down a refund that others have made; it settles with it what cash and credit had paid. */
async function record(ctx: Context, { paymentId, amount, currency, origin }: Made, result: RefundResult): Promise<Refund> {
  const refund = await beginRefund(ctx, { paymentId, amount: { amount, currency }, reason: RefundReason.OTHER });
  refund.origin = origin;
  await ctx.em.flush();
  return applyRefund(ctx, refund.id, result);
}

/** What the processor says of a refund: ours, or one that was made in its own dashboard. @returns whether something changed. */
export async function applyRefundNotice(ctx: Context, result: Result): Promise<boolean> {
  const data = result.status === 'unknown' ? null : result.data;
  if (!data) return false;
  const known = await refundOf(ctx, data);
  if (known) {
    const before = known.status;
    return (await applyRefund(ctx, known.id, result)).status !== before;
  }
  const payment = await findRow(ctx, Payment, { processor: processorOf(ctx.host).name, processorRef: data.chargeId });
  if (!payment || result.status !== 'succeeded') return false;
  await record(ctx, { paymentId: payment.id, amount: data.amount, currency: data.currency, origin: await originOf(ctx, payment) }, result);
  return true;
}

/** Brings what went back of a mirrored charge to what the partner says. @param total all that has gone back so far, minor units. */
export async function mirrorRefund(ctx: Context, payment: Payment, total: number): Promise<void> {
  await ctx.em.flush();
  const amount = Math.min(total - payment.amountRefundedMinor, payment.refundableMinor);
  if (amount <= 0) return;
  const { id: paymentId, currency } = payment;
  await record(ctx, { paymentId, amount, currency, origin: RefundOrigin.EXTERNAL }, { status: 'succeeded', data: null });
}
