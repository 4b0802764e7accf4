import { findRow, FOR_UPDATE } from '../../../runtime/data/rows.js';
import { type Caller, holdsPermission } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { ErasureRequest, ErasureTask } from '../entities/erasure.js';

/** S, or staff with `admin:identity:erasure`. */
export const administersErasure = (caller: Caller): boolean =>
  (caller.kind === 'service' && caller.scopes.has('admin:identity')) || holdsPermission(caller, 'admin:identity:erasure');

/** The request with this id; of users only their own. */
async function find(ctx: Context, id: string, all: boolean, options: typeof FOR_UPDATE | undefined): Promise<ErasureRequest | null> {
  const { caller } = ctx;
  if (!all && caller.userId === null) return null;
  return findRow(ctx, ErasureRequest, { id, ...(all ? {} : { userId: caller.userId! }) }, options);
}

/** The request, if the caller may know of it: its user, and administrators. */
export const erasureRequestOf = (ctx: Context, id: string): Promise<ErasureRequest | null> =>
  find(ctx, id, administersErasure(ctx.caller), undefined);

/** The request, locked, if the caller may take a step: its user, administrators, and services that are to confirm. */
export const lockedErasureRequest = (ctx: Context, id: string): Promise<ErasureRequest | null> =>
  find(ctx, id, administersErasure(ctx.caller) || ctx.caller.serviceSlug !== null, FOR_UPDATE);

/** What each service has to erase, by service. */
export const tasksOf = (ctx: Context, request: ErasureRequest): Promise<ErasureTask[]> =>
  ctx.em.find(ErasureTask, { request: request.id }, { orderBy: { service: 'asc' } });
