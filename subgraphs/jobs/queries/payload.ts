import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation } from '../../../runtime/request/errors.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { schemaViolations } from '../../../runtime/schema/json-schema.js';
import { JobQueue } from '../entities/queue.js';
import { payloadViolations } from '../rules/payload.js';

/** Queues by name, one statement for all that are asked at once. */
export const loadQueue = (ctx: Context, name: string): Promise<JobQueue | null> =>
  ctx.load('job.queue', name, async names => inOrder(names, await ctx.em.find(JobQueue, { name: { $in: [...names] } }), one => one.name));

/** @throws Problem not_found for a queue that does not exist. */
export const requireQueue = async (ctx: Context, name: string): Promise<JobQueue> =>
  (await loadQueue(ctx, name)) ?? fail('not_found', 'There is no such queue');

/** Everything in which a payload breaks the rules of all queues and the schema of its own. */
export function violationsOf(queue: JobQueue, payload: unknown, pointer: string): Violation[] {
  const violations = payloadViolations(payload, pointer);
  return violations.length ? violations : schemaViolations(queue.payloadSchema, payload, pointer);
}
