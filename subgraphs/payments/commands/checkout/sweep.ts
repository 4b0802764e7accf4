import { LockMode } from '@mikro-orm/postgresql';
import { lockRow } from '../../../../runtime/data/rows.js';
import { loggedError } from '../../../../runtime/observe/log.js';
import type { Context } from '../../../../runtime/request/context.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { after } from '../../../../runtime/time/durations.js';
import { CheckoutSession } from '../../entities/checkout.js';
import { BillingSessionStatus as Status, CheckoutStep as Step } from '../../entities/enums-payment.js';
import { extendCash } from '../../ports/cash.js';
import { HOLD_MARGIN_MS, stepRetryMs } from '../../rules/checkout.js';
import { undoCheckout } from '../checkout-settlement.js';
import { drive } from './steps.js';

/** Goes on with a session that a timer has claimed; what a neighbour cannot answer is tried again later. Outside transactions. */
export async function goOn(ctx: Context, { id, stepTries }: CheckoutSession): Promise<void> {
  try {
    const refusal = await drive(ctx.host, id);
    if (refusal) await refused(ctx, id, refusal, stepTries);
  } catch (error) {
    ctx.log.warn({ err: loggedError(error), session: id }, 'a checkout could not go on; it is tried again');
    await tryLater(ctx, id, stepTries);
  }
}

const tryLater = ({ host }: Context, id: string, tries: number): Promise<void> =>
  host.transaction(async ctx => {
    const session = await lockRow(ctx, CheckoutSession, { id });
    if (session.stepDueAt !== null) session.stepDueAt = after(ctx.now(), stepRetryMs(tries));
  });

/** Nobody waits for the answer any more: what was refused for good is given up, and the customer may confirm with another method. */
async function refused(ctx: Context, id: string, { code }: Problem, tries: number): Promise<void> {
  if (code === 'unavailable') return tryLater(ctx, id, tries);
  await ctx.host.transaction(async own => {
    const session = await lockRow(own, CheckoutSession, { id });
    if (session.step === Step.NEW) Object.assign(session, { stepDueAt: null, paymentMethodId: null, version: session.version + 1 });
  });
}

/** Holds the cash of a session on, whose payment takes its time. What is held no more is asked for again when the money arrives. */
export async function extendHolds(ctx: Context, { id, cashReservationId }: CheckoutSession): Promise<void> {
  const hold = cashReservationId === null ? null : await extendCash(ctx.host, cashReservationId);
  await ctx.host.transaction(async own => {
    const session = await lockRow(own, CheckoutSession, { id });
    if (session.cashReservationId === cashReservationId) session.extendHoldsAt = hold && after(hold.expiresAt, -HOLD_MARGIN_MS);
  });
}

const BATCH = 100;

/** Sessions whose time is over are given up; one whose payment may still arrive waits for it. */
export async function expireSessions(ctx: Context, at: Date): Promise<void> {
  const where = {
    status: { $in: [Status.OPEN, Status.REQUIRES_ACTION] },
    step: { $nin: [Step.UNDOING, Step.DONE] },
    expiresAt: { $lte: at },
  };
  const due = await ctx.em.find(CheckoutSession, where, { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, limit: BATCH });
  for (const session of due) undoCheckout(ctx, session, Status.EXPIRED);
}
