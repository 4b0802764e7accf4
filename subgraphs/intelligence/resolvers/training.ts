import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { startTraining } from '../commands/training.js';
import { GOVERNORS, READERS } from '../entities/access.js';
import { TrainingRun } from '../entities/evaluation.js';
import { StartTrainingInput } from '../inputs/policy.js';

@Resolver()
export class TrainingResolver {
  @Access(READERS)
  @Query(() => TrainingRun, { nullable: true })
  trainingRun(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<TrainingRun | null> {
    return findRow(ctx, TrainingRun, { id }, { refresh: true });
  }

  @Access(GOVERNORS)
  @Mutation(() => TrainingRun, { description: 'Trains on joined decisions, as a job. The result is a candidate, never more.' })
  startTraining(@Arg('input', () => StartTrainingInput) input: StartTrainingInput, @Ctx() ctx: Context): Promise<TrainingRun> {
    return startTraining(ctx, input);
  }
}
