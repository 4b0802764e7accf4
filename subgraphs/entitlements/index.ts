import type { Context } from '../../runtime/request/context.js';
import { service } from '../../runtime/service.js';
import { consumers } from './consumers.js';
import { EntitlementFeature } from './entities/feature.js';
import { EntitlementOverride } from './entities/override.js';
import { EntitlementSnapshot } from './entities/snapshot.js';
import { UsageCounter, UsageEvent } from './entities/usage.js';
import { EntitlementFeatureKind, EntitlementUsageReset } from './entities/enums.js';
import { references } from './references.js';
import { User } from './stubs.js';
import { EntitlementResolver } from './resolvers/entitlement.js';
import { erase } from './erase.js';
import { ExplainResolver } from './resolvers/explain.js';
import { FeatureResolver } from './resolvers/feature.js';
import { OverrideResolver } from './resolvers/override.js';
import { UsageResolver } from './resolvers/usage.js';
import { UserEntitlementsResolver } from './resolvers/user-entitlements.js';

const { BOOLEAN, CONFIG, METERED } = EntitlementFeatureKind;

/** Development features, one of each kind that other contracts ask for. */
const FEATURES = [
  { key: 'labs.discount', name: 'Discount on laboratory tests', kind: BOOLEAN },
  { key: 'live.host', name: 'Hosting live sessions', kind: BOOLEAN },
  { key: 'content.quality', name: 'Quality of videos', kind: CONFIG, defaultValue: 'standard' },
  {
    key: 'ai.messages',
    name: 'Messages to the assistant',
    kind: METERED,
    unit: 'message',
    defaultValue: 20,
    usageReset: EntitlementUsageReset.DAY,
  },
];

async function seed(ctx: Context): Promise<void> {
  const rows = FEATURES.map(feature => Object.assign(new EntitlementFeature(), feature, { createdAt: ctx.now() }));
  await ctx.em.persist(rows).flush();
}

export default service({
  slug: 'entitlements',
  purpose: 'What a user may use now, and how much of it',
  entities: [EntitlementFeature, EntitlementOverride, EntitlementSnapshot, UsageCounter, UsageEvent],
  resolvers: [EntitlementResolver, FeatureResolver, OverrideResolver, UsageResolver, ExplainResolver, UserEntitlementsResolver],
  types: [User],
  references,
  consumers,
  seed,
  erase,
});
