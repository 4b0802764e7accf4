import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { enqueue } from '../../../runtime/jobs/enqueue.js';
import { after, DAY_MS, HOUR_MS } from '../../../runtime/time/durations.js';
import { type Ranker, TrainingRunStatus } from '../entities/enums.js';
import { TrainingRun } from '../entities/evaluation.js';
import type { StartTrainingInput } from '../inputs/policy.js';
import { MODELS } from '../rules/bundle.js';
import { lockPolicy } from './registry.js';
import { trainings } from './training-job.js';

/** A run that still runs after so long has lost its job: three attempts of 15 minutes, and what lies between, are shorter. */
const LOST_AFTER_MS = 2 * HOUR_MS;
/** Training reads a year's decisions unless another window is given. */
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
async function endLost(ctx: Context, policyId: string): Promise<void> {
  const running = await ctx.em.findOne(TrainingRun, { policyId, status: TrainingRunStatus.RUNNING });
  if (!running) return;
  if (ctx.now().getTime() - running.createdAt.getTime() < LOST_AFTER_MS)
    fail('conflict', 'a training of this policy is running', { reason: 'training_running' });
  Object.assign(running, { status: TrainingRunStatus.FAILED, reason: 'lost', finishedAt: ctx.now() });
  await ctx.em.flush();
}

/** Trains on joined decisions, as a job. The result is a candidate, never more. @throws Problem invalid_request, not_found, conflict. */
export async function startTraining(ctx: Context, input: StartTrainingInput): Promise<TrainingRun> {
  requireValid(violationsOf(input));
  const policy = await lockPolicy(ctx, input.policyId.toLowerCase());
  await endLost(ctx, policy.id);
  const dataTo = input.dataTo ?? ctx.now();
  const dataFrom = input.dataFrom ?? after(dataTo, -DEFAULT_DAYS * DAY_MS);
  const { rankers, seed } = input;
  const run = Object.assign(new TrainingRun(), { policyId: policy.id, rankers, dataFrom, dataTo, seed, createdAt: ctx.now() });
  ctx.em.persist(run);
  await enqueue(ctx, trainings, { training_run_id: run.id });
  ctx.audit('training_run.started', run.id, { policy: policy.id, rankers });
  return run;
}
