import type pg from 'pg';
import { errorOf, type EventLog } from './log.js';

export interface HeldLease {
  name: string;
  /** Grows with every change of holder. */
  epoch: number;
  /** The former holder did not give it back. */
  crashed: boolean;
}

/** A set of leases that the live instances divide among themselves. */
export interface LeaseSet {
  /** For example `relay`; also names the instances' own leases. */
  kind: string;
  names: readonly string[];
  gained(lease: HeldLease): void | Promise<void>;
  lost(name: string): void;
}

interface Row {
  name: string;
  holder: string | null;
  live: boolean;
}

const instanceLease = (kind: string, holder: string): string => `live:${kind}:${holder}`;

/**
 * Keeps this instance's fair share of every set: ⌈names / live instances⌉. Leases are rows, by the database's clock, renewed at a third
 * of their length; locally a lease ends early, counted from before the renewal was sent, so two holders never overlap by their own clocks.
 */
export class LeaseKeeper {
  readonly #sets = new Map<string, LeaseSet>();
  readonly #held = new Map<string, HeldLease & { validUntil: number }>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    readonly pool: pg.Pool,
    readonly holder: string,
    readonly leaseMs: number,
    readonly log: EventLog,
  ) {}

  /** Joins in sharing a set; answers after the first round. */
  async join(set: LeaseSet): Promise<void> {
    this.#sets.set(set.kind, set);
    await this.#tick();
    this.#timer ??= setInterval(() => void this.#tick(), this.leaseMs / 3);
  }

  /** Gives a set's leases back. */
  async leave(kind: string): Promise<void> {
    const set = this.#sets.get(kind);
    this.#sets.delete(kind);
    await this.#round;
    if (set) await this.#release([...set.names.filter(name => this.#held.has(name)), instanceLease(kind, this.holder)]);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#round;
    await this.#release([...this.#held.keys(), ...[...this.#sets.keys()].map(kind => instanceLease(kind, this.holder))]);
    this.#sets.clear();
  }

  /** The lease, if it is surely still ours. */
  held(name: string): HeldLease | undefined {
    const lease = this.#held.get(name);
    return lease && performance.now() < lease.validUntil ? lease : undefined;
  }

  /** One round at a time. */
  #tick(): Promise<void> {
    this.#round = this.#round
      .then(() => this.#renewAndShare())
      .catch(error => {
        this.#expire();
        this.log.warn({ err: errorOf(error) }, 'leases could not be renewed');
      });
    return this.#round;
  }

  async #renewAndShare(): Promise<void> {
    if (this.#stopped || this.#sets.size === 0) return;
    const sets = [...this.#sets.values()];
    const rows = await this.#rows(sets);
    const excess: string[] = [];
    const wanted: string[] = [];
    for (const set of sets) {
      const { keep, take, give } = share(set, rows, this.holder);
      wanted.push(instanceLease(set.kind, this.holder), ...keep, ...take);
      excess.push(...give);
    }
    excess.forEach(name => this.#lose(name));
    await this.#release(excess);
    await this.#obtain(wanted);
  }

  async #rows(sets: LeaseSet[]): Promise<Row[]> {
    const { rows } = await this.pool.query<Row>(
      `select name, holder, expires_at > clock_timestamp() as live from events.lease where name = any ($1) or name like any ($2)`,
      [sets.flatMap(set => set.names), sets.map(set => `${instanceLease(set.kind, '').replaceAll('_', '\\_')}%`)],
    );
    return rows;
  }

  async #obtain(names: string[]): Promise<void> {
    const validUntil = performance.now() + this.leaseMs;
    const { rows } = await this.pool.query<{ name: string; epoch: string; crashed: boolean }>(
      'select name, epoch, crashed from events.lease($1::text[], $2, $3)',
      [names, this.holder, this.leaseMs],
    );
    const got = new Set(rows.map(row => row.name));
    [...this.#held.keys()].filter(name => !got.has(name)).forEach(name => this.#lose(name));
    await Promise.all(rows.map(row => this.#keep({ ...row, epoch: Number(row.epoch) }, validUntil)));
    this.#expire();
  }

  async #keep(lease: HeldLease, validUntil: number): Promise<void> {
    const before = this.#held.get(lease.name);
    if (before && before.epoch !== lease.epoch) this.#lose(lease.name);
    this.#held.set(lease.name, { ...lease, validUntil });
    if (before?.epoch !== lease.epoch) await this.#setOf(lease.name)?.gained(lease);
  }

  /** Leases that nobody renewed in time are not ours any more, whatever the database says. */
  #expire(): void {
    for (const [name, { validUntil }] of this.#held) if (performance.now() >= validUntil) this.#lose(name);
  }

  #lose(name: string): void {
    if (this.#held.delete(name)) this.#setOf(name)?.lost(name);
  }

  #setOf(name: string): LeaseSet | undefined {
    for (const set of this.#sets.values()) if (set.names.includes(name)) return set;
    return undefined;
  }

  async #release(names: string[]): Promise<void> {
    if (names.length === 0) return;
    names.forEach(name => this.#held.delete(name));
    await this.pool
      .query(
        `update events.lease set holder = null, expires_at = '-infinity' where name = any ($1) and holder = $2 and name not like 'live:%'`,
        [names, this.holder],
      )
      .then(() =>
        this.pool.query(
          `delete from events.lease where name like 'live:%' and ((name = any ($1) and holder = $2) or expires_at < clock_timestamp() - interval '1 hour')`,
          [names, this.holder],
        ),
      )
      .catch(error => this.log.warn({ err: errorOf(error) }, 'leases could not be given back; they expire'));
  }
}

/** What to keep, take and give of a set, so that the live instances end with equal shares. */
function share(set: LeaseSet, rows: readonly Row[], holder: string): { keep: string[]; take: string[]; give: string[] } {
  const byName = new Map(rows.map(row => [row.name, row]));
  const others = rows.filter(row => row.name.startsWith(instanceLease(set.kind, '')) && row.live && row.holder !== holder).length;
  const fair = Math.ceil(set.names.length / (others + 1));
  const mine = set.names.filter(name => byName.get(name)?.holder === holder);
  const free = set.names.filter(name => !byName.get(name)?.live || byName.get(name)!.holder === null);
  const keep = mine.slice(0, fair);
  return { keep, take: free.filter(name => !keep.includes(name)).slice(0, fair - keep.length), give: mine.slice(fair) };
}
