import type pg from 'pg';
import { errorOf, type EventLog } from './log.js';
import type { EventMetrics } from './metrics.js';

/** Look at retries and at pauses once a second, for all consumers of the process in one query. */
const WATCH_MS = 1_000;
/** Rounds between two counts for the metrics and two notes that the consumer is alive. */
const SLOW_ROUNDS = 15;

/** A consumer that wants to know what operators and time did to it. */
export interface Watched {
  consumer: string;
  metrics: EventMetrics | undefined;
  /** Dead letters may be due. */
  onWaiting(): Promise<void>;
  onPaused(paused: boolean): Promise<void>;
}

const REASONS = ['schema_invalid', 'handler_error', 'permanent', 'crash_loop', 'too_old', 'unknown_type', 'behind_another'];

/** Pauses and resumes follow each other; retries never overlap. */
interface Entry extends Watched {
  paused: boolean;
  busy: Promise<void>;
  retrying: boolean;
}

interface State {
  name: string;
  status: 'active' | 'paused' | 'detached';
  waiting: boolean;
}

const STATES = `
select c.name, c.status, exists (select from events.dead_letter d where d.consumer = c.name and d.status in ('retrying', 'parked')) as waiting
from events.consumer c where c.name = any ($1)`;

const OPEN_LETTERS = `
select consumer, reason, count(*)::int as letters, count(distinct order_key)::int as keys
from events.dead_letter where consumer = any ($1) and status in ('dead', 'retrying', 'parked') group by grouping sets ((consumer, reason), (consumer))`;

/** One per pool, so that 28 services in a process cost one query a second. */
class Watch {
  readonly #watched = new Map<string, Entry>();
  #timer: NodeJS.Timeout | undefined;
  #round = 0;

  constructor(
    readonly pool: pg.Pool,
    readonly log: EventLog,
  ) {}

  add(watched: Watched): { stop(): void } {
    this.#watched.set(watched.consumer, { ...watched, paused: false, busy: Promise.resolve(), retrying: false });
    if (!this.#timer) this.#schedule();
    return { stop: () => this.#remove(watched.consumer) };
  }

  #remove(consumer: string): void {
    this.#watched.delete(consumer);
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
      const names = [...this.#watched.keys()];
      const { rows } = await this.pool.query<State>(STATES, [names]);
      rows.forEach(state => this.#tell(state));
      if (this.#round++ % SLOW_ROUNDS === 0) await this.#note(names);
    } catch (error) {
      this.log.warn({ err: errorOf(error) }, 'the state of the consumers could not be read');
    }
  }

  #tell(state: State): void {
    const watched = this.#watched.get(state.name);
    if (!watched) return;
    const paused = state.status !== 'active';
    if (paused !== watched.paused) watched.busy = watched.busy.then(() => watched.onPaused(paused)).catch(() => undefined);
    watched.paused = paused;
    if (state.waiting && !paused && !watched.retrying) this.#retry(watched);
  }

  #retry(watched: Entry): void {
    watched.retrying = true;
    void watched.onWaiting().finally(() => (watched.retrying = false));
  }

  async #note(names: string[]): Promise<void> {
    await this.pool.query('update events.consumer set last_seen_at = clock_timestamp() where name = any ($1)', [names]);
    const measured = [...this.#watched.values()].filter(({ metrics }) => metrics);
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
