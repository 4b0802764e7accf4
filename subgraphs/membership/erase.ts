import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import { lockMember, recordOwn } from './commands/facts.js';
import { refold } from './commands/refold.js';

const HELD = 'select count(*)::int as held from membership.membership where user_id = $1';
const FORGET_TEXTS =
  "update membership.membership_fact set data = data - 'reason' where user_id = $1 and data ? 'reason' and kind <> 'cancelled' returning 1";
const ERASED = "select 1 from membership.membership_fact where user_id = $1 and kind = 'erased'";

/**
 * Ends what the user has, without a campaign, and takes the reasons away that staff gave. What remains is kept by the bare id, because
 * bills refer to it. Health and marketing erasures leave the account alive, and with it its membership. Source: membership 5.
 */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  await lockMember(ctx, userId);
  const [counted] = await ctx.sql<{ held: number }>(HELD, [userId]);
  if ((await ctx.sql(ERASED, [userId])).length === 0) await recordOwn(ctx, userId, { kind: 'erased', data: {} });
  const texts = await ctx.sql(FORGET_TEXTS, [userId]);
  await refold(ctx, userId);
  const records = { membership: counted!.held, membership_fact: texts.length };
  return { outcome: counted!.held + texts.length > 0 ? 'anonymised' : 'nothing_held', records };
}
