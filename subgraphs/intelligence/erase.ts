import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import type { Context } from '../../runtime/request/context.js';
import { forgetEntity } from './commands/erasure.js';

/** Everything here is about health or derived from it; nothing is for marketing. */
export const erase = async (ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> =>
  scope === 'marketing' ? { outcome: 'nothing_held', records: {} } : forgetEntity(ctx, userId.toLowerCase());
