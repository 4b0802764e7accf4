import { userErasureRequested } from '../../events/catalogue/identity.js';
import { eraseUserEvents } from '../../events/erasure.js';
import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';

const REQUEST = `select o.seq::float8 as seq from events.outbox o where o.user_id = $1 and o.type = $2 and o.data->>'request_id' = $3 order by o.seq limit 1`;

/**
 * Empties the payloads of the user's events before the request; ids, types, times and order stay. Everything before it in the user's
 * order has gone out. A partial erasure empties all of them, too: what a payload is about cannot be told apart later. Source: events 5.
 */
export async function erase(ctx: Context, { userId, requestId }: ErasureRequest): Promise<ErasureOutcome> {
  const [request] = await ctx.sql<{ seq: number }>(REQUEST, [userId, userErasureRequested.name, requestId]);
  if (!request) return { outcome: 'nothing_held', records: {} };
  const erased = await eraseUserEvents(ctx.sql, userId, request.seq, `erasure:${requestId}`, ctx.now());
  return erased > 0 ? { outcome: 'erased', records: { outbox: erased } } : { outcome: 'nothing_held', records: {} };
}
