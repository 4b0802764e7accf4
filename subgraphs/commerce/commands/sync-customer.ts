import type { Context } from '../../../runtime/request/context.js';
import { linkOf, linkOfEntity } from '../queries/storefront-link.js';
import { contentHash, skipped, type Outcome } from '../rules/storefront.js';
import type { StorefrontCustomer } from '../rules/storefront-record.js';
import { isForgotten } from './erasure.js';
import { writeLink } from './storefront-link.js';

/** A link that no profile of ours was told by: the next one that is told differs from it. */
const UNTOLD = contentHash('untold');

/** Whose a customer of the storefront is. @param candidates accounts with one of their addresses, verified. Source: commerce 7.29. */
export async function matchCustomer(
  ctx: Context,
  system: string,
  { externalId }: StorefrontCustomer,
  candidates: readonly string[],
): Promise<{ userId: string | null; outcome: Outcome }> {
  const link = await linkOf(ctx, system, 'customer', externalId);
  if (link) return { userId: link.entityId, outcome: { kind: 'unchanged' } };
  const [userId, ...others] = candidates;
  if (userId === undefined || (await isForgotten(ctx, userId))) return { userId: null, outcome: skipped('unknown_customer') };
  if (others.length > 0 || (await linkOfEntity(ctx, system, 'customer', userId)))
    return { userId: null, outcome: skipped('ambiguous_customer') };
  await writeLink(ctx, system, 'customer', { entityId: userId, externalId, contentHash: UNTOLD });
  return { userId, outcome: { kind: 'created' } };
}

export const takeCustomer = async (
  ctx: Context,
  system: string,
  record: StorefrontCustomer,
  candidates: readonly string[],
): Promise<Outcome> => (await matchCustomer(ctx, system, record, candidates)).outcome;
