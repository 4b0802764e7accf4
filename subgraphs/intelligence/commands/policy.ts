import { requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { RegistryStatus } from '../entities/enums.js';
import { RankingPolicy } from '../entities/policy.js';
import type { CreateRankingPolicyInput, UpdateRankingPolicyInput } from '../inputs/policy.js';
import { forgetPolicies } from '../queries/rank-facts.js';
import { policyViolations } from '../rules/policy.js';
import { given } from '../rules/values.js';
import { addVersion, lockPolicy } from './registry.js';

const RETEST_REWARDS = { improved: 1, unchanged: 0, worsened: 0 };
const ANALYTICS_REWARDS = { positive: 1, neutral: 0, negative: 0 };
const EMPTY_SCHEMA = { type: 'object', properties: {} };

const withParams = (policy: RankingPolicy): RankingPolicy =>
  Object.assign(policy, { guardrails: policy.guardrails.map(({ rule, params }) => ({ rule, params: params ?? {} })) });

/** Makes a policy; its version 1, which is empty, is the champion. @throws Problem invalid_request. */
export async function createPolicy(ctx: Context, input: CreateRankingPolicyInput): Promise<RankingPolicy> {
  requireValid(policyViolations(input, { contextSchema: EMPTY_SCHEMA, segmentKeys: [] }));
  const policy = withParams(
    Object.assign(new RankingPolicy(), {
      rewardMap: input.outcomeMetric === 'retest' ? RETEST_REWARDS : ANALYTICS_REWARDS,
      contextSchema: EMPTY_SCHEMA,
      candidateSchema: EMPTY_SCHEMA,
      createdAt: ctx.now(),
      ...given(input),
    }),
  );
  await ctx.em.persist(policy).flush();
  await addVersion(ctx, policy, { parameters: {}, status: RegistryStatus.CHAMPION });
  ctx.afterCommit(() => forgetPolicies(ctx.host));
  ctx.audit('ranking_policy.created', policy.id, { policy_kind: policy.policyKind, policy_key: policy.policyKey });
  return policy;
}

const hasDecisions = async (ctx: Context, policyId: string): Promise<boolean> =>
  (await ctx.sql(`select 1 from ${ctx.schema}.decision where policy_id = $1 limit 1`, [policyId])).length > 0;

/** The reward map is fixed once a decision exists. @throws Problem not_found, invalid_request, conflict. */
export async function updatePolicy(ctx: Context, input: UpdateRankingPolicyInput): Promise<RankingPolicy> {
  const { id, version, ...changes } = input;
  const policy = await lockPolicy(ctx, id);
  requireValid(policyViolations(changes, policy));
  requireVersion(policy, version);
  if (changes.rewardMap && (await hasDecisions(ctx, policy.id)))
    fail('conflict', 'The reward map is fixed: there are decisions', { reason: 'reward_map_fixed' });
  Object.assign(policy, given(changes));
  ctx.afterCommit(() => forgetPolicies(ctx.host));
  ctx.audit('ranking_policy.changed', policy.id, { fields: Object.keys(given(changes)) });
  return withParams(policy);
}
