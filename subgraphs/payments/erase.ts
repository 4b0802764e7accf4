import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import { erasePerson } from './commands/erasure.js';

/** Live subscriptions end, methods go, what is personal is nulled; payments, invoices, refunds and disputes stay, by the bare id. */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  return erasePerson(ctx, userId.toLowerCase());
}
