import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import type { Context } from '../../runtime/request/context.js';
import { forgetUser } from './commands/forgetting.js';

/** What erasure of a user means here. Source: content, rule 18. */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  const records = await forgetUser(ctx, userId);
  const held = Object.values(records).some(count => count > 0);
  return { outcome: held ? 'anonymised' : 'nothing_held', records };
}
