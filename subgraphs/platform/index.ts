import type { Context } from '../../runtime/request/context.js';
import { service } from '../../runtime/service.js';
import { canaryConsumers, canaryTimer } from './consumers/canary.js';
import { erase } from './erase.js';
import { Brand, BrandDomain, BrandDomainPurpose, BrandDomainStatus } from './entities/brand.js';
import { flagChangesTimer } from './timers/flag-changes.js';
import { healthWorker } from './workers/health.js';
import { safeViewsTimer } from './timers/safe-views.js';
import { signConsumers } from './consumers/signs.js';
import { ConfigKey, ConfigValue } from './entities/config.js';
import { FlagChange } from './entities/flag-change.js';
import { FeatureFlag, FlagRule } from './entities/flag.js';
import { CanaryProbe, HealthIncident } from './entities/health.js';
import { PlatformService } from './entities/registry.js';
import { SafeView } from './entities/safe-view.js';
import { ofrepPaths, serveOfrep } from './native/ofrep.js';
import { references, User } from './references.js';
import { BrandAdministrationResolver } from './resolvers/brand-administration.js';
import { BrandResolver } from './resolvers/brand.js';
import { CanaryResolver } from './resolvers/canary.js';
import { ConfigResolver } from './resolvers/config.js';
import { FlagAdministrationResolver } from './resolvers/flag-administration.js';
import { FlagApprovalResolver } from './resolvers/flag-approval.js';
import { FlagInsightResolver } from './resolvers/flag-insight.js';
import { FlagResolver, UserFlagsResolver } from './resolvers/flag.js';
import { RegistryResolver } from './resolvers/registry.js';
import { SafeViewResolver } from './resolvers/safe-views.js';
import { SuiteHealthResolver } from './resolvers/suite-health.js';
import { settingsOf } from './ports/settings.js';

/** The development brand and its verified host. Source: conventions 8. */
async function seed(ctx: Context): Promise<void> {
  const brand = Object.assign(new Brand(), {
    id: '0190b3a0-0000-7000-8000-000000000001',
    slug: 'main',
    name: 'Main',
    legalName: 'Main Health Inc.',
    isDefault: true,
    defaultLocale: 'en',
    locales: ['en', 'de'],
    defaultCurrency: 'USD',
    currencies: ['USD', 'EUR'],
    countries: ['US', 'DE'],
    timeZone: 'America/New_York',
    theme: { primaryColor: '#0B6E4F' },
    supportEmail: 'help@main.example',
    createdAt: ctx.now(),
  });
  const domain = Object.assign(new BrandDomain(), {
    id: '0190b3a0-0000-7000-8000-000000000011',
    brandId: brand.id,
    host: 'main.example',
    purpose: BrandDomainPurpose.SHOP,
    status: BrandDomainStatus.VERIFIED,
    verificationRecord: 'seeded',
    verifiedAt: ctx.now(),
  });
  await ctx.em.persist([brand, domain]).flush();
}

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
    BrandAdministrationResolver,
    ConfigResolver,
    FlagResolver,
    FlagAdministrationResolver,
    FlagApprovalResolver,
    FlagInsightResolver,
    UserFlagsResolver,
    RegistryResolver,
    SuiteHealthResolver,
    CanaryResolver,
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
    serveOfrep(app, host, authenticate);
  },
  nativePaths: ofrepPaths,
});
