import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import type { Context } from '../../runtime/request/context.js';
import { forget, forgetMarketing } from './commands/forgetting.js';

const KEPT = `
select exists (select 1 from comms.suppression s join comms.message m on m.address_hash = s.address_hash where m.user_id = $1) as kept`;

/** Words, addresses, choices and devices go; that an address wants nothing is kept as a hash, which proves the opt-out. Source: comms, rule 14. */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope === 'health') return { outcome: 'nothing_held', records: {} };
  if (scope === 'marketing') {
    const records = await forgetMarketing(ctx, userId);
    return { outcome: Object.keys(records).length ? 'erased' : 'nothing_held', records };
  }
  const [{ kept } = { kept: false }] = await ctx.sql<{ kept: boolean }>(KEPT, [userId]);
  const records = await forget(ctx, userId);
  if (Object.keys(records).length === 0) return { outcome: 'nothing_held', records };
  return kept ? { outcome: 'retained', records, basis: 'proof of opt-out' } : { outcome: 'erased', records };
}
