import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import type { Context } from '../../runtime/request/context.js';
import { customersOf, forgetUser, lockUser, recordErasure } from './commands/erasure.js';
import { leaveStorefrontErasure } from './commands/storefront-erasure.js';

/** Carts and subscriptions forget the person, orders keep their amounts under a pseudonym. Source: commerce 7.23. */
export async function erase(ctx: Context, { userId: id, requestId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  const userId = id.toLowerCase();
  await lockUser(ctx, userId);
  await leaveStorefrontErasure(ctx, await customersOf(ctx, userId));
  const counts = await forgetUser(ctx, userId);
  const { carts, orders, subscriptions, links } = counts;
  if (carts + orders + subscriptions + links === 0) return { outcome: 'nothing_held', records: {} };
  await recordErasure(ctx, userId, requestId, counts);
  return {
    outcome: 'anonymised',
    records: { cart: carts, shop_order: orders, product_subscription: subscriptions, storefront_link: links },
  };
}
