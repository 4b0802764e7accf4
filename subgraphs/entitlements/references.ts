import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { isUuid } from '../../runtime/data/ids.js';
import { inOrder } from '../../runtime/data/loaders.js';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { entitlementsOf } from './commands/snapshot.js';
import { ASKERS, READERS } from './entities/access.js';
import { EntitlementFeature } from './entities/feature.js';
import { EntitlementOverride } from './entities/override.js';
import { mayAskAbout } from './queries/subject.js';

const entitlements: ReferenceLoader = async (ctx, keys: readonly { userId: string }[]) => {
  const asked = keys.map(({ userId }) => userId.toLowerCase());
  const visible = mayAccess(ruleOf(ASKERS), ctx.caller) ? asked.filter(id => isUuid(id) && mayAskAbout(ctx, id)) : [];
  return inOrder(asked, await entitlementsOf(ctx, [...new Set(visible)]), one => one.userId);
};

/** Anybody's account may be pointed at by services and staff; a member sees the own one. */
const users: ReferenceLoader = async (ctx, keys: readonly { id: string }[]) => keys.map(({ id }) => (mayAskAbout(ctx, id) ? { id } : null));

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  EntitlementFeature: rowReferences(EntitlementFeature, { key: 'key', readers: READERS }),
  EntitlementOverride: rowReferences(EntitlementOverride, { readers: READERS }),
  UserEntitlements: entitlements,
  User: users,
  MembershipTier: stubReferences,
};
