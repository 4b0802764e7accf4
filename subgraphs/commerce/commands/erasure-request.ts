import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { CommerceErasure } from '../entities/sync.js';
import type { CommerceErasureInput } from '../inputs/sync.js';
import { customersOf, forgetUser, lockUser, recordErasure } from './erasure.js';
import { leaveStorefrontErasure } from './storefront-erasure.js';

/** Forgets a user at once; a repeat finds the same record. One who is unknown here has zero counts. Source: commerce 4.1, 7.23. */
export async function requestErasure(ctx: Context, { userId: id, erasureRequestId }: CommerceErasureInput): Promise<CommerceErasure> {
  const userId = id.toLowerCase();
  await lockUser(ctx, userId);
  const known = await findRow(ctx, CommerceErasure, { userId });
  if (known) return known;
  await leaveStorefrontErasure(ctx, await customersOf(ctx, userId));
  const counts = await forgetUser(ctx, userId);
  ctx.audit('user.erased', userId, {
    carts: counts.carts,
    orders: counts.orders,
    subscriptions: counts.subscriptions,
    links: counts.links,
  });
  return recordErasure(ctx, userId, erasureRequestId ?? null, counts);
}
