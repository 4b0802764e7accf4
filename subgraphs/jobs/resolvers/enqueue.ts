import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { actorOf } from '../../../runtime/request/caller.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { newId } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import type { Enqueued, NewJob } from '../../../runtime/jobs/engine.js';
import { hintWorkers } from '../../../runtime/jobs/hints.js';
import { Job, JobCount } from '../entities/job.js';
import { JobQueue } from '../entities/queue.js';
import { ENQUEUERS } from '../entities/enums.js';
import { EnqueueJobInput, EnqueueJobsInput } from '../inputs/job.js';
import { engineOf } from '../ports/engine.js';
import { violationsOf } from '../queries/payload.js';

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

const rowOf = (ctx: Context, input: EnqueueJobInput): NewJob => ({
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

/** Tells the workers after the commit; they look once a second anyway. */
export function wake(ctx: Context, queues: Iterable<string>): void {
  for (const queue of new Set(queues)) ctx.afterCommit(() => hintWorkers(ctx.host, queue));
}

/** The queues of the inputs. @throws Problem not_found, insufficient_scope, or invalid_request with every violation of all inputs. */
async function requireSound(ctx: Context, inputs: readonly EnqueueJobInput[], pointerOf: (index: number) => string): Promise<void> {
  const names = [...new Set(inputs.map(one => one.queue))];
  const queues = inOrder(names, await ctx.em.find(JobQueue, { name: { $in: names } }), one => one.name);
  const missing = names.filter((_, index) => !queues[index]);
  if (missing.length) fail('not_found', `There is no queue ${missing[0]}`);
  queues.forEach(queue => requireScope(ctx, queue!));
  const errors = inputs.flatMap((input, index) => violationsOf(queues[names.indexOf(input.queue)]!, input.payload, pointerOf(index)));
  requireValid(errors);
}

async function add(ctx: Context, inputs: readonly EnqueueJobInput[]): Promise<Enqueued[]> {
  const enqueued = await engineOf(ctx.host).enqueue(
    ctx.sql,
    inputs.map(input => rowOf(ctx, input)),
    ctx.now(),
  );
  wake(
    ctx,
    inputs.map(input => input.queue),
  );
  return enqueued;
}

@Resolver(() => Job)
export class EnqueueResolver {
  @Access(ENQUEUERS)
  @Mutation(() => Job, { description: 'Enqueues a job. The same dedupe key finds the job that is there.' })
  async enqueueJob(@Arg('input', () => EnqueueJobInput) input: EnqueueJobInput, @Ctx() ctx: Context): Promise<Job> {
    await requireSound(ctx, [input], () => '/input/payload');
    const [{ id, existing }] = (await add(ctx, [input])) as [Enqueued];
    if (existing) ctx.status(200);
    else ctx.audit('job.enqueued', id, { queue: input.queue });
    return ctx.em.findOneOrFail(Job, { id });
  }

  @Access(ENQUEUERS)
  @Mutation(() => JobCount, { description: 'Enqueues up to 1,000 jobs, all or none. Counted are the new ones.' })
  async enqueueJobs(@Arg('input', () => EnqueueJobsInput) { jobs }: EnqueueJobsInput, @Ctx() ctx: Context): Promise<JobCount> {
    await requireSound(ctx, jobs, index => `/input/jobs/${index}/payload`);
    const count = (await add(ctx, jobs)).filter(one => !one.existing).length;
    ctx.audit('job.batch_enqueued', null, { count, queues: [...new Set(jobs.map(one => one.queue))] });
    return { count };
  }
}
