import { service } from '../../runtime/service.js';
import { trainings } from './commands/training-job.js';
import { featureConsumer } from './consumers/features.js';
import { governanceConsumers } from './consumers/governance.js';
import { outcomeConsumer } from './consumers/outcomes.js';
import { DecisionOutcome, LoopDecision } from './entities/decision.js';
import { OffPolicyEvaluation, TrainingRun } from './entities/evaluation.js';
import { FeatureSet, FeatureVector } from './entities/features.js';
import { LoopProposal, LoopTick, MetaMetric } from './entities/loop.js';
import { RankingPolicy } from './entities/policy.js';
import { RegistryVersion } from './entities/registry.js';
import { erase } from './erase.js';
import { references } from './references.js';
import { DecisionOutcomeResolver, DecisionResolver, UserDecisionsResolver } from './resolvers/decision.js';
import { ErasureResolver } from './resolvers/erasure.js';
import { EvaluationResolver } from './resolvers/evaluation.js';
import { FeatureResolver } from './resolvers/features.js';
import { MetricResolver } from './resolvers/metrics.js';
import { BrandPoliciesResolver, PolicyResolver } from './resolvers/policy.js';
import { ProposalResolver } from './resolvers/proposal.js';
import { RankResolver } from './resolvers/rank.js';
import { RegistryResolver } from './resolvers/registry.js';
import { FlagGateResolver, StageResolver } from './resolvers/stage.js';
import { TickResolver } from './resolvers/tick.js';
import { TrainingResolver } from './resolvers/training.js';
import { seed } from './seed.js';
import { Brand, FeatureFlag, User } from './stubs.js';
import { featureRefreshes, outcomeWindows, watchdog } from './timers.js';

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
  consumers: [outcomeConsumer, featureConsumer, ...governanceConsumers],
  queues: [trainings],
  timers: [watchdog, outcomeWindows, featureRefreshes],
  seed,
  erase,
});
