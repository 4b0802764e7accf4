import { service } from '../../runtime/service.js';
import { canaryConsumers } from './consumers/canary.js';
import { signConsumers } from './consumers/signs.js';
import { Brand, BrandDomain } from './entities/brand.js';
import { ConfigKey, ConfigValue } from './entities/config.js';
import { FlagChange } from './entities/flag-change.js';
import { FeatureFlag, FlagRule } from './entities/flag.js';
import { CanaryProbe, HealthIncident } from './entities/health.js';
import { PlatformService } from './entities/registry.js';
import { SafeView } from './entities/safe-view.js';
import { erase } from './erase.js';
import { ofrepPaths, serveOfrep } from './native/ofrep.js';
import { settingsOf } from './ports/settings.js';
import { references } from './references.js';
import { BrandResolver } from './resolvers/brand.js';
import { ConfigResolver } from './resolvers/config.js';
import { FlagChangeResolver } from './resolvers/flag-change.js';
import { FlagInsightResolver } from './resolvers/flag-insight.js';
import { FlagResolver, UserFlagsResolver } from './resolvers/flag.js';
import { HealthResolver } from './resolvers/health.js';
import { RegistryResolver } from './resolvers/registry.js';
import { SafeViewResolver } from './resolvers/safe-view.js';
import { seed } from './seed.js';
import { User } from './stubs.js';
import { canaryTimer } from './timers/canaries.js';
import { flagChangesTimer } from './timers/flag-changes.js';
import { safeViewsTimer } from './timers/safe-views.js';
import { healthWorker } from './workers/health.js';

export default service({
  slug: 'platform',
  purpose: 'Brands, feature flags and the registry of the services',
  entities: [
    Brand,
    BrandDomain,
    ConfigKey,
    ConfigValue,
    FeatureFlag,
    FlagRule,
    FlagChange,
    PlatformService,
    HealthIncident,
    CanaryProbe,
    SafeView,
  ],
  resolvers: [
    BrandResolver,
    ConfigResolver,
    FlagResolver,
    FlagChangeResolver,
    FlagInsightResolver,
    UserFlagsResolver,
    RegistryResolver,
    HealthResolver,
    SafeViewResolver,
  ],
  types: [User],
  references,
  consumers: [...canaryConsumers, ...signConsumers],
  timers: [flagChangesTimer, canaryTimer, safeViewsTimer],
  workers: [healthWorker],
  seed,
  erase,
  native: async (app, host, authenticate) => {
    settingsOf(host); // a wrong setting stops the start
    await serveOfrep(app, host, authenticate);
  },
  nativePaths: ofrepPaths,
});
