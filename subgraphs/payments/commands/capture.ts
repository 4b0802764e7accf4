import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { PaymentAttemptStatus, PaymentStatus } from '../entities/enums-payment.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import type { CapturePaymentInput } from '../inputs/payment.js';
import { processorOf } from '../ports/processors.js';
import { applyCharge, type ChargeResult } from './charging.js';
import { drive } from './checkout/steps.js';

const inWords = (status: PaymentStatus): string => status.replaceAll('_', ' ');
const NO_PAYMENT = 'No such payment';

/** Transaction 1 of a capture. @throws Problem not_found, conflict unless it is authorized, invalid_request for more than that. */
export async function beginCapture(ctx: Context, { id, amount }: CapturePaymentInput): Promise<Payment> {
  const payment = await lockRow(ctx, Payment, { id }, NO_PAYMENT);
  if (payment.status !== PaymentStatus.AUTHORIZED) fail('conflict', `a payment that is ${inWords(payment.status)} cannot be captured`);
  if (amount && amount.currency !== payment.currency) invalid('/input/amount/currency', `must be ${payment.currency}`);
  if (amount && (amount.amount < 1 || amount.amount > payment.amountMinor))
    invalid('/input/amount/amount', `must be between 1 and ${payment.amountMinor}`);
  ctx.audit('payment.capture_asked', payment.id, { amount: amount?.amount ?? payment.amountMinor, currency: payment.currency });
  return payment;
}

/** The attempt that holds the authorization. */
export const authorizedAttempt = async (ctx: Context, paymentId: string): Promise<PaymentAttempt | null> =>
  ctx.em.findOne(PaymentAttempt, { paymentId, status: PaymentAttemptStatus.AUTHORIZED }, { refresh: true });

/** Captures at the processor; outside transactions. Its answer is applied, and a session that waits for it goes on. */
export async function callCapture(host: ServiceHost, paymentId: string, amount: number | null): Promise<ChargeResult | null> {
  const [payment, attempt] = await host.read(async ctx => [
    await requireRow(ctx, Payment, { id: paymentId }),
    await authorizedAttempt(ctx, paymentId),
  ]);
  if (!attempt || payment.processorRef === null) return null;
  const call = { idempotencyKey: `capture:${attempt.id}`, clock: await host.read(async ctx => ctx.clock) };
  const money = { amount: amount ?? payment.amountMinor, currency: payment.currency };
  const result = await processorOf(host).capture({ chargeId: payment.processorRef, ...money }, call);
  const isCaptured = result.status === 'succeeded';
  if (isCaptured) await host.transaction(ctx => applyCharge(ctx, attempt.id, result));
  if (isCaptured && payment.checkoutSessionId !== null) await drive(host, payment.checkoutSessionId);
  return result;
}
