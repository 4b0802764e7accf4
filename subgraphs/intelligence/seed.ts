import type { Context } from '../../runtime/request/context.js';
import { addVersion } from './commands/registry.js';
import { GuardrailKind, RegistryStatus } from './entities/enums.js';
import { RankingPolicy } from './entities/policy.js';

const enumOf = (...codes: string[]): object => ({ enum: codes });

/** The development policy: which panel to show next. Source: intelligence 4.2. */
const NEXT_PANEL = {
  id: '0190b3a0-0000-7000-8000-0000000f0001',
  policyKind: 'recommendation',
  policyKey: 'next_retest_panel',
  outcomeMetric: 'retest',
  rewardMap: { improved: 1, unchanged: 0, worsened: 0 },
  segmentKeys: ['goal', 'age_band'],
  contextSchema: {
    type: 'object',
    properties: {
      age_band: { type: 'string', pattern: '^[0-9]{1,3}_([0-9]{1,3}|plus)$' },
      goal: enumOf('heart', 'sleep', 'weight', 'energy'),
      region: { type: 'string', maxLength: 16 },
    },
  },
  candidateSchema: { type: 'object', properties: { cost_tier: { type: 'integer' } } },
  guardrails: [GuardrailKind.RED_FLAG_OPEN, GuardrailKind.CONTRAINDICATED, GuardrailKind.UNSAFE_CONTENT].map(rule => ({
    rule,
    params: {},
  })),
};

export async function seed(ctx: Context): Promise<void> {
  const policy = Object.assign(new RankingPolicy(), NEXT_PANEL, { createdAt: ctx.now() });
  await ctx.em.persist(policy).flush();
  await addVersion(ctx, policy, { parameters: {}, status: RegistryStatus.CHAMPION });
}
