import { findRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import type { ProcessorCall, ProcessorCharge, ProcessorNotice, ProcessorResult } from '../ports/processor.js';
import { processorOf } from '../ports/processors.js';
import { RESOURCE_MISSING } from '../rules/decline.js';
import { applyCharge } from './charging.js';
import { drive } from './checkout/steps.js';
import { isDecided, wasDecided } from './charge-outcome.js';
import { applyDispute } from './dispute.js';
import { applyPayout } from './payout-outcome.js';
import { applyRefundNotice } from './refund-notice.js';

/** The processor did not say what became of the object. */
export class ProcessorSilent extends Error {
  override name = 'ProcessorSilent';
}

/** Applies what was read, under the row's lock; whether something changed. */
export type Apply = (ctx: Context) => Promise<boolean>;
type Object = NonNullable<ProcessorNotice['object']>;

const isMissing = (result: ProcessorResult<unknown>): boolean => result.status === 'declined' && result.decline.code === RESOURCE_MISSING;

/** The attempt that a charge belongs to: it made it, or has it. */
async function attemptOf(ctx: Context, charge: ProcessorCharge): Promise<PaymentAttempt | null> {
  return (await findRow(ctx, PaymentAttempt, { id: charge.key ?? '' })) ?? findRow(ctx, PaymentAttempt, { processorRef: charge.id });
}

/** A charge that is not ours is no error: reconciliation reports it. */
async function applyChargeNotice(ctx: Context, result: ProcessorResult<ProcessorCharge>): Promise<boolean> {
  const data = result.status === 'unknown' ? null : result.data;
  const attempt = data && (await attemptOf(ctx, data));
  if (!attempt) return false;
  const before = await requireRow(ctx, Payment, { id: attempt.paymentId });
  const { version, checkoutSessionId } = before;
  const payment = isDecided(attempt, before) ? before : await applyCharge(ctx, attempt.id, result);
  if (checkoutSessionId !== null) ctx.afterCommit(async () => void (await drive(ctx.host, checkoutSessionId)));
  return payment.version !== version;
}

/**
 * Reads an object of the processor again, outside any transaction. @returns null where it tells nothing new: most calls come for an attempt
 * that the answer to its charge has decided, which never changes. @throws ProcessorSilent where it gives no answer. */
export async function reread(host: ServiceHost, { kind, id }: Object): Promise<Apply | null> {
  const processor = processorOf(host);
  const call: ProcessorCall = await host.read(async ({ clock }) => ({ idempotencyKey: `read:${kind}:${id}`, clock }));
  switch (kind) {
    case 'charge': {
      const result = await answered(processor.retrieveCharge({ id }, call));
      const key = result.status === 'unknown' ? null : result.data?.key;
      return key && (await host.read(ctx => wasDecided(ctx, key))) ? null : ctx => applyChargeNotice(ctx, result);
    }
    case 'refund': {
      const result = await answered(processor.retrieveRefund({ id }, call));
      return ctx => applyRefundNotice(ctx, result);
    }
    case 'dispute': {
      const result = await answered(processor.retrieveDispute({ id }, call));
      return async ctx => result.status === 'succeeded' && applyDispute(ctx, processor.name, result.data);
    }
    case 'payout': {
      const result = await answered(processor.retrievePayout({ id }, call));
      return ctx => applyPayout(ctx, result);
    }
  }
}

async function answered<Data>(asked: Promise<ProcessorResult<Data>>): Promise<ProcessorResult<Data>> {
  const result = await asked;
  if (result.status === 'unknown') throw new ProcessorSilent('processor_unavailable');
  if (isMissing(result)) throw new ProcessorSilent('processor_object_missing');
  return result;
}
