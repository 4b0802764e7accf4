import { randomUUID } from 'node:crypto';
import { loggedError } from '../observe/log.js';
import type { ServiceHost } from '../request/context.js';
import type { JobDatabase } from './database.js';
import type { Claim, Failure, JobEngine, Settlement } from './engine.js';
import { Permanent, type JobQueueDefinition } from './queue.js';
import { errorCodeOf, redacted } from './redact.js';
import { Run } from './run.js';
import { Settler } from './settler.js';

/** An idle worker looks so often; a hint of whoever enqueues shortens it. */
const POLL_MS = 1000;
/** Heartbeats, lost workers and cancellations. */
const BEAT_MS = 5000;
/** A row of `worker_beat` with every third heartbeat; after 60 s without one a worker counts as lost. */
const SIGN_EVERY = 3;
/** How long running handlers may go on after a stop before they are told to end, and then before their jobs are given back. */
const DRAIN_MS = 20_000;
const LAST_MS = 2000;

interface Work {
  run: Run;
  done: Promise<void>;
}

interface Waiting {
  name: string;
  concurrency: number;
  per_key_concurrency: number | null;
}

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (error instanceof Permanent) return { code: error.code, message: redacted(error.message, 500), permanent: true };
  const code = signal.aborted ? String((signal.reason as { code?: string }).code) : errorCodeOf(error);
  return { code, message: redacted(error instanceof Error ? error.message : String(error), 500), permanent: false };
}

/** Works the queues of one service in this process. Source: jobs 3, 7. */
export class JobWorker {
  readonly #instance = randomUUID();
  readonly #running = new Map<string, Work>();
  readonly #queues = new Map<string, JobQueueDefinition>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #settler: Settler;
  #looking: Promise<void> | null = null;
  #beating: Promise<void> | null = null;
  #lookAgain = false;
  #stopping = false;
  #beats = 0;
  #hints: { stop(): void } | undefined;

  constructor(
    private readonly host: ServiceHost,
    private readonly engine: JobEngine,
    private readonly database: JobDatabase,
    queues: readonly JobQueueDefinition[],
  ) {
    for (const queue of queues) this.#queues.set(queue.name, queue);
    this.#settler = new Settler(engine, database, () => this.#running.size);
  }

  start(): this {
    this.#hints = this.host.transport.onHint('jobs', '*', body => this.#onHint(body as { cancel?: string } | null));
    this.#timers.push(
      setInterval(() => this.look(), POLL_MS),
      setInterval(() => this.#beginBeat(), BEAT_MS),
    );
    void this.#signOfLife();
    this.look();
    return this;
  }

  #onHint(body: { cancel?: string } | null): void {
    if (body?.cancel) this.#running.get(body.cancel)?.run.abort('cancelled');
    else this.look();
  }

  /** Looks for work now; a look that runs is followed by another. */
  look(): void {
    if (this.#stopping) return;
    if (this.#looking) return void (this.#lookAgain = true);
    this.#lookAgain = false;
    const idle = this.#running.size === 0 && this.#beating; // one connection does for both
    this.#looking = Promise.resolve(idle)
      .then(() => this.#claimAll())
      .catch(error => this.#warn('jobs could not be claimed', error))
      .finally(() => {
        this.#looking = null;
        if (this.#lookAgain) this.look();
      });
  }

  #warn(what: string, error: unknown): void {
    if (!this.#stopping) this.host.log.warn({ err: loggedError(error) }, what);
  }

  async #claimAll(): Promise<void> {
    for (const queue of await this.#waiting()) {
      const free = queue.concurrency - [...this.#running.values()].filter(one => one.run.claim.queue === queue.name).length;
      if (free <= 0 || this.#stopping) continue;
      const claims = await this.database.transaction(sql =>
        this.engine.claim(sql, queue.name, free, queue.per_key_concurrency, this.#instance),
      );
      for (const claim of claims) this.#begin(claim);
      if (claims.length === free) this.#lookAgain = true;
    }
  }

  /** Own queues that are not paused and have something due, by the index that claiming takes: it holds what is not blocked. */
  #waiting(): Promise<Waiting[]> {
    return this.database.sql<Waiting>(
      `select q.name, q.concurrency, q.per_key_concurrency from jobs.queue_definition q where q.name = any($1) and not q.paused and exists (
         select 1 from pgboss.job j where j.name = q.name and j.state < 'active' and not j.blocked and j.start_after <= statement_timestamp())`,
      [[...this.#queues.keys()]],
    );
  }

  #begin(claim: Claim): void {
    const run = new Run(claim, this.host, this.database);
    const done = this.#work(run)
      .catch(error => this.#warn('a job could not be settled; its heartbeat will end it', error))
      .finally(() => {
        this.#running.delete(claim.id);
        this.look();
      });
    this.#running.set(claim.id, { run, done });
  }

  async #work(run: Run): Promise<void> {
    const { queue } = run.claim;
    const end = this.host.metrics.jobSeconds.startTimer({ queue });
    const outcome = await this.#settled(run);
    end();
    this.host.metrics.jobs.inc({ queue, outcome: outcome ?? 'refused' });
  }

  async #settled(run: Run): Promise<Settlement> {
    const { claim } = run;
    const deadline = setTimeout(() => run.abort('timed_out'), claim.timeoutSeconds * 1000);
    try {
      const output = await this.#handled(run);
      await run.flushProgress();
      return await this.#settler.succeed({ claim, output: output ?? null });
    } catch (error) {
      return await this.#settleFailure(run, failureOf(error, run.signal));
    } finally {
      clearTimeout(deadline);
    }
  }

  /** A handler that is out of time is left alone: whatever it reports later is refused. A cancelled one may still succeed. */
  async #handled(run: Run): Promise<Readonly<Record<string, unknown>> | void> {
    const queue = this.#queues.get(run.claim.queue)!;
    const late = new Promise<never>((_, reject) =>
      run.signal.addEventListener('abort', () => {
        const reason = run.signal.reason as { code: string };
        if (reason.code !== 'cancelled' && reason.code !== 'stopping') reject(run.signal.reason);
      }),
    );
    return Promise.race([queue.run(run as never), late]);
  }

  #settleFailure(run: Run, failure: Failure): Promise<Settlement> {
    return this.database.transaction(sql =>
      failure.code === 'stopping' ? this.engine.release(sql, run.claim) : this.engine.fail(sql, run.claim, failure),
    );
  }

  #beginBeat(): void {
    this.#beating = this.#beat().finally(() => {
      this.#beating = null;
    });
  }

  /** After a look that runs, as an idle worker's look comes after a beat that runs, so that it needs one connection. */
  async #beat(): Promise<void> {
    await this.#looking;
    if (++this.#beats % SIGN_EVERY === 0) await this.#signOfLife();
    try {
      const works = [...this.#running.values()];
      if (works.length) {
        const mine = await this.database.transaction(sql =>
          this.engine.beat(
            sql,
            works.map(one => one.run.claim),
          ),
        );
        for (const { run } of works) if (!mine.has(run.id)) run.abort('cancelled'); // cancelled, or somebody else's by now
      }
      if (await this.database.transaction(sql => this.engine.supervise(sql))) this.look();
    } catch (error) {
      this.#warn('heartbeats could not be written', error);
    }
  }

  async #signOfLife(): Promise<void> {
    await this.database
      .sql(
        `insert into jobs.worker_beat (service, instance, queues, last_beat_at, running, version) values ($1, $2, $3, clock_timestamp(), $4, $5)
         on conflict (service, instance) do update set last_beat_at = excluded.last_beat_at, running = excluded.running, queues = excluded.queues`,
        [this.host.slug, this.#instance, [...this.#queues.keys()], this.#running.size, process.version],
      )
      .catch(error => this.#warn('a sign of life could not be written', error));
  }

  /** Stops claiming; handlers may end, are told to, and at last their jobs go back to the queue, the attempt not counted. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#looking;
    await this.#drained(DRAIN_MS); // heartbeats and cancellations go on meanwhile
    for (const { run } of this.#running.values()) run.abort('stopping');
    await this.#drained(LAST_MS);
    this.#timers.forEach(timer => clearInterval(timer));
    this.#hints?.stop();
    await this.#beating;
    for (const { run } of this.#running.values())
      await this.database.transaction(sql => this.engine.release(sql, run.claim)).catch(() => undefined);
    await this.database
      .sql('delete from jobs.worker_beat where service = $1 and instance = $2', [this.host.slug, this.#instance])
      .catch(() => undefined);
  }

  async #drained(ms: number): Promise<void> {
    if (!this.#running.size) return;
    await Promise.race([Promise.all([...this.#running.values()].map(one => one.done)), pause(ms)]);
  }
}
