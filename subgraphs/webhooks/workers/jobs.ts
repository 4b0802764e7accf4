import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Worker } from '../../../runtime/service.js';
import { WebhookJob } from '../entities/job.js';
import { jobSignalOf } from '../commands/jobs.js';
import { signalOf } from '../commands/signal.js';
import { recoverStep } from './job-recover.js';
import { replayStep } from './job-replay.js';
import type { JobStep, StepResult } from './job-step.js';
import { Loop } from './loop.js';

const STEPS: Readonly<Record<WebhookJob['kind'], JobStep>> = { replay_dead_letters: replayStep, recover: recoverStep };

/** A job is another process's when its own has not taken a step for so long, s. */
const CLAIM_SECONDS = 30;
/** Pause before a step that failed is taken again, s, and failures in a row after which the job has failed. */
const RETRY_SECONDS = 5;
const MAX_FAILURES = 10;

const CLAIM = `
update webhooks.webhook_job set status = 'running', claimed_until = clock_timestamp() + interval '${CLAIM_SECONDS} seconds' where id = (
  select id from webhooks.webhook_job where status in ('pending', 'running') and claimed_until < clock_timestamp() order by created_at, id limit 1 for update skip locked
) returning id`;
const LOCK = `select 1 from webhooks.webhook_job where id = $1 and status = 'running' for update`;
const ADVANCE = `
update webhooks.webhook_job set position = $2, matched = matched + $3, created = created + $4, skipped = skipped + $5, status = $6, failures = 0,
  finished_at = $7, claimed_until = clock_timestamp() + interval '${CLAIM_SECONDS} seconds' where id = $1`;
const FAILED = `update webhooks.webhook_job set status = 'failed', finished_at = $2 where id = $1`;
const TRY_AGAIN = `
update webhooks.webhook_job set failures = failures + 1, claimed_until = clock_timestamp() + interval '${RETRY_SECONDS} seconds',
  status = case when failures + 1 >= ${MAX_FAILURES} then 'failed' else status end, finished_at = case when failures + 1 >= ${MAX_FAILURES} then $2::timestamptz end
where id = $1 and status = 'running'`;

/** Works on bulk replays and recoveries, one at a time, in steps that each commit with their position. */
class JobRunner {
  readonly #loop: Loop;

  constructor(private readonly host: ServiceHost) {
    this.#loop = new Loop(host, jobSignalOf(host), 'jobs could not be looked for', () => this.#next());
  }

  start(): Loop {
    return this.#loop.start();
  }

  async #next(): Promise<boolean> {
    const id = await this.#claim();
    if (id) await this.#work(id);
    return id !== null;
  }

  #warn(error: unknown, message: string): void {
    this.host.log.warn({ err: loggedError(error) }, message);
  }

  async #claim(): Promise<string | null> {
    const [row] = await this.host.transaction(ctx => ctx.sql<{ id: string }>(CLAIM));
    return row?.id ?? null;
  }

  /** Step after step until it is done, cancelled, or a step fails; that one is taken again later, by whoever claims the job then. */
  async #work(id: string): Promise<void> {
    try {
      while (!this.#loop.stopping && (await this.#step(id)));
    } catch (error) {
      this.#warn(error, 'a step of a job failed; it is taken again');
      await this.host
        .transaction(ctx => ctx.sql(TRY_AGAIN, [id, ctx.now().toISOString()]))
        .catch(failure => this.#warn(failure, 'a job could not be put back; its claim runs out'));
    }
  }

  /** Whether there is more to do. */
  async #step(id: string): Promise<boolean> {
    const work = await this.host.read(async ctx => {
      const job = await ctx.em.findOneOrFail(WebhookJob, { id });
      return job.status === 'running' ? STEPS[job.kind](ctx, job) : null;
    });
    if (!work) return false; // cancelled
    return this.host.transaction(async ctx => {
      if ((await ctx.sql(LOCK, [id])).length === 0) return false; // cancelled
      const result = await work(ctx);
      await this.#record(ctx, id, result);
      ctx.afterCommit(() => signalOf(this.host).notify());
      return result.outcome === 'more';
    });
  }

  async #record(ctx: Context, id: string, result: StepResult): Promise<void> {
    const now = ctx.now().toISOString();
    if (result.outcome === 'failed') return void (await ctx.sql(FAILED, [id, now]));
    const done = result.outcome === 'completed';
    const { position, matched, created, skipped } = result;
    await ctx.sql(ADVANCE, [id, position, matched, created, skipped, done ? 'completed' : 'running', done ? now : null]);
  }
}

/** Runs jobs in processes with the role `consumers`. Source: section 8, recover and bulk replay. */
export const jobWorker: Worker = {
  role: 'consumers',
  start: async host => new JobRunner(host).start(),
};
