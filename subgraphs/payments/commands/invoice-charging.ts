import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { PaymentStatus } from '../entities/enums-payment.js';
import type { Payment } from '../entities/payment.js';
import { applyCharge, begunCharge, callCharge, type ChargeResult } from './charging.js';
import { openAttempt } from './invoice-payment.js';

/** An attempt with the processor's answer, which the second transaction writes. */
export interface Charged {
  attemptId: string;
  result: ChargeResult;
}

/** Makes the attempt that the first transaction has begun for an invoice; null where there is none. Outside transactions. */
export async function callInvoice(ctx: Context, invoiceId: string | null): Promise<Charged | null> {
  const attempt = invoiceId === null ? null : await openAttempt(ctx, invoiceId);
  return attempt && { attemptId: attempt.id, result: await callCharge(ctx, await begunCharge(ctx, attempt.id)) };
}

export const applyCharged = async (ctx: Context, charged: Charged | null): Promise<Payment | null> =>
  charged && applyCharge(ctx, charged.attemptId, charged.result);

/** The outcome of a declined charge, as its caller is told; null where it was not declined. */
export function declineOf(payment: Payment | null): Problem | null {
  const error = payment?.lastError;
  const isDeclined = payment && ![PaymentStatus.PROCESSING, PaymentStatus.SUCCEEDED, PaymentStatus.AUTHORIZED].includes(payment.status);
  if (!isDeclined || !error) return null;
  if (error.declineCode === 'processor_unreachable')
    return new Problem('unavailable', 'The processor cannot be reached right now', { retryAfter: 5 });
  const { declineCode, category, retryable } = error;
  const members = {
    declineCode,
    category: category.toUpperCase(),
    retryable,
    paymentId: payment.id,
    checkoutSessionId: payment.checkoutSessionId,
  };
  return new Problem('payment_declined', error.message, { members });
}
