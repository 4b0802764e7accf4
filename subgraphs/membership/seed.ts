import type { Context } from '../../runtime/request/context.js';
import { MembershipPlanStatus } from './entities/enums.js';
import { MembershipPlan, MembershipTier } from './entities/plan.js';

const BRAND = '0190b3a0-0000-7000-8000-000000000001';

/** Two plans to try, under fixed ids, which payments names in the prices that it seeds. */
const PLANS = [
  {
    id: '0190b3a0-0000-7000-8000-0000000d0001',
    key: 'basic',
    name: 'Basic',
    description: 'Everything to begin with.',
    tier: {
      id: '0190b3a0-0000-7000-8000-0000000d0011',
      rank: 1,
      benefits: [{ key: 'content', label: 'All articles and courses', value: null }],
      featureKeys: [] as string[],
    },
  },
  {
    id: '0190b3a0-0000-7000-8000-0000000d0002',
    key: 'plus',
    name: 'Plus',
    description: 'Everything of Basic, with laboratory tests at a discount.',
    tier: {
      id: '0190b3a0-0000-7000-8000-0000000d0012',
      rank: 2,
      benefits: [
        { key: 'content', label: 'All articles and courses', value: null },
        { key: 'labs_discount', label: 'Discount on laboratory tests', value: '20 %' },
      ],
      featureKeys: ['labs.discount'],
    },
  },
];

/** The plans of the default brand. Source: membership 8. */
export async function seed(ctx: Context): Promise<void> {
  const times = { brandId: BRAND, status: MembershipPlanStatus.PUBLISHED, createdAt: ctx.now() };
  await ctx.em.persist(PLANS.map(({ tier: _tier, ...plan }) => Object.assign(new MembershipPlan(), plan, times))).flush();
  const tiers = PLANS.map(({ id: planId, key, name, tier }) => Object.assign(new MembershipTier(), { planId, key, name }, tier));
  await ctx.em.persist(tiers).flush();
}
