import { prepared } from '../../events/prepared.js';
import type { Context } from '../request/context.js';
import { actorOf } from '../request/caller.js';
import { newId } from '../data/ids.js';
import type { Enqueued, JobStatus } from './engine.js';
import { wakeWorkers } from './hints.js';
import type { JobQueueDefinition } from './queue.js';

export interface EnqueueOptions {
  /** Later than now by the service's clock: the job waits for it. */
  runAt?: Date | null;
  /** -10..10, the highest first. */
  priority?: number;
  dedupeKey?: string;
  /** How long after its end a job still stands for its dedupe key. */
  dedupeSeconds?: number;
  groupKey?: string;
  /** The user whom the job concerns; it is then in `jobs/me`, and erased with the user. */
  userId?: string;
  maxAttempts?: number;
  /** Default: a new one; one that is there already is not enqueued again. */
  id?: string;
  parentId?: string;
}

const ENQUEUE = prepared('select * from jobs.enqueue($1::json, $2)');

/**
 * Enqueues a job on one of the service's own queues in the running transaction: rolled back, there is no job. Source: jobs 7.1.
 * @throws Error outside a transaction; ZodError for a payload that the queue does not know.
 */
export async function enqueue(ctx: Context, queue: JobQueueDefinition, payload: object, options: EnqueueOptions = {}): Promise<Enqueued> {
  if (!ctx.inTransaction) throw new Error(`${queue.name} was enqueued outside a transaction`);
  const job = {
    id: options.id ?? newId(),
    queue: queue.name,
    payload: queue.payload.strict().parse(payload),
    priority: options.priority ?? 0,
    run_at: options.runAt?.toISOString() ?? null,
    dedupe_key: options.dedupeKey ?? null,
    dedupe_seconds: options.dedupeSeconds ?? 0,
    group_key: options.groupKey ?? null,
    user_id: options.userId ?? null,
    max_attempts: options.maxAttempts,
    requested_by: actorOf(ctx.caller),
    parent_id: options.parentId ?? null,
  };
  const given = [JSON.stringify([job]), ctx.now().toISOString()];
  const [row] = await ctx.sql<{ job_id: string; job_status: JobStatus; existing: boolean }>(ENQUEUE, given);
  wakeWorkers(ctx, [queue.name]);
  return { id: row!.job_id, status: row!.job_status, existing: row!.existing };
}
