import { leasedRows } from '../../../runtime/time/leased-rows.js';
import { earliest } from '../../../runtime/time/due.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { expireSessions, extendHolds, goOn } from '../commands/checkout/sweep.js';
import { CheckoutSession } from '../entities/checkout.js';
import { STEP_LEASE_MS } from '../rules/checkout.js';

/** Sagas whose process went away, or that a neighbour made wait. Source: payments 5.3. */
const steps = leasedRows({
  name: 'payments.checkout_steps',
  everySeconds: 1,
  entity: CheckoutSession,
  due: 'stepDueAt',
  waiting: 'step_due_at is not null',
  sets: 'step_tries = step_tries + 1',
  most: 20,
  leaseMs: STEP_LEASE_MS,
  work: (ctx, session) => goOn(ctx, session),
});

const holds = leasedRows({
  name: 'payments.checkout_holds',
  everySeconds: 30,
  entity: CheckoutSession,
  due: 'extendHoldsAt',
  waiting: "extend_holds_at is not null and status in ('processing', 'requires_action')",
  most: 20,
  leaseMs: MINUTE_MS,
  work: (ctx, session) => extendHolds(ctx, session),
});

const NEXT_EXPIRY = `select min(expires_at) as at from payments.checkout_session
  where status in ('open', 'requires_action') and step not in ('undoing', 'done')`;

const expiry: Timer<Context> = {
  name: 'payments.checkout_expiry',
  everySeconds: 10,
  next: earliest(NEXT_EXPIRY),
  run: expireSessions,
};

export const checkouts: readonly Timer<Context>[] = [steps, holds, expiry];
