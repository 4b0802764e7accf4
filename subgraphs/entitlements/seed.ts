import type { Context } from '../../runtime/request/context.js';
import { EntitlementFeatureKind, EntitlementUsageReset } from './entities/enums.js';
import { EntitlementFeature } from './entities/feature.js';

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

export async function seed(ctx: Context): Promise<void> {
  const rows = FEATURES.map(feature => Object.assign(new EntitlementFeature(), feature, { createdAt: ctx.now() }));
  await ctx.em.persist(rows).flush();
}
