import { service } from '../../runtime/service.js';
import { consumers } from './consumers.js';
import { EntitlementFeature } from './entities/feature.js';
import { EntitlementOverride } from './entities/override.js';
import { EntitlementSnapshot } from './entities/snapshot.js';
import { TierFeature } from './entities/tier.js';
import { UsageCounter, UsageEvent } from './entities/usage.js';
import { erase } from './erase.js';
import { references } from './references.js';
import { CheckResolver, EntitlementResolver, UserEntitlementsResolver } from './resolvers/entitlement.js';
import { FeatureResolver } from './resolvers/feature.js';
import { OverrideResolver } from './resolvers/override.js';
import { CacheResolver, MembershipTierResolver, TierFeatureResolver } from './resolvers/tier.js';
import { UsageResolver } from './resolvers/usage.js';
import { seed } from './seed.js';
import { MembershipTier, User } from './stubs.js';
import { hints } from './workers/hints.js';

export default service({
  slug: 'entitlements',
  purpose: 'What a user may use now, and how much of it',
  entities: [EntitlementFeature, EntitlementOverride, EntitlementSnapshot, TierFeature, UsageCounter, UsageEvent],
  resolvers: [
    CacheResolver,
    CheckResolver,
    EntitlementResolver,
    FeatureResolver,
    MembershipTierResolver,
    OverrideResolver,
    TierFeatureResolver,
    UsageResolver,
    UserEntitlementsResolver,
  ],
  types: [User, MembershipTier],
  references,
  consumers,
  workers: [hints],
  seed,
  erase,
});
