import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { activateDecision, recordOutcome } from '../commands/decision.js';
import { READERS, seesAll } from '../entities/access.js';
import { DecisionExplanation, DecisionOutcome, LoopDecision, LoopDecisionConnection, RankedCandidate } from '../entities/decision.js';
import { ActivateDecisionInput, LoopDecisionsArgs, RecordDecisionOutcomeInput } from '../inputs/rank.js';
import { decisionOf, decisionsAbout, decisionsPage, explainDecision } from '../queries/decisions.js';
import { recordOf } from '../queries/ledger-record.js';
import { User } from '../stubs.js';

@Resolver(() => LoopDecision)
export class DecisionResolver {
  @Access(READERS)
  @Query(() => LoopDecisionConnection, { description: 'The ledger, newest first. Other services see what the safe views show.' })
  loopDecisions(@Args(() => LoopDecisionsArgs) args: LoopDecisionsArgs, @Ctx() ctx: Context): Promise<Connection<LoopDecision>> {
    return decisionsPage(ctx, args);
  }

  @Access(READERS)
  @Query(() => LoopDecision, { nullable: true })
  loopDecision(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LoopDecision | null> {
    return decisionOf(ctx, id);
  }

  @Access(READERS)
  @Query(() => DecisionExplanation, { nullable: true, description: 'Works a decision out again, bit for bit.' })
  explainDecision(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<DecisionExplanation | null> {
    return explainDecision(ctx, id);
  }

  @Access(READERS)
  @Mutation(() => LoopDecision, { description: 'A decision that was made ahead is shown now; its deadline counts from here.' })
  activateDecision(@Arg('input', () => ActivateDecisionInput) { id }: ActivateDecisionInput, @Ctx() ctx: Context): Promise<LoopDecision> {
    return activateDecision(ctx, id);
  }

  @Access(READERS)
  @Mutation(() => LoopDecision, { description: 'Records what became of a decision. The same source event again changes nothing.' })
  recordDecisionOutcome(
    @Arg('input', () => RecordDecisionOutcomeInput) input: RecordDecisionOutcomeInput,
    @Ctx() ctx: Context,
  ): Promise<LoopDecision> {
    return recordOutcome(ctx, input);
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
    return loadRow(ctx, DecisionOutcome, 'decisionId', id);
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
  loopDecisions(@Root() { id }: User, @Args(() => PageArgs) paging: PageArgs, @Ctx() ctx: Context): Promise<Connection<LoopDecision>> {
    return decisionsAbout(ctx, id, paging);
  }
}
