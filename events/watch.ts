import type pg from 'pg';
import { systemNow } from './envelope.js';
import { errorOf, type EventLog } from './log.js';
import type { EventMetrics } from './metrics.js';
import { ProgressNotes, type Standing } from './progress.js';

/** Look at retries and at pauses once a second, for all consumers of the process in one query. */
const WATCH_MS = 1_000;
/** Rounds between two counts for the metrics and two notes that the consumer is alive. */
const SLOW_ROUNDS = 15;
/** Rounds between two notes of where the consumers stand. */
const PROGRESS_ROUNDS = 5;
/** Between two notes of where a consumer stands to which a replay is sent: the replay waits for them. */
const REPLAY_NOTE_MS = 100;

/** A consumer that wants to know what operators and time did to it. */
export interface Watched {
  consumer: string;
  /** How it begins. */
  paused: boolean;
  metrics: EventMetrics | undefined;
  /** What it has in hand now. */
  standing(): Standing;
  /** Dead letters may be due. */
  onWaiting(): Promise<void>;
  onPaused(paused: boolean): Promise<void>;
  /** It must be fed from the log before its queues are opened. */
  onSeeding(): Promise<void>;
}

const REASONS = ['schema_invalid', 'handler_error', 'permanent', 'crash_loop', 'too_old', 'unknown_type', 'behind_another'];

/** Pauses and resumes follow each other; retries never overlap. */
interface Entry extends Watched {
  busy: Promise<void>;
  retrying: boolean;
  seeding: boolean;
  replaying: boolean;
}

interface State {
  name: string;
  paused: boolean;
  waiting: boolean;
  seeding: boolean;
  /** A replay for it is asked for or under way. */
  replaying: boolean;
}

const STATES = `
select c.name, c.status <> 'active' or c.position is not null as paused, c.status = 'active' and c.position is not null as seeding, exists (select from events.dead_letter d where d.consumer = c.name and d.status in ('retrying', 'parked')) as waiting,
  exists (select from events.replay r where r.consumer = c.name and r.status in ('pending', 'running')) as replaying
from events.consumer c where c.name = any ($1)`;

const OPEN_LETTERS = `
select consumer, reason, count(*)::int as letters, count(distinct order_key)::int as keys
from events.dead_letter where consumer = any ($1) and status in ('dead', 'retrying', 'parked') group by grouping sets ((consumer, reason), (consumer))`;

/**
 * Lets in what lies in the sockets of this process. After a pause of the whole process timers run before what came meanwhile is read, so that a
 * note would not count events that the broker has given out: a replay would believe a busy consumer idle.
 */
const arrivals = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve));
};

/** One per pool, so that 28 services in a process cost one query a second. */
class Watch {
  readonly #watched = new Set<Entry>();
  readonly #progress: ProgressNotes;
  #timer: NodeJS.Timeout | undefined;
  #following: NodeJS.Timeout | undefined;
  #round = 0;

  constructor(
    readonly pool: pg.Pool,
    readonly log: EventLog,
  ) {
    this.#progress = new ProgressNotes(pool);
  }

  add(watched: Watched): { stop(): void } {
    const entry = { ...watched, busy: Promise.resolve(), retrying: false, seeding: false, replaying: false };
    this.#watched.add(entry);
    if (!this.#timer) this.#schedule();
    return { stop: () => this.#remove(entry) };
  }

  #remove(entry: Entry): void {
    this.#watched.delete(entry);
    if (this.#watched.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      void this.#look().finally(() => this.#watched.size > 0 && this.#timer && this.#schedule());
    }, WATCH_MS);
  }

  async #look(): Promise<void> {
    try {
      const names = [...new Set([...this.#watched].map(({ consumer }) => consumer))];
      const { rows } = await this.pool.query<State>(STATES, [names]);
      for (const entry of this.#watched) rows.filter(({ name }) => name === entry.consumer).forEach(state => this.#tell(entry, state));
      const round = this.#round++;
      this.#measureLag();
      this.#followReplays();
      if (round % PROGRESS_ROUNDS === 0) await this.#noteProgress();
      if (round % SLOW_ROUNDS === 0) await this.#note(names);
    } catch (error) {
      this.log.warn({ err: errorOf(error) }, 'the state of the consumers could not be read');
    }
  }

  #tell(entry: Entry, { paused, waiting, seeding, replaying }: State): void {
    entry.replaying = replaying && !paused;
    if (paused !== entry.paused) entry.busy = entry.busy.then(() => entry.onPaused(paused)).catch(() => undefined);
    entry.paused = paused;
    if (waiting && !paused && !entry.retrying) this.#retry(entry);
    if (seeding && !entry.seeding) this.#seed(entry);
  }

  #seed(watched: Entry): void {
    watched.seeding = true;
    void watched.onSeeding().finally(() => (watched.seeding = false));
  }

  #retry(watched: Entry): void {
    watched.retrying = true;
    void watched.onWaiting().finally(() => (watched.retrying = false));
  }

  /** While a replay runs, its consumers' notes follow closely. */
  #followReplays(): void {
    if (this.#following || ![...this.#watched].some(({ replaying }) => replaying)) return;
    this.#following = setTimeout(() => void this.#noteReplays(), REPLAY_NOTE_MS);
  }

  async #noteReplays(): Promise<void> {
    await arrivals();
    const replaying = [...this.#watched].filter(one => one.replaying);
    const standings = new Map(replaying.map(({ consumer, standing }) => [consumer, standing()]));
    await this.#progress.write(standings).catch(() => undefined); // the next is near
    this.#following = undefined;
    this.#followReplays();
  }

  #measureLag(): void {
    for (const { consumer, metrics, standing } of this.#watched) {
      const { oldestAt } = standing();
      metrics?.lagSeconds.set({ consumer }, oldestAt ? Math.max(0, systemNow() - oldestAt.getTime()) / 1000 : 0);
    }
  }

  /** Of a paused one the last note stays: it shows since when events wait. */
  #noteProgress(): Promise<void> {
    const active = [...this.#watched].filter(({ paused }) => !paused);
    return this.#progress.write(new Map(active.map(({ consumer, standing }) => [consumer, standing()])));
  }

  async #note(names: string[]): Promise<void> {
    await this.pool.query('update events.consumer set last_seen_at = clock_timestamp() where name = any ($1)', [names]);
    const measured = [...this.#watched].filter(({ metrics }) => metrics);
    if (measured.length === 0) return;
    const { rows } = await this.pool.query<{ consumer: string; reason: string | null; letters: number; keys: number }>(OPEN_LETTERS, [
      names,
    ]);
    for (const { consumer, metrics } of measured) {
      const letters = (reason: string | null) => rows.find(row => row.consumer === consumer && row.reason === reason);
      metrics!.blockedKeys.set({ consumer }, letters(null)?.keys ?? 0);
      REASONS.forEach(reason => metrics!.deadLettersOpen.set({ consumer, reason }, letters(reason)?.letters ?? 0));
    }
  }
}

const watches = new WeakMap<pg.Pool, Watch>();

/** Watches a consumer until stopped. Pauses reach every process within two rounds. Source: events 3, consumer. */
export function watch(pool: pg.Pool, log: EventLog, watched: Watched): { stop(): void } {
  const existing = watches.get(pool) ?? new Watch(pool, log);
  watches.set(pool, existing);
  return existing.add(watched);
}

/** Whether the consumer is off the stream: paused, detached, or not yet fed from the log. */
export async function isPaused(pool: pg.Pool, consumer: string): Promise<boolean> {
  const { rows } = await pool.query<State>(STATES, [[consumer]]);
  return rows[0]?.paused ?? false;
}
