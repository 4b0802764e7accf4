import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import type { Context } from '../../runtime/request/context.js';
import { revokeAll } from './commands/grant.js';
import { CashGrant } from './entities/grant.js';

/** Why rows stay: each is one side of an entry in the books. */
const BASIS = 'Accounting records of money granted, spent and expired';

/** Takes back what is live and forgets why it was given; the rows stay by the bare user id, as the books do. Source: cash 5. */
export async function erase(ctx: Context, { userId: id, requestId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  const userId = id.toLowerCase();
  const grants = await ctx.em.find(CashGrant, { userId });
  if (grants.length === 0) return { outcome: 'nothing_held', records: {} };
  await revokeAll(ctx, userId, grants, { type: 'erasure', id: requestId });
  await ctx.em.flush();
  await ctx.em.nativeUpdate(CashGrant, { userId }, { reason: null });
  return { outcome: 'retained', records: { cash_grant: grants.length }, basis: BASIS };
}
