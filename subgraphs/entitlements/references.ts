import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { holdsPermission } from '../../runtime/request/caller.js';
import type { Context } from '../../runtime/request/context.js';
import { isUuid } from '../../runtime/data/ids.js';
import { inOrder } from '../../runtime/data/loaders.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import type { UserEntitlements } from './entities/entitlement.js';
import { EntitlementFeature } from './entities/feature.js';
import { EntitlementOverride } from './entities/override.js';
import { ASKERS, READERS } from './entities/enums.js';
import { entitlementsOf } from './commands/snapshot.js';
import { seesEntitlements } from './resolvers/user-entitlements.js';

const mayRead = (ctx: Context): boolean => mayAccess(ruleOf(READERS), ctx.caller);

async function features(ctx: Context, keys: readonly { key: string }[]): Promise<(EntitlementFeature | null)[]> {
  if (!mayRead(ctx)) return keys.map(() => null);
  const asked = keys.map(one => String(one.key));
  return inOrder(asked, await ctx.em.find(EntitlementFeature, { key: { $in: asked } }), row => row.key);
}

async function overrides(ctx: Context, keys: readonly { id: string }[]): Promise<(EntitlementOverride | null)[]> {
  if (!mayRead(ctx)) return keys.map(() => null);
  const ids = keys.map(({ id }) => id.toLowerCase());
  return inOrder(ids, await ctx.em.find(EntitlementOverride, { id: { $in: ids.filter(isUuid) } }), row => row.id);
}

async function entitlements(ctx: Context, keys: readonly { userId: string }[]): Promise<(UserEntitlements | null)[]> {
  const asked = keys.map(({ userId }) => userId.toLowerCase());
  const visible = mayAccess(ruleOf(ASKERS), ctx.caller) ? asked.filter(id => isUuid(id) && seesEntitlements(ctx, id)) : [];
  return inOrder(asked, await entitlementsOf(ctx, [...new Set(visible)]), one => one.userId);
}

/** Anybody's account may be pointed at by services and staff; a member sees the own one. */
async function users({ caller }: Context, keys: readonly { id: string }[]) {
  const any = caller.kind !== 'user' || holdsPermission(caller, ASKERS.staff);
  return keys.map(({ id }) => (any || id.toLowerCase() === caller.userId ? { id } : null));
}

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  EntitlementFeature: features,
  EntitlementOverride: overrides,
  UserEntitlements: entitlements,
  User: users,
};
