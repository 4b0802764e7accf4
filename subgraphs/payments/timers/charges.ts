import { requireRow } from '../../../runtime/data/rows.js';
import { leasedRows } from '../../../runtime/time/leased-rows.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { MINUTE_MS, SECOND_MS } from '../../../runtime/time/durations.js';
import { resolveAttempt } from '../commands/attempt-resolution.js';
import { cancelAtProcessor } from '../commands/charge-cancelling.js';
import { expireAction } from '../commands/charge-expiry.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';

/** A payment whose page nobody came back from, or that nobody captured, is asked about again after so long. */
const LEASE_MS = 5 * MINUTE_MS;

const attempts = leasedRows({
  name: 'payments.attempts',
  everySeconds: 1,
  entity: PaymentAttempt,
  due: 'nextLookAt',
  waiting: "status in ('pending', 'unknown')",
  sets: 'looks = looks + 1',
  most: 20,
  leaseMs: 30 * SECOND_MS,
  work: async (ctx, attempt) => void (await resolveAttempt(ctx, attempt.id)),
});

const actions = leasedRows({
  name: 'payments.actions',
  everySeconds: 10,
  entity: Payment,
  due: 'nextActionExpiresAt',
  waiting: "status = 'requires_action' and not off_session",
  most: 20,
  leaseMs: LEASE_MS,
  work: (ctx, payment) => expireAction(ctx.host, payment.id),
});

const captures = leasedRows({
  name: 'payments.captures',
  everySeconds: 60,
  entity: Payment,
  due: 'captureBefore',
  waiting: "status = 'authorized'",
  most: 20,
  leaseMs: LEASE_MS,
  work: async (ctx, payment) => endAuthorization(ctx, payment.id),
});

/** What was authorized and not captured in time is voided; its session goes with it. */
async function endAuthorization(ctx: Context, paymentId: string): Promise<void> {
  const { checkoutSessionId } = await requireRow(ctx, Payment, { id: paymentId });
  if (checkoutSessionId !== null) return expireAction(ctx.host, paymentId);
  await cancelAtProcessor(ctx.host, paymentId);
}

export const charges: readonly Timer<Context>[] = [attempts, actions, captures];
