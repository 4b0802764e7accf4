import type { Context } from '../../../runtime/request/context.js';
import { actorOf } from '../../../runtime/request/caller.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { newId } from '../../../runtime/data/ids.js';
import { lockRow, rowsBy } from '../../../runtime/data/rows.js';
import { move } from '../../../runtime/request/states.js';
import type { Enqueued, NewJob } from '../../../runtime/jobs/engine.js';
import { cancelAtWorker, wakeWorkers } from '../../../runtime/jobs/hints.js';
import { releaseHeld } from '../../../runtime/jobs/pg-boss.js';
import { Job, type JobCount } from '../entities/job.js';
import { JobQueue } from '../entities/queue.js';
import { JobStatus } from '../entities/enums.js';
import type { DiscardJobInput, EnqueueJobInput, OperateJobInput } from '../inputs/job.js';
import { engineOf } from '../ports/engine.js';
import { JOB_STATES } from '../rules/states.js';
import { ADMITTED } from '../queries/exclusive.js';
import { violationsOf } from '../queries/queue.js';
import { requireReason } from './reason.js';

/** Scopes whose name is not the service's. Source: conventions 1. */
const SCOPES: Readonly<Record<string, string>> = {
  partner: 'capri',
  labs: 'clinical',
  messaging: 'comms',
  intelligence: 'ai',
  workflow: 'jobs',
};

function requireScope(ctx: Context, { service }: JobQueue): void {
  const scope = `admin:${SCOPES[service] ?? service}`;
  if (!ctx.caller.scopes.has(scope)) fail('insufficient_scope', `The token lacks ${scope}`, { scope });
}

/** @throws Problem not_found, insufficient_scope, or invalid_request with every violation of all inputs. */
async function requireAcceptable(ctx: Context, inputs: readonly EnqueueJobInput[], pointerOf: (index: number) => string): Promise<void> {
  const names = [...new Set(inputs.map(one => one.queue))];
  const queues = await rowsBy(ctx, JobQueue, 'name', names);
  const found = queues.map((queue, index) => queue ?? fail('not_found', `There is no queue ${names[index]}`));
  found.forEach(queue => requireScope(ctx, queue));
  requireValid(inputs.flatMap((input, index) => violationsOf(found[names.indexOf(input.queue)]!, input.payload, pointerOf(index))));
}

const newJob = (ctx: Context, input: EnqueueJobInput): NewJob => ({
  id: newId(),
  queue: input.queue,
  payload: input.payload as object,
  priority: input.priority ?? 0,
  run_at: input.runAt?.toISOString() ?? null,
  dedupe_key: input.dedupeKey ?? null,
  dedupe_seconds: input.dedupeSeconds ?? 0,
  group_key: input.groupKey ?? null,
  user_id: input.userId?.toLowerCase() ?? null,
  max_attempts: input.maxAttempts ?? undefined,
  requested_by: actorOf(ctx.caller),
});

/** Gives jobs to the engine with this transaction, and wakes their workers after it. */
export async function enqueueAll(ctx: Context, jobs: readonly NewJob[]): Promise<Enqueued[]> {
  const enqueued = await engineOf(ctx.host).enqueue(ctx.sql, jobs, ctx.now());
  wakeWorkers(
    ctx,
    jobs.map(job => job.queue),
  );
  return enqueued;
}

/** Enqueues one job; what is there already is answered with status 200. @throws Problem as {@link requireAcceptable}. */
export async function enqueueJob(ctx: Context, input: EnqueueJobInput): Promise<Job> {
  await requireAcceptable(ctx, [input], () => '/input/payload');
  const [{ id, existing }] = (await enqueueAll(ctx, [newJob(ctx, input)])) as [Enqueued];
  if (existing) ctx.status(200);
  else ctx.audit('job.enqueued', id, { queue: input.queue });
  return ctx.em.findOneOrFail(Job, { id });
}

/** All or none; the count is of the new ones. @throws Problem as {@link requireAcceptable}. */
export async function enqueueJobs(ctx: Context, inputs: readonly EnqueueJobInput[]): Promise<JobCount> {
  await requireAcceptable(ctx, inputs, index => `/input/jobs/${index}/payload`);
  const enqueued = await enqueueAll(
    ctx,
    inputs.map(input => newJob(ctx, input)),
  );
  const count = enqueued.filter(one => !one.existing).length;
  ctx.audit('job.batch_enqueued', null, { count, queues: [...new Set(inputs.map(one => one.queue))] });
  return { count };
}

/** Ends a job: at once while it waits; a running one is told to, which is answered with status 202. @throws Problem conflict. */
export async function cancelJob(ctx: Context, { id, reason }: OperateJobInput): Promise<Job> {
  const job = await lockRow(ctx, Job, { id });
  const was = job.status;
  job.status = move(JOB_STATES, 'job', was, 'cancel');
  ctx.audit('job.cancelled', job.id, { was, reason: requireReason(ctx, reason) });
  return job.status === JobStatus.CANCELLING ? cancelRunning(ctx, job) : cancelWaiting(ctx, job);
}

async function cancelRunning(ctx: Context, job: Job): Promise<Job> {
  ctx.status(202);
  await ctx.em.flush();
  await ctx.sql('update jobs.job_meta set cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()) where id = $1', [job.id]);
  cancelAtWorker(ctx, job.queueName, job.id);
  return ctx.em.refreshOrFail(job);
}

async function cancelWaiting(ctx: Context, job: Job): Promise<Job> {
  job.finishedAt = ctx.now();
  job.held = false;
  await engineOf(ctx.host).withdraw(ctx.sql, job.queueName, [job.id]);
  await ctx.em.flush();
  await releaseHeld(ctx.sql, job.scheduleKey);
  return job;
}

/** Puts a dead or cancelled job back, attempts from 0. @throws Problem conflict: its state, its erased payload, or an exclusive queue. */
export async function retryJob(ctx: Context, { id, reason }: OperateJobInput): Promise<Job> {
  const job = await lockRow(ctx, Job, { id });
  move(JOB_STATES, 'job', job.status, 'retry');
  await requirePayload(ctx, job);
  await requireAdmitted(ctx, job);
  ctx.audit('job.retried', job.id, { was: job.status, error_code: job.errorCode, reason: requireReason(ctx, reason) });
  await engineOf(ctx.host).redrive(ctx.sql, job.queueName, [job.id]);
  wakeWorkers(ctx, [job.queueName]);
  return ctx.em.refreshOrFail(job);
}

/** Erasure has taken the payload: there is nothing left to run. */
async function requirePayload(ctx: Context, { id }: Job): Promise<void> {
  const [kept] = await ctx.sql('select 1 from jobs.job_meta where id = $1 and payload is not null', [id]);
  if (!kept) fail('conflict', 'a job whose payload was erased cannot be put back', { reason: 'payload_erased' });
}

async function requireAdmitted(ctx: Context, { id }: Job): Promise<void> {
  const [refused] = await ctx.sql(`select 1 from jobs.job_meta m where m.id = $1 and not ${ADMITTED}`, [id]);
  if (refused) fail('conflict', 'another job of the queue waits or runs', { reason: 'queue_exclusive' });
}

/** Gives a dead job up; its key goes on. @throws Problem conflict. */
export async function discardJob(ctx: Context, { id, reason }: DiscardJobInput): Promise<Job> {
  const job = await lockRow(ctx, Job, { id });
  job.status = move(JOB_STATES, 'job', job.status, 'discard');
  ctx.audit('job.discarded', job.id, { error_code: job.errorCode, reason });
  await engineOf(ctx.host).forget(ctx.sql, [job.id]);
  wakeWorkers(ctx, [job.queueName]);
  return job;
}

/** A job `m` waits for its time only: an exclusive queue that does not admit it is looked at again when it does. */
export const WAITS_FOR_TIME = `m.status = 'scheduled' and not m.held and ${ADMITTED}`;

/** Queues the jobs whose time has come. */
export async function queueDueJobs(ctx: Context): Promise<void> {
  const due = await ctx.sql<{ id: string; queue: string }>(
    `select m.id, m.queue from jobs.job_meta m where ${WAITS_FOR_TIME} and run_at <= $1 order by run_at limit 1000 for update skip locked`,
    [ctx.now().toISOString()],
  );
  if (!due.length) return;
  await ctx.sql('select jobs.ready($1)', [due.map(row => row.id)]);
  wakeWorkers(
    ctx,
    due.map(row => row.queue),
  );
}
