import { service } from '../../runtime/service.js';
import { consumers } from './consumers.js';
import { EntitlementFeature } from './entities/feature.js';
import { EntitlementOverride } from './entities/override.js';
import { EntitlementSnapshot } from './entities/snapshot.js';
import { UsageCounter, UsageEvent } from './entities/usage.js';
import { erase } from './erase.js';
import { references } from './references.js';
import { EntitlementResolver, UserEntitlementsResolver } from './resolvers/entitlement.js';
import { FeatureResolver } from './resolvers/feature.js';
import { OverrideResolver } from './resolvers/override.js';
import { UsageResolver } from './resolvers/usage.js';
import { seed } from './seed.js';
import { User } from './stubs.js';

export default service({
  slug: 'entitlements',
  purpose: 'What a user may use now, and how much of it',
  entities: [EntitlementFeature, EntitlementOverride, EntitlementSnapshot, UsageCounter, UsageEvent],
  resolvers: [EntitlementResolver, FeatureResolver, OverrideResolver, UsageResolver, UserEntitlementsResolver],
  types: [User],
  references,
  consumers,
  seed,
  erase,
});
