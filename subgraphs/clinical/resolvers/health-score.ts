import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { recomputeHealthScore } from '../commands/health-score.js';
import { HealthScore, HealthScoreConnection, HealthScorePlan, SCORE_READERS } from '../entities/health-score.js';
import { HealthScoreArgs, HealthScoresArgs, RecomputeHealthScoreInput } from '../inputs/health-score.js';
import { newestScore } from '../queries/health-score.js';
import { patientOf } from '../queries/patient.js';
import { readPage } from '../queries/read-audit.js';

@Resolver(() => HealthScore)
export class HealthScoreResolver {
  @Access({ user: 'read:clinical' })
  @Query(() => HealthScore, { description: 'Own newest score.' })
  myHealthScore(@Ctx() ctx: Context): Promise<HealthScore> {
    return newestScore(ctx, ctx.caller.userId!);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read' })
  @Query(() => HealthScore, { description: "A patient's newest score." })
  healthScore(@Args(() => HealthScoreArgs) { userId }: HealthScoreArgs, @Ctx() ctx: Context): Promise<HealthScore> {
    return newestScore(ctx, userId.toLowerCase());
  }

  @Access({ ...SCORE_READERS, self: true })
  @Query(() => HealthScoreConnection, { description: 'Scores, newest first.' })
  healthScores(
    @Args(() => HealthScoresArgs) { userId, ...paging }: HealthScoresArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<HealthScore>> {
    return readPage(ctx, 'health_scores', HealthScore, { patientId: patientOf(ctx, userId) }, paging, 'computedAt');
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:results' })
  @Mutation(() => HealthScorePlan, { description: "Computes a patient's score anew, soon." })
  recomputeHealthScore(
    @Arg('input', () => RecomputeHealthScoreInput) { userId }: RecomputeHealthScoreInput,
    @Ctx() ctx: Context,
  ): Promise<HealthScorePlan> {
    return recomputeHealthScore(ctx, userId.toLowerCase());
  }
}
