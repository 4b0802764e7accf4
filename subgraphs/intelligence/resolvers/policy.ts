import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, type Violation } from '../../../runtime/request/errors.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { RankingPolicy, RankingPolicyConnection } from '../entities/policy.js';
import { GOVERNORS, READERS, RegistryStatus } from '../entities/enums.js';
import { CreateRankingPolicyInput, RankingPoliciesArgs, UpdateRankingPolicyInput } from '../inputs/policy.js';
import { guardrailViolations } from '../rules/guardrails.js';
import { schemaViolations } from '../rules/schemas.js';
import { forgetPolicies } from '../queries/rank-facts.js';
import { addVersion, lockPolicy } from '../commands/registry-store.js';
import { requireVersion } from '../../../runtime/data/rows.js';

const RETEST_REWARDS = { improved: 1, unchanged: 0, worsened: 0 };
const ANALYTICS_REWARDS = { positive: 1, neutral: 0, negative: 0 };
const EMPTY_SCHEMA = { type: 'object', properties: {} };
const LABEL = /^[a-z][a-z0-9_]{0,63}$/;

type Settings = Pick<CreateRankingPolicyInput, 'rewardMap' | 'contextSchema' | 'candidateSchema' | 'segmentKeys' | 'guardrails'>;

function rewardViolations(rewards: Record<string, unknown> | null | undefined): Violation[] {
  if (rewards && Object.keys(rewards).length === 0) return [{ pointer: '/input/rewardMap', message: 'must have at least one label' }];
  const wrong = Object.entries(rewards ?? {}).filter(
    ([label, reward]) => !LABEL.test(label) || typeof reward !== 'number' || !(reward >= 0 && reward <= 1),
  );
  return wrong.map(([label]) => ({ pointer: `/input/rewardMap/${label}`, message: 'must be a label with a reward in [0,1]' }));
}

/** What is in force where nothing else is given. */
interface InForce {
  contextSchema: Record<string, unknown>;
  segmentKeys: readonly string[];
}

/** Everything that does not go together, with what stays as it is. */
function violationsOf({ rewardMap, contextSchema, candidateSchema, segmentKeys, guardrails }: Settings, known: InForce): Violation[] {
  const properties = ((contextSchema ?? known.contextSchema).properties ?? {}) as object;
  const keys = segmentKeys ?? known.segmentKeys;
  const unknown = keys.map((key, index) => [key, index] as const).filter(([key]) => !Object.hasOwn(properties, key));
  return [
    ...rewardViolations(rewardMap),
    ...(contextSchema ? schemaViolations(contextSchema, '/input/contextSchema') : []),
    ...(candidateSchema ? schemaViolations(candidateSchema, '/input/candidateSchema') : []),
    ...unknown.map(([key, index]) => ({ pointer: `/input/segmentKeys/${index}`, message: `${key} is no key of the context` })),
    ...guardrailViolations(guardrails ?? [], '/input/guardrails'),
  ];
}

const requireSound = (errors: Violation[]): void => void (errors.length && fail('invalid_request', 'The input is invalid', { errors }));

/** What was given; null and left out both mean: as it is. */
const given = (values: object): object => Object.fromEntries(Object.entries(values).filter(([, value]) => value != null));

const withParams = (policy: RankingPolicy): RankingPolicy =>
  Object.assign(policy, { guardrails: policy.guardrails.map(({ rule, params }) => ({ rule, params: params ?? {} })) });

@Resolver(() => RankingPolicy)
export class PolicyResolver {
  @Access(READERS)
  @Query(() => RankingPolicyConnection, { description: 'Ranking policies, newest first.' })
  rankingPolicies(
    @Args(() => RankingPoliciesArgs) { policyKind, policyKey, ...paging }: RankingPoliciesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<RankingPolicy>> {
    return page<RankingPolicy>(ctx.em, RankingPolicy, given({ policyKind, policyKey }) as never, paging, { time: 'createdAt' });
  }

  @Access(GOVERNORS)
  @Mutation(() => RankingPolicy, { description: 'Makes a policy; its version 1, which is empty, is the champion.' })
  async createRankingPolicy(
    @Arg('input', () => CreateRankingPolicyInput) input: CreateRankingPolicyInput,
    @Ctx() ctx: Context,
  ): Promise<RankingPolicy> {
    requireSound(violationsOf(input, { contextSchema: EMPTY_SCHEMA, segmentKeys: [] }));
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

  @Access(GOVERNORS)
  @Mutation(() => RankingPolicy, { description: 'Changes a policy. The reward map is fixed once a decision exists.' })
  async updateRankingPolicy(
    @Arg('input', () => UpdateRankingPolicyInput) input: UpdateRankingPolicyInput,
    @Ctx() ctx: Context,
  ): Promise<RankingPolicy> {
    const { id, version, ...changes } = input;
    const policy = await lockPolicy(ctx, id);
    requireSound(violationsOf(changes, policy));
    requireVersion(policy, version);
    if (changes.rewardMap && (await ctx.sql(`select 1 from ${ctx.schema}.decision where policy_id = $1 limit 1`, [policy.id])).length)
      fail('conflict', 'The reward map is fixed: there are decisions', { reason: 'reward_map_fixed' });
    Object.assign(policy, given(changes));
    ctx.afterCommit(() => forgetPolicies(ctx.host));
    ctx.audit('ranking_policy.changed', policy.id, { fields: Object.keys(given(changes)) });
    return withParams(policy);
  }
}
