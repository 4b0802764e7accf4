import { MembershipPlanStatus } from '../entities/enums.js';
import type { MembershipPlan, MembershipTier } from '../entities/plan.js';

export type PlanFacts = Pick<MembershipPlan, 'id' | 'key' | 'brandId' | 'graceDays' | 'status' | 'createdAt'>;
export type TierFacts = Pick<MembershipTier, 'id' | 'planId' | 'key' | 'rank'>;

const { PUBLISHED, DRAFT } = MembershipPlanStatus;

/** A fact names a plan or tier that is not there; somebody has to make it, or the price names the wrong one. */
export class UnknownPlan extends Error {}

/** Plans and tiers of the brands that some facts concern. */
export class Catalogue {
  readonly #plans: ReadonlyMap<string, PlanFacts>;
  readonly #tiers: ReadonlyMap<string, TierFacts>;

  constructor(plans: readonly PlanFacts[], tiers: readonly TierFacts[]) {
    this.#plans = new Map(plans.map(plan => [plan.id, plan]));
    this.#tiers = new Map(tiers.toSorted((a, b) => a.rank - b.rank).map(tier => [tier.id, tier]));
  }

  /** Undefined where there is none. */
  planOf(id: string): PlanFacts | undefined {
    return this.#plans.get(id);
  }

  /** @throws UnknownPlan. */
  plan(id: string): PlanFacts {
    const plan = this.#plans.get(id);
    if (!plan) throw new UnknownPlan('there is no such plan');
    return plan;
  }

  /** @throws UnknownPlan. */
  tier(id: string): TierFacts {
    const tier = this.#tiers.get(id);
    if (!tier) throw new UnknownPlan('there is no such tier');
    return tier;
  }

  /** The tier of a plan; of a price that names none its lowest. @throws UnknownPlan. */
  tierOf(planId: string, key: string | null): TierFacts {
    const tiers = [...this.#tiers.values()].filter(tier => tier.planId === planId);
    const found = key === null ? tiers[0] : tiers.find(tier => tier.key === key);
    if (!found) throw new UnknownPlan('the plan has no such tier');
    return found;
  }

  /**
   * The tier that a change goes to: of the same plan, else of another one of the brand, a published one first, then the older one.
   * @throws UnknownPlan.
   */
  tierFrom(planId: string, key: string | null): TierFacts {
    if (key === null) return this.tierOf(planId, null);
    const found = this.#reachable(planId).find(tier => tier.key === key);
    if (!found) throw new UnknownPlan('the brand has no such tier');
    return found;
  }

  #reachable(planId: string): TierFacts[] {
    const { brandId } = this.plan(planId);
    const distance = ({ id, status }: PlanFacts): number => (id === planId ? 0 : status === PUBLISHED ? 1 : 2);
    const plans = [...this.#plans.values()].filter(plan => plan.brandId === brandId && (plan.id === planId || plan.status !== DRAFT));
    const nearest = plans.sort((a, b) => distance(a) - distance(b) || a.createdAt.getTime() - b.createdAt.getTime());
    return nearest.flatMap(plan => [...this.#tiers.values()].filter(tier => tier.planId === plan.id));
  }
}
