import { findRow, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { PayoutDestination } from '../entities/payout.js';
import { sealed } from '../entities/sealed.js';
import type { SetPayoutDestinationInput } from '../inputs/payout.js';
import { processorOf } from '../ports/processors.js';

/** What the token leads to, asked of the processor. @throws Problem invalid_request for an unknown one, unavailable. */
export const destinationSummary = preparation(async (ctx: Context, { input }: { input: SetPayoutDestinationInput }): Promise<string> => {
  const call = { idempotencyKey: `describe:${input.token}`, clock: ctx.clock };
  const result = await processorOf(ctx.host).describeDestination({ token: input.token }, call);
  if (result.status === 'succeeded') return result.data.summary;
  if (result.status === 'unknown') return fail('unavailable', 'The processor did not answer', { retryAfter: 10 });
  return invalid('/input/token', 'is not a payout destination of the processor');
});

/** Where a user's payouts go from now on. */
export async function setDestination(ctx: Context, { userId: named, token }: SetPayoutDestinationInput): Promise<PayoutDestination> {
  const [userId, processor] = [ctx.subject(named, '/input/user_id').toLowerCase(), processorOf(ctx.host).name];
  const known = await findRow(ctx, PayoutDestination, { userId, processor });
  const destination = known
    ? await lockRow(ctx, PayoutDestination, { id: known.id })
    : Object.assign(new PayoutDestination(), { userId, processor, createdAt: ctx.now() });
  destination.summary = destinationSummary.of(ctx);
  destination.tokenSealed = sealed(ctx, token, 'payout_destination', destination.id);
  ctx.em.persist(destination);
  ctx.audit('payout_destination.set', destination.id, { user_id: userId });
  return destination;
}

/** @throws Problem not_found where there is none. */
export async function removeDestination(ctx: Context, named: string | null | undefined): Promise<boolean> {
  const userId = ctx.subject(named).toLowerCase();
  const destination = await lockRow(ctx, PayoutDestination, { userId, processor: processorOf(ctx.host).name });
  ctx.em.remove(destination);
  ctx.audit('payout_destination.removed', destination.id, { user_id: userId });
  return true;
}
