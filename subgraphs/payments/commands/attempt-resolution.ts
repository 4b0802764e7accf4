import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { BillingCustomer } from '../entities/customer.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import { processorOf } from '../ports/processors.js';
import { RESOURCE_MISSING } from '../rules/decline.js';
import { applyCharge, begunCharge, callCharge, type ChargeResult } from './charging.js';
import { drive } from './checkout/steps.js';

/** Processors keep a key so long; after that, what they do not know was never asked. */
const KEY_LIVES_MS = DAY_MS;

async function lookFor(ctx: Context, attempt: PaymentAttempt, payment: Payment): Promise<ChargeResult> {
  const { processorRef } = await requireRow(ctx, BillingCustomer, { id: payment.customerId! });
  const reference = attempt.processorRef
    ? { id: attempt.processorRef }
    : { key: attempt.id, customerId: processorRef!, since: attempt.startedAt };
  return processorOf(ctx.host).retrieveCharge(reference, { idempotencyKey: `look:${attempt.id}`, clock: ctx.clock });
}

const isMissing = (result: ChargeResult): boolean => result.status === 'declined' && result.decline.code === RESOURCE_MISSING;

/**
 * Finds out what became of an attempt; outside transactions. A charge that never arrived is made now: its key has one effect however often
 * it is sent, so that a call that is still on its way cannot charge twice. Source: payments 3.1, 7.2.
 */
export async function resolveAttempt(ctx: Context, attemptId: string): Promise<Payment> {
  const attempt = await requireRow(ctx, PaymentAttempt, { id: attemptId });
  const payment = await requireRow(ctx, Payment, { id: attempt.paymentId });
  const found = await lookFor(ctx, attempt, payment);
  const isNew = isMissing(found) && after(attempt.startedAt, KEY_LIVES_MS) > ctx.now();
  const result = isNew ? await callCharge(ctx, await begunCharge(ctx, attemptId)) : found;
  const now = await ctx.host.transaction(own => applyCharge(own, attemptId, result));
  if (now.checkoutSessionId !== null) await drive(ctx.host, now.checkoutSessionId);
  return now;
}
