import type { DataOf } from '../events/define.js';
import type { userErasureRequested } from '../events/catalogue/identity.js';
import type { Context } from './context.js';

export type ErasureScope = DataOf<typeof userErasureRequested>['scope'];

export interface ErasureRequest {
  userId: string;
  requestId: string;
  scope: ErasureScope;
}

/** The four outcomes that a service confirms to identity. Source: contracts, shared words. */
export interface ErasureOutcome {
  outcome: 'erased' | 'anonymised' | 'retained' | 'nothing_held';
  /** Rows per table that were deleted or changed. */
  records: Readonly<Record<string, number>>;
  /** Law or contract, required for `retained`. */
  basis?: string;
}

/** Erases a user in one transaction, idempotently; `nothing_held` for a service that keeps no personal data. */
export type Erase = 'nothing_held' | ((ctx: Context, request: ErasureRequest) => Promise<ErasureOutcome>);

/** Runs a service's erasure and leaves the proof: an audit row with counts only. */
export async function eraseUser(ctx: Context, erase: Erase, request: ErasureRequest): Promise<ErasureOutcome> {
  const outcome: ErasureOutcome = erase === 'nothing_held' ? { outcome: 'nothing_held', records: {} } : await erase(ctx, request);
  ctx.audit('user.erased', request.userId, { request_id: request.requestId, scope: request.scope, ...outcome });
  return outcome;
}
