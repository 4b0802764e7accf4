import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import type { Context } from '../../runtime/request/context.js';
import { deleteRecord } from './commands/erasure.js';

/** Erasure of a person takes the whole record; marketing data is not held. Source: clinical 7.1.17. */
export const erase = async (ctx: Context, request: ErasureRequest): Promise<ErasureOutcome> =>
  request.scope === 'marketing' ? { outcome: 'nothing_held', records: {} } : deleteRecord(ctx, request);
