import { LockMode } from '@mikro-orm/postgresql';
import { lockRow, requireRow } from '../../../../runtime/data/rows.js';
import { actorOf } from '../../../../runtime/request/caller.js';
import type { Context } from '../../../../runtime/request/context.js';
import { fail } from '../../../../runtime/request/errors.js';
import { move } from '../../../../runtime/request/states.js';
import { after } from '../../../../runtime/time/durations.js';
import { RefundStatus } from '../../entities/enums-payment.js';
import { Refund } from '../../entities/refund.js';
import { ATTEMPT_LEASE_MS } from '../../rules/payment-states.js';
import { REFUND_STATES } from '../../rules/refund.js';
import { unreserve } from './create.js';
import { groundOfPayment, groundOfSession } from './ground.js';

const NO_REFUND = 'No such refund';

/** The person of an actor, whatever kind of token they hold. */
const personOf = (actor: string): string => actor.slice(actor.indexOf(':') + 1);

/** @throws Problem forbidden for whoever asked for it: two people have to agree. Source: payments 3.2, 7.17. */
function requireOther(ctx: Context, { requester }: Refund): void {
  if (personOf(requester) === personOf(actorOf(ctx.caller))) fail('forbidden', 'Another person has to approve this refund');
}

/** Transaction 1 of an approval: the processor is asked next. @throws Problem not_found, forbidden, conflict. */
export async function approve(ctx: Context, id: string): Promise<Refund> {
  const refund = await lockRow(ctx, Refund, { id }, NO_REFUND);
  if (refund.status === RefundStatus.REQUIRES_APPROVAL) requireOther(ctx, refund);
  refund.status = move(REFUND_STATES, 'refund', refund.status, 'approve');
  Object.assign(refund, { approver: actorOf(ctx.caller), approveBefore: null, nextLookAt: after(ctx.now(), ATTEMPT_LEASE_MS) });
  refund.version += 1;
  ctx.audit('refund.approved', refund.id, { requested_by: refund.requester });
  return refund;
}

/** What nobody approves does not go back; what it reserved is free again. @throws Problem not_found, conflict. */
export async function reject(ctx: Context, id: string): Promise<Refund> {
  const { paymentId, checkoutSessionId } = await requireRow(ctx, Refund, { id }, NO_REFUND);
  const ground = paymentId !== null ? await groundOfPayment(ctx, paymentId) : await groundOfSession(ctx, checkoutSessionId!);
  const refund = await lockRow(ctx, Refund, { id });
  refund.status = move(REFUND_STATES, 'refund', refund.status, 'reject');
  Object.assign(refund, { approveBefore: null, settledAt: ctx.now(), version: refund.version + 1 });
  unreserve(ground, refund);
  ctx.audit('refund.rejected', refund.id, { requested_by: refund.requester });
  return refund;
}

const BATCH = 50;

/** Refunds that nobody approved for seven days are cancelled. */
export async function rejectStale(ctx: Context, at: Date): Promise<void> {
  const where = { status: RefundStatus.REQUIRES_APPROVAL, approveBefore: { $lte: at } };
  const stale = await ctx.em.find(Refund, where, { limit: BATCH, orderBy: { id: 'asc' }, lockMode: LockMode.NONE });
  for (const { id } of stale) await reject(ctx, id);
}
