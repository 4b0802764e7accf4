import { LockMode, type FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, Field, FieldResolver, Float, ID, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { writeAudit } from '../../../runtime/data/audit.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { move } from '../../../runtime/request/states.js';
import { DecisionOutcome, LoopDecision, LoopDecisionConnection, RankedCandidate } from '../entities/decision.js';
import { RankingPolicy } from '../entities/policy.js';
import { RegistryVersion } from '../entities/registry.js';
import { DecisionStatus, READERS } from '../entities/enums.js';
import { ActivateDecisionInput, LoopDecisionsArgs, RecordDecisionOutcomeInput } from '../inputs/rank.js';
import { User } from '../stubs.js';
import { rank, type RankAnswer } from '../rules/ranking.js';
import { seedNumber, uniformsOf } from '../rules/sampling.js';
import { DECISION_STATES } from '../rules/states.js';
import { questionOf, recordOf, type LedgerRecord } from '../queries/ledger-record.js';
import { recordById } from '../commands/outcome-join.js';
import { openOutcomeWindow } from './rank.js';
import { bundleOf } from '../commands/registry-store.js';
import { DAY_MS } from '../queries/settings.js';

/** A decision that is made ahead may be shown for a day. Source: intelligence 3. */
export const ACTIVATION_HOURS = 24;

/** Internal clients of other services read what the safe views show. Source: spec 1, Personal health data. */
const seesAll = ({ caller }: Context): boolean => caller.serviceSlug === null || caller.serviceSlug === 'intelligence';

/** Who read whose context; counts and ids of decisions, not of entities. Source: intelligence 7.3.19. */
async function auditReads(ctx: Context, decisions: readonly LoopDecision[]): Promise<void> {
  if (!seesAll(ctx) || decisions.length === 0) return;
  const rows = decisions.map(({ id }) => ({ action: 'decision.read', target: id, details: {} }));
  await writeAudit(ctx.sql, ctx.schema, rows, ctx.caller, ctx.request.id, ctx.now());
}

async function load(ctx: Context, id: string): Promise<LoopDecision> {
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE };
  return (isUuid(id) ? await ctx.em.findOne(LoopDecision, { id }, lock) : null) ?? fail('not_found', 'Not found');
}

function whereOf({ entityId, policyKind, policyKey, status, stage, from, to }: LoopDecisionsArgs): FilterQuery<LoopDecision> {
  const time = { ...(from && { $gte: from }), ...(to && { $lt: to }) };
  return {
    ...(entityId && { entity: entityId.toLowerCase() }),
    ...(policyKind && { policyKind }),
    ...(policyKey && { policyKey }),
    ...(status && { status }),
    ...(stage && { stage }),
    ...(Object.keys(time).length && { decidedAt: time }),
  } as FilterQuery<LoopDecision>;
}

async function list(ctx: Context, args: LoopDecisionsArgs): Promise<Connection<LoopDecision>> {
  const found = await page<LoopDecision>(ctx.em, LoopDecision, whereOf(args), args, { time: 'decidedAt' });
  await auditReads(ctx, found.nodes);
  return found;
}

@Access(READERS)
@ObjectType({ description: 'A decision worked out again from its version, seed and record.' })
export class DecisionExplanation {
  @Field(() => ID)
  decisionId: string;

  @Field(() => String)
  ranker: string;

  @Field(() => String)
  seed: string;

  @Field(() => Float, { description: 'The uniform number that drew the served candidate.' })
  draw: number;

  @Field(() => [RankedCandidate], { description: 'The whole safe set.' })
  ranked: RankedCandidate[];

  @Field(() => String, { nullable: true })
  servedCandidateId: string | null;

  @Field(() => JSONObject)
  context: object;

  @Field(() => Boolean, { description: 'Everything is equal bit for bit.' })
  reproduced: boolean;
}

const places = (record: LedgerRecord, answer: RankAnswer): RankedCandidate[] =>
  answer.order.map((index, place) => ({
    candidateId: record.safe[index]!,
    rank: place + 1,
    score: answer.scored[index]!.score,
    propensity: answer.propensities[index]!,
  }));

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function isReproduced(decision: LoopDecision, record: LedgerRecord, answer: RankAnswer): boolean {
  const served = record.safe[answer.served];
  return (
    served === decision.servedCandidateId &&
    answer.propensities[answer.served] === decision.propensity &&
    answer.predicted === decision.predictedOutcome &&
    same(places(record, answer).slice(0, record.ranked.length), record.ranked) &&
    Object.entries(answer.shadow).every(([ranker, value]) => decision.shadowPredictions[ranker] === value)
  );
}

async function outcomes(ctx: Context, ids: readonly string[]): Promise<(DecisionOutcome | null)[]> {
  return inOrder(ids, await ctx.em.find(DecisionOutcome, { decisionId: { $in: [...ids] } }), row => row.decisionId);
}

@Resolver(() => LoopDecision)
export class DecisionResolver {
  @Access(READERS)
  @Query(() => LoopDecisionConnection, { description: 'The ledger, newest first. Other services see what the safe views show.' })
  loopDecisions(@Args(() => LoopDecisionsArgs) args: LoopDecisionsArgs, @Ctx() ctx: Context): Promise<Connection<LoopDecision>> {
    if (args.from && args.to && args.from > args.to) invalid('/to', 'is before from');
    return list(ctx, args);
  }

  @Access(READERS)
  @Query(() => LoopDecision, { nullable: true })
  async loopDecision(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LoopDecision | null> {
    const decision = isUuid(id) ? await ctx.em.findOne(LoopDecision, { id }) : null;
    if (decision) await auditReads(ctx, [decision]);
    return decision;
  }

  @Access(READERS)
  @Query(() => DecisionExplanation, { nullable: true, description: 'Works a decision out again, bit for bit.' })
  async explainDecision(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<DecisionExplanation | null> {
    const decision = isUuid(id) ? await ctx.em.findOne(LoopDecision, { id }) : null;
    if (!decision) return null;
    if (!seesAll(ctx)) fail('forbidden', 'The context of decisions is not open to other services');
    await auditReads(ctx, [decision]);
    const record = recordOf(ctx, decision);
    const bundle = await bundleOf(ctx, await ctx.em.findOneOrFail(RegistryVersion, { id: decision.registryId }, { refresh: true }));
    if (!bundle) fail('conflict', 'The artefact of its version was erased', { reason: 'artifact_erased' });
    const { seed, ranker, servedCandidateId } = decision;
    const answer = record.safe.length ? rank(questionOf(record, decision, bundle!), seed) : null;
    const reproduced = answer === null ? servedCandidateId === null : isReproduced(decision, record, answer);
    const draw = uniformsOf(seedNumber(seed))();
    return {
      decisionId: id,
      ranker,
      seed,
      draw,
      ranked: answer ? places(record, answer) : [],
      servedCandidateId,
      context: record.context,
      reproduced,
    };
  }

  @Access(READERS)
  @Mutation(() => LoopDecision, { description: 'A decision that was made ahead is shown now; its deadline counts from here.' })
  async activateDecision(
    @Arg('input', () => ActivateDecisionInput) { id }: ActivateDecisionInput,
    @Ctx() ctx: Context,
  ): Promise<LoopDecision> {
    const decision = await load(ctx, id);
    if (decision.status === DecisionStatus.PENDING) return decision;
    const next = move(DECISION_STATES, 'decision', decision.status, 'activate');
    const now = ctx.now();
    if (now.getTime() > decision.decidedAt.getTime() + ACTIVATION_HOURS * 3_600_000)
      fail('conflict', 'a decision is activated within 24 hours', { reason: 'too_late' });
    const { maturationDays } = await ctx.em.findOneOrFail(RankingPolicy, { id: decision.policyId });
    Object.assign(decision, { status: next, activatedAt: now, maturesAt: new Date(now.getTime() + maturationDays * DAY_MS) });
    await openOutcomeWindow(ctx, decision);
    ctx.audit('decision.activated', id);
    return decision;
  }

  @Access(READERS)
  @Mutation(() => LoopDecision, { description: 'Records what became of a decision. The same source event again changes nothing.' })
  async recordDecisionOutcome(
    @Arg('input', () => RecordDecisionOutcomeInput) input: RecordDecisionOutcomeInput,
    @Ctx() ctx: Context,
  ): Promise<LoopDecision> {
    const { id, label, sourceEventId, sourceType } = input;
    const occurredAt = input.occurredAt ?? ctx.now();
    await recordById(ctx, id, { label, sourceType: sourceType ?? 'manual', sourceEventId, occurredAt });
    return ctx.em.findOneOrFail(LoopDecision, { id }, { refresh: true });
  }

  @Access(READERS)
  @FieldResolver(() => ID, { nullable: true, description: 'Null for other services.' })
  entityId(@Root() decision: LoopDecision, @Ctx() ctx: Context): string | null {
    return seesAll(ctx) ? decision.entity : null;
  }

  @Access(READERS)
  @FieldResolver(() => JSONObject, { nullable: true, description: 'Null for other services.' })
  context(@Root() decision: LoopDecision, @Ctx() ctx: Context): object | null {
    if (!seesAll(ctx)) return null;
    const { context, features, featureVersions } = recordOf(ctx, decision);
    return { ...context, features, feature_versions: featureVersions };
  }

  @Access(READERS)
  @FieldResolver(() => JSONObject, { nullable: true, description: 'Null for other services.' })
  candidates(@Root() decision: LoopDecision, @Ctx() ctx: Context): object | null {
    return seesAll(ctx) ? recordOf(ctx, decision).candidates.map(({ id, features, tags, codes }) => ({ id, features, tags, codes })) : null;
  }

  @Access(READERS)
  @FieldResolver(() => [RankedCandidate], {
    nullable: true,
    description: 'The answer; null for other services, except to their own question.',
  })
  ranked(@Root() decision: LoopDecision, @Ctx() ctx: Context): RankedCandidate[] | null {
    return seesAll(ctx) || decision.answered ? recordOf(ctx, decision).ranked : null;
  }

  @Access(READERS)
  @FieldResolver(() => DecisionOutcome, { nullable: true })
  outcome(@Root() { id }: LoopDecision, @Ctx() ctx: Context): Promise<DecisionOutcome | null> {
    return ctx.load('decision.outcome', id, keys => outcomes(ctx, keys));
  }
}

@Resolver(() => DecisionOutcome)
export class DecisionOutcomeResolver {
  @Access(READERS)
  @FieldResolver(() => String, { nullable: true, description: 'Null for other services.' })
  label(@Root() { labelText }: DecisionOutcome, @Ctx() ctx: Context): string | null {
    return seesAll(ctx) ? labelText : null;
  }

  @Access(READERS)
  @FieldResolver(() => String, { nullable: true, description: 'Null for other services.' })
  sourceEventId(@Root() { sourceId }: DecisionOutcome, @Ctx() ctx: Context): string | null {
    return seesAll(ctx) ? sourceId : null;
  }
}

@Resolver(() => User)
export class UserDecisionsResolver {
  @Access(READERS)
  @FieldResolver(() => LoopDecisionConnection, { nullable: true, description: 'Decisions about a user, newest first; for services only.' })
  loopDecisions(
    @Root() { id }: User,
    @Args(() => PageArgs) { first, after }: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LoopDecision>> {
    if (!seesAll(ctx)) fail('forbidden', 'Whom a decision is about is not open to other services');
    return list(ctx, { first, after, entityId: id });
  }
}
