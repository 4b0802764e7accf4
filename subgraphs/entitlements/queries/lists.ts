import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, page, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { EntitlementOverrideState } from '../entities/enums.js';
import { EntitlementFeature } from '../entities/feature.js';
import { EntitlementOverride } from '../entities/override.js';
import type { EntitlementFeaturesArgs } from '../inputs/feature.js';
import type { EntitlementOverridesArgs } from '../inputs/override.js';

/** Features by key; the key is their identity, so it alone is the cursor. */
export async function featuresPage(
  ctx: Context,
  { archived, productId, first, after }: EntitlementFeaturesArgs,
): Promise<Connection<EntitlementFeature>> {
  const beyond = after ? { key: { $gt: String(decodeCursor(after, 1)[0]) } } : {};
  const unlocked = productId ? { productIds: { $contains: [productId.toLowerCase()] } } : {};
  const where = { ...beyond, ...unlocked, archivedAt: archived ? { $ne: null } : null };
  const rows = await ctx.em.find(EntitlementFeature, where, { orderBy: { key: 'asc' }, limit: first + 1 });
  return toConnection(rows, first, row => [row.key]);
}

/** The state follows from the time, so a list of one state is a list of times. */
function inState(state: EntitlementOverrideState, now: Date): FilterQuery<EntitlementOverride> {
  if (state === EntitlementOverrideState.ENDED) return { endsAt: { $lte: now } };
  const lasting = { $or: [{ endsAt: null }, { endsAt: { $gt: now } }] };
  const begun = state === EntitlementOverrideState.ACTIVE;
  return { $and: [lasting, { startsAt: begun ? { $lte: now } : { $gt: now } }] };
}

/** Overrides and purchases, newest first. */
export function overridesPage(
  ctx: Context,
  { userId, featureKey, reference, state, ...paging }: EntitlementOverridesArgs,
): Promise<Connection<EntitlementOverride>> {
  const asked = { ...(userId && { userId: userId.toLowerCase() }), ...(featureKey && { featureKey }), ...(reference && { reference }) };
  const where: FilterQuery<EntitlementOverride> = { $and: [asked, state ? inState(state, ctx.now()) : {}] };
  return page(ctx.em, EntitlementOverride, where, paging, { time: 'createdAt' });
}
