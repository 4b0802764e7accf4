import type { Context } from '../../../runtime/request/context.js';
import { lockRow, requireVersion } from '../../../runtime/data/rows.js';
import { wakeWorkers } from '../../../runtime/jobs/hints.js';
import type { QueueSettings } from '../../../runtime/jobs/queue.js';
import { SETTING_COLUMNS } from '../../../runtime/jobs/register.js';
import type { JobCount } from '../entities/job.js';
import { JobQueue } from '../entities/queue.js';
import { JobQueuePolicy } from '../entities/enums.js';
import type { OperateJobQueueArgs, RetryDeadJobsInput, UpdateJobQueueInput } from '../inputs/queue.js';
import { engineOf } from '../ports/engine.js';
import { ADMITTED } from '../queries/exclusive.js';
import { requireReason } from './reason.js';

const SETTINGS = Object.keys(SETTING_COLUMNS) as (keyof QueueSettings)[];

const lock = (ctx: Context, name: string): Promise<JobQueue> => lockRow(ctx, JobQueue, { name }, 'There is no such queue');

const settingsOf = (queue: JobQueue): QueueSettings => Object.fromEntries(SETTINGS.map(key => [key, queue[key]])) as never;

/** Overrides settings of a queue, and notes which: what is left out stays, null is no override. @throws Problem not_found, conflict. */
export async function updateQueue(ctx: Context, input: UpdateJobQueueInput): Promise<JobQueue> {
  const reason = requireReason(ctx, input.reason);
  const queue = await lock(ctx, input.name);
  requireVersion(queue, input.version);
  const given = SETTINGS.filter(key => input[key] !== undefined);
  const changes = Object.fromEntries(given.filter(key => input[key] !== null).map(key => [key, input[key]]));
  Object.assign(queue, changes);
  if (input.perKeyConcurrency === null) queue.perKeyConcurrency = null;
  queue.overridden = [...new Set([...queue.overridden, ...given.map(key => SETTING_COLUMNS[key])])];
  ctx.audit('job_queue.updated', queue.name, { ...changes, reason });
  await engineOf(ctx.host).define(ctx.sql, queue.name, queue.policy, settingsOf(queue));
  return queue;
}

/** Whether jobs of a queue may begin; running ones finish in any case. @throws Problem not_found. */
export async function setPaused(ctx: Context, { name, reason: given }: OperateJobQueueArgs, paused: boolean): Promise<JobQueue> {
  const reason = requireReason(ctx, given, '/reason');
  const queue = await lock(ctx, name);
  ctx.audit(paused ? 'job_queue.paused' : 'job_queue.resumed', name, { was: queue.paused, reason });
  queue.paused = paused;
  if (!paused) wakeWorkers(ctx, [name]);
  return queue;
}

interface Dead {
  id: string;
  group_key: string | null;
}

const DEAD = `
select m.id, m.group_key from jobs.job_meta m where queue = $1 and status = 'dead' and payload is not null and ($2::text is null or error_code = $2)
  and ($3::timestamptz is null or finished_at >= $3) and ($4::timestamptz is null or finished_at < $4) and ${ADMITTED}
order by created_at, id limit $5 for update of m`;

const firstOfKeys = (rows: readonly Dead[]): Dead[] =>
  rows.filter((row, index) => rows.findIndex(one => one.group_key === row.group_key) === index);

/** Puts dead jobs of a queue back, oldest first; not those whose payload was erased. @throws Problem not_found. */
export async function retryDeadJobs(ctx: Context, input: RetryDeadJobsInput): Promise<JobCount> {
  const { name, errorCode = null, from = null, to = null, limit, reason = null } = input;
  const { policy } = await lock(ctx, name);
  const dead = await ctx.sql<Dead>(DEAD, [name, errorCode, from?.toISOString() ?? null, to?.toISOString() ?? null, limit]);
  const ids = (policy === JobQueuePolicy.EXCLUSIVE ? firstOfKeys(dead) : dead).map(row => row.id);
  ctx.audit('job_queue.dead_retried', name, { count: ids.length, error_code: errorCode, reason });
  if (ids.length) await engineOf(ctx.host).redrive(ctx.sql, name, ids);
  wakeWorkers(ctx, [name]);
  return { count: ids.length };
}
