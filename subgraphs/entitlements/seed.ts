import type { Context } from '../../runtime/request/context.js';
import { EntitlementFeatureKind, EntitlementUsageReset } from './entities/enums.js';
import { EntitlementFeature } from './entities/feature.js';
import { TierFeature } from './entities/tier.js';

const { BOOLEAN, CONFIG, METERED } = EntitlementFeatureKind;

/** The tier `plus` that membership seeds. */
const PLUS = '0190b3a0-0000-7000-8000-0000000d0012';

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

export async function seed(ctx: Context): Promise<void> {
  const rows = FEATURES.map(feature => Object.assign(new EntitlementFeature(), feature, { createdAt: ctx.now() }));
  await ctx.em.persist(rows).flush();
  await ctx.em.persist(Object.assign(new TierFeature(), { tierId: PLUS, featureKey: 'labs.discount' })).flush();
}
