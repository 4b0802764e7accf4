import type { Context } from '../../runtime/context.js';
import { service } from '../../runtime/service.js';
import { clockControl } from '../../runtime/test-controls.js';
import { canaryConsumers, canaryTimer } from './consumers/canary.js';
import { erase } from './consumers/erasure.js';
import { Brand, BrandDomain, BrandDomainPurpose, BrandDomainStatus } from './entities/brand.js';
import { flagChangesTimer } from './consumers/flag-timers.js';
import { healthWorker } from './consumers/health.js';
import { safeViewsTimer } from './consumers/safe-views.js';
import { signConsumers } from './consumers/signs.js';
import { ConfigKey, ConfigValue } from './entities/config.js';
import { FlagChange } from './entities/flag-change.js';
import { FeatureFlag, FlagRule } from './entities/flag.js';
import { CanaryProbe, HealthIncident } from './entities/health.js';
import { PlatformService } from './entities/registry.js';
import { SafeView } from './entities/safe-view.js';
import { ofrepPaths, serveOfrep } from './native/ofrep.js';
import { references, User } from './references.js';
import { BrandAdministrationResolver } from './resolver/brand-administration.js';
import { BrandResolver } from './resolver/brand.js';
import { CanaryResolver } from './resolver/canary.js';
import { ConfigResolver } from './resolver/config.js';
import { FlagAdministrationResolver } from './resolver/flag-administration.js';
import { FlagApprovalResolver } from './resolver/flag-approval.js';
import { FlagInsightResolver } from './resolver/flag-insight.js';
import { FlagResolver, UserFlagsResolver } from './resolver/flag.js';
import { RegistryResolver } from './resolver/registry.js';
import { SafeViewResolver } from './resolver/safe-views.js';
import { SuiteHealthResolver } from './resolver/suite-health.js';
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
    clockControl('platform'),
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
