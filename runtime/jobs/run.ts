import { newId } from '../data/ids.js';
import type { Context, ServiceHost } from '../request/context.js';
import type { JobDatabase } from './database.js';
import type { Claim } from './engine.js';
import type { JobRun, Progress } from './queue.js';
import { redacted } from './redact.js';

const MAX_LINES = 1000;
const PROGRESS_MS = 1000;

/** What a worker gives to a handler for one attempt; handlers take it apart, so what it offers is bound. */
export class Run implements JobRun<Record<string, unknown>> {
  readonly id: string;
  readonly attempt: number;
  readonly payload: Record<string, unknown>;
  readonly userId: string | null;
  readonly #abort = new AbortController();
  #progressAt = -Infinity;
  #later: { progress: Progress; timer: NodeJS.Timeout } | null = null;

  constructor(
    readonly claim: Claim,
    readonly host: ServiceHost,
    private readonly database: JobDatabase,
  ) {
    this.id = claim.id;
    this.attempt = claim.attempt;
    this.payload = claim.payload;
    this.userId = claim.userId;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** `reason` becomes the code of the failure, if the handler fails for it. */
  abort(reason: string): void {
    this.#abort.abort(Object.assign(new Error(reason), { code: reason }));
  }

  /** The service's inbox keeps what was done: its rows outlive every retry. */
  readonly once = async (key: string, work: (ctx: Context) => Promise<void>): Promise<void> => {
    await this.host.transaction(async ctx => {
      const [first] = await ctx.sql(
        `insert into ${ctx.schema}.inbox (consumer, event_id) values ($1, $2) on conflict do nothing returning 1`,
        [`job:${this.claim.queue}:${key}`, this.id],
      );
      if (first) await work(ctx);
    });
  };

  /** At most one write a second: what is reported in between waits for its end, and the last of it is written. */
  readonly progress = async (progress: Progress): Promise<void> => {
    const wait = this.#progressAt + PROGRESS_MS - performance.now();
    const merged = { ...this.#later?.progress, ...progress };
    if (wait <= 0 || progress.percent >= 100) return this.#write(merged);
    this.#later ??= { progress: merged, timer: setTimeout(() => void this.flushProgress().catch(() => undefined), wait) };
    this.#later.progress = merged;
  };

  /** Writes what still waits to be written; before the attempt is settled, because nothing is afterwards. */
  async flushProgress(): Promise<void> {
    if (this.#later) await this.#write(this.#later.progress);
  }

  async #write({ percent, step, message }: Progress): Promise<void> {
    clearTimeout(this.#later?.timer);
    this.#later = null;
    this.#progressAt = performance.now();
    await this.database.sql(
      `update jobs.job_meta set progress_percent = greatest(progress_percent, $3), progress_step = coalesce($4, progress_step),
         progress_message = coalesce($5, progress_message), progress_at = clock_timestamp()
       where id = $1 and claim = $2 and status = 'running'`,
      [
        this.id,
        this.claim.claim,
        Math.round(Math.min(100, Math.max(0, percent))),
        step?.slice(0, 100) ?? null,
        message === undefined ? null : redacted(message, 200),
      ],
    );
  }

  readonly log = async (level: 'info' | 'warn' | 'error', message: string): Promise<void> => {
    await this.database.sql(
      `insert into jobs.job_log (id, job_id, attempt, at, level, message) select $1, m.id, $3, clock_timestamp(), $4, $5 from jobs.job_meta m
       where m.id = $2 and m.claim = $6 and (select count(*) from jobs.job_log l where l.job_id = m.id) < ${MAX_LINES}`,
      [newId(), this.id, this.attempt, level, redacted(message, 1000), this.claim.claim],
    );
  };
}
