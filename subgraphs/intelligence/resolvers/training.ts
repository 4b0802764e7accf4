import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { enqueue } from '../../../runtime/jobs/enqueue.js';
import { TrainingRun } from '../entities/evaluation.js';
import { GOVERNORS, type Ranker, READERS, TrainingRunStatus } from '../entities/enums.js';
import { StartTrainingInput } from '../inputs/policy.js';
import { MODELS } from '../rules/bundle.js';
import { lockPolicy } from '../commands/registry-store.js';
import { DAY_MS } from '../queries/settings.js';
import { trainings } from '../commands/training-job.js';

/** A run that still runs after so long has lost its job: three attempts of 15 minutes, and what lies between, are shorter. */
const LOST_AFTER_MS = 2 * 3_600_000;
/** Training reads a year's decisions unless told otherwise. */
const DEFAULT_DAYS = 365;

function violationsOf({ rankers, dataFrom, dataTo }: StartTrainingInput): Violation[] {
  const named = rankers.map((ranker, index) => ({ ranker, pointer: `/input/rankers/${index}` }));
  const untrained = named.filter(({ ranker }) => !(MODELS as readonly Ranker[]).includes(ranker));
  const repeated = named.filter(({ ranker }, index) => rankers.indexOf(ranker) < index);
  return [
    ...untrained.map(({ pointer }) => ({ pointer, message: 'cannot be trained' })),
    ...repeated.map(({ pointer }) => ({ pointer, message: 'is there already' })),
    ...(dataFrom && dataTo && dataFrom > dataTo ? [{ pointer: '/input/dataTo', message: 'is before the beginning' }] : []),
  ];
}

/** Ends a run whose job is gone. @throws Problem conflict while one runs. */
async function makeRoom(ctx: Context, policyId: string): Promise<void> {
  const running = await ctx.em.findOne(TrainingRun, { policyId, status: TrainingRunStatus.RUNNING });
  if (!running) return;
  if (ctx.now().getTime() - running.createdAt.getTime() < LOST_AFTER_MS)
    fail('conflict', 'a training of this policy is running', { reason: 'training_running' });
  Object.assign(running, { status: TrainingRunStatus.FAILED, reason: 'lost', finishedAt: ctx.now() });
  await ctx.em.flush();
}

@Resolver()
export class TrainingResolver {
  @Access(READERS)
  @Query(() => TrainingRun, { nullable: true })
  async trainingRun(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<TrainingRun | null> {
    return isUuid(id) ? ctx.em.findOne(TrainingRun, { id }, { refresh: true }) : null;
  }

  @Access(GOVERNORS)
  @Mutation(() => TrainingRun, { description: 'Trains on joined decisions, as a job. The result is a candidate, never more.' })
  async startTraining(@Arg('input', () => StartTrainingInput) input: StartTrainingInput, @Ctx() ctx: Context): Promise<TrainingRun> {
    const errors = violationsOf(input);
    requireValid(errors);
    const policy = await lockPolicy(ctx, input.policyId.toLowerCase());
    await makeRoom(ctx, policy.id);
    const dataTo = input.dataTo ?? ctx.now();
    const dataFrom = input.dataFrom ?? new Date(dataTo.getTime() - DEFAULT_DAYS * DAY_MS);
    const { rankers, seed } = input;
    const run = Object.assign(new TrainingRun(), { policyId: policy.id, rankers, dataFrom, dataTo, seed, createdAt: ctx.now() });
    ctx.em.persist(run);
    await enqueue(ctx, trainings, { training_run_id: run.id });
    ctx.audit('training_run.started', run.id, { policy: policy.id, rankers });
    return run;
  }
}
