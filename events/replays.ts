import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { NO_REPLAY } from './envelope.js';
import { EventLeases } from './lease-table.js';
import { LeaseKeeper } from './leases.js';
import { errorOf, type EventLog } from './log.js';
import type { Sql } from './outbox.js';
import { isAtEnd, readReplay, type ReplayFilter, type ReplayPosition, type ReplayRow } from './replay-log.js';
import { ReplayPace } from './replay-pace.js';
import type { ConsumerSpec, Transport } from './transport/port.js';

export interface ReplaysOptions {
  /** Connections that act as `platform_events`. */
  pool: pg.Pool;
  transport: Transport;
  log: EventLog;
  /** Length of the lease, ms; default 10,000. */
  leaseMs?: number;
  /** Events that are sent at once at most; default 500. */
  batch?: number;
}

interface Job {
  id: string;
  consumer: string;
  mode: 'dedupe' | 'rerun';
  filter: ReplayFilter;
  upto: number[];
  group: number;
  position: number;
}

const LEASE = 'replays:0';
const IDLE_MS = 500;
/** Between two looks at a consumer that has not done yet what it was sent. */
const LOOK_MS = 100;

/** A pending one begins. */
const JOBS = `
with begun as (
  update events.replay set status = 'running', started_at = clock_timestamp() where status = 'pending' returning id
)
select r.id, r.consumer, r.mode, r.filter, r.upto::float8[] as upto, r.at_group as "group", r.at_place::float8 as position
from events.replay r where r.status = 'running' or r.id in (select id from begun) order by r.created_at, r.id`;

const CONSUMER = `
select name, types, partitions, generation, on_replay as "onReplay" from events.consumer where name = $1 and status <> 'detached'`;

/** What an operator gave up at the consumer; of it only a replay that runs handlers again brings anything. */
const GIVEN_UP = `select e as id from unnest($2::uuid[]) e where events.is_settled($1, e, $3)`;

/** Only from where the batch began, so that two runners never count one twice. */
const PROGRESS = `
update events.replay set sent = sent + $4, skipped = skipped + $5, at_group = $6, at_place = $7,
  status = case when $8 then 'completed' else status end, finished_at = case when $8 then clock_timestamp() end
where id = $1 and status = 'running' and at_group = $2 and at_place = $3 returning clock_timestamp() as at`;

const FAIL = `update events.replay set status = 'failed', error = $2, finished_at = clock_timestamp() where id = $1 and status = 'running'`;

/**
 * Runs the replays that operators ask for: reads the log in order and sends to the one consumer, batch after batch, each as large as the
 * consumer does in a moment and none while it lags behind its live events, and notes after each where it stands. A process that dies is followed by another, which sends at most its last batch again; the inbox drops that. Source: event-machinery 9.
 */
export async function startReplays(options: ReplaysOptions): Promise<{ stop(): Promise<void> }> {
  const replays = new Replays(options);
  await replays.start();
  return replays;
}

class Replays {
  readonly #keeper: LeaseKeeper;
  readonly #sql: Sql;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;
  readonly #paces = new Map<string, ReplayPace>();

  constructor(readonly options: ReplaysOptions) {
    const { pool, leaseMs = 10_000, log } = options;
    this.#keeper = new LeaseKeeper({ table: new EventLeases(pool), holder: randomUUID(), leaseMs, log });
    this.#sql = async <Row>(text: string, params: readonly unknown[] = []) => (await pool.query(text, [...params])).rows as Row[];
  }

  async start(): Promise<void> {
    await this.#keeper.join({ kind: 'replays', names: [LEASE], gained: () => undefined, lost: () => undefined });
    this.#schedule(0);
  }

  #schedule(wait: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#run().then(wait => this.#schedule(wait));
    }, wait);
  }

  /** A batch of each replay whose consumer is ready for it; how long to wait before the next look, ms. */
  async #run(): Promise<number> {
    if (!this.#keeper.held(LEASE) || !this.options.transport.accepting()) return IDLE_MS;
    try {
      const jobs = await this.#sql<Job>(JOBS);
      for (const id of this.#paces.keys()) if (!jobs.some(job => job.id === id)) this.#paces.delete(id);
      const waits = await Promise.all(jobs.map(job => this.#step(job)));
      return Math.min(IDLE_MS, ...waits);
    } catch (error) {
      if (!this.#stopped) this.options.log.warn({ err: errorOf(error) }, 'the replays could not be read; they are tried again');
      return IDLE_MS;
    }
  }

  async #step(job: Job): Promise<number> {
    try {
      const [spec] = await this.#sql<ConsumerSpec>(CONSUMER, [job.consumer]);
      if (!spec) return await this.#fail(job, 'the consumer is detached');
      return await this.#batch(job, spec);
    } catch (error) {
      if (!this.#stopped)
        this.options.log.warn({ err: errorOf(error), replay: job.id }, 'a batch of a replay was not sent; it is tried again');
      return IDLE_MS;
    }
  }

  async #batch(job: Job, spec: ConsumerSpec): Promise<number> {
    const pace = this.#paceOf(job);
    const pressure = await this.options.transport.pressure(spec, pace.sentAt);
    const room = pressure ? pace.room(pressure, performance.now()) : 0;
    if (room === 0) return LOOK_MS;
    const { sent, sentAt, done } = await this.#send(job, spec, room);
    if (sentAt) pace.sent(sent, sentAt, performance.now());
    return done ? IDLE_MS : sentAt ? LOOK_MS : 0;
  }

  #paceOf({ id }: Job): ReplayPace {
    const pace = this.#paces.get(id) ?? new ReplayPace(this.options.batch ?? 500);
    this.#paces.set(id, pace);
    return pace;
  }

  /** The next events of the log; `sentAt` is null where none of them was to be sent. */
  async #send(job: Job, spec: ConsumerSpec, count: number): Promise<{ sent: number; sentAt: Date | null; done: boolean }> {
    const from: ReplayPosition = { group: job.group, position: job.position };
    const { rows, next } = await readReplay(this.#sql, job.filter, job.upto, from, count);
    const wanted = await this.#withoutGivenUp(
      job,
      rows.filter(row => !row.erased && spec.types.includes(row.type)),
    );
    if (wanted.length > 0) await this.options.transport.replay(spec, wanted, { id: job.id, mode: job.mode });
    const done = isAtEnd(next);
    const [noted] = await this.#sql<{ at: Date }>(PROGRESS, [
      job.id,
      from.group,
      from.position,
      wanted.length,
      rows.length - wanted.length,
      next.group,
      next.position,
      done,
    ]);
    return { sent: wanted.length, sentAt: wanted.length > 0 && noted ? noted.at : null, done };
  }

  async #withoutGivenUp({ id, consumer, mode }: Job, rows: readonly ReplayRow[]): Promise<readonly ReplayRow[]> {
    const params = [consumer, rows.map(row => row.id), mode === 'rerun' ? id : NO_REPLAY];
    const givenUp = new Set((await this.#sql<{ id: string }>(GIVEN_UP, params)).map(row => row.id));
    return rows.filter(row => !givenUp.has(row.id));
  }

  async #fail(job: Job, why: string): Promise<number> {
    await this.#sql(FAIL, [job.id, why]);
    this.options.log.warn({ replay: job.id, consumer: job.consumer }, 'a replay failed');
    return IDLE_MS;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    await this.#keeper.stop();
  }
}
