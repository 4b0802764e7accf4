import type { Context } from '../../runtime/request/context.js';
import { service } from '../../runtime/service.js';
import { consumers } from './consumers.js';
import { DecisionOutcome, LoopDecision } from './entities/decision.js';
import { OffPolicyEvaluation, TrainingRun } from './entities/evaluation.js';
import { FeatureSet, FeatureVector } from './entities/features.js';
import { LoopProposal, LoopTick, MetaMetric } from './entities/loop.js';
import { RankingPolicy } from './entities/policy.js';
import { RegistryVersion } from './entities/registry.js';
import { GuardrailKind, RegistryStatus } from './entities/enums.js';
import { references } from './references.js';
import { Brand, FeatureFlag, User } from './stubs.js';
import { featureRefreshes, outcomeWindows } from './commands/analytics-jobs.js';
import { BrandPoliciesResolver } from './resolvers/brand.js';
import { DecisionOutcomeResolver, DecisionResolver, UserDecisionsResolver } from './resolvers/decision.js';
import { erase, ErasureResolver } from './resolvers/erasure.js';
import { EvaluationResolver } from './resolvers/evaluation.js';
import { FeatureResolver } from './resolvers/features.js';
import { MetricResolver } from './resolvers/metrics.js';
import { PolicyResolver } from './resolvers/policy.js';
import { ProposalResolver } from './resolvers/proposal.js';
import { RankResolver } from './resolvers/rank.js';
import { RankedUserResolver } from './resolvers/ranked-user.js';
import { addVersion } from './commands/registry-store.js';
import { RegistryResolver } from './resolvers/registry.js';
import { FlagGateResolver, StageResolver } from './resolvers/stage.js';
import { TickResolver } from './resolvers/tick.js';
import { TrainingResolver } from './resolvers/training.js';
import { trainings } from './commands/training-job.js';
import { watchdog } from './commands/watchdog.js';

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

async function seed(ctx: Context): Promise<void> {
  const policy = Object.assign(new RankingPolicy(), NEXT_PANEL, { createdAt: ctx.now() });
  await ctx.em.persist(policy).flush();
  await addVersion(ctx, policy, { parameters: {}, status: RegistryStatus.CHAMPION });
}

export default service({
  slug: 'intelligence',
  purpose: 'Ranks, keeps a ledger of decisions, measures whether policies are honest, and proposes; a human applies',
  entities: [
    RankingPolicy,
    RegistryVersion,
    LoopDecision,
    DecisionOutcome,
    FeatureSet,
    FeatureVector,
    LoopTick,
    MetaMetric,
    LoopProposal,
    OffPolicyEvaluation,
    TrainingRun,
  ],
  testControls: { flags: true },
  resolvers: [
    PolicyResolver,
    RegistryResolver,
    RankResolver,
    RankedUserResolver,
    DecisionResolver,
    DecisionOutcomeResolver,
    UserDecisionsResolver,
    BrandPoliciesResolver,
    TickResolver,
    MetricResolver,
    ProposalResolver,
    StageResolver,
    FlagGateResolver,
    EvaluationResolver,
    TrainingResolver,
    FeatureResolver,
    ErasureResolver,
  ],
  types: [Brand, FeatureFlag, User],
  references,
  consumers,
  queues: [trainings],
  timers: [watchdog, outcomeWindows, featureRefreshes],
  seed,
  erase,
});
