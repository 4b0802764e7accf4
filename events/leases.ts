import { errorOf, type EventLog } from './log.js';
import { repeat } from './repeat.js';

/**
 * Renews a lease, or the sign of life of whoever holds it, until it is stopped; what fails is tried again with the next.
 * @param everyMs between renewals; by default two may fail before the lease ends.
 */
export function keepLease(renew: () => Promise<unknown>, leaseMs: number, everyMs: number = leaseMs / 3): () => Promise<void> {
  const tried = async (): Promise<void> => void (await renew().catch(() => undefined));
  return repeat(tried, everyMs, everyMs);
}

export interface HeldLease {
  name: string;
  /** Grows with every change of holder. */
  epoch: number;
  /** The former holder did not give it back. */
  crashed: boolean;
}

/** Leases that the live instances divide among themselves. */
export interface LeaseSet {
  /** For example `relay`; instances share the sets of a kind. */
  kind: string;
  names: readonly string[];
  gained(lease: HeldLease): void | Promise<void>;
  lost(name: string): void;
  /** Whether a lease is not to be given up to another instance yet; default: never. */
  isBusy?(name: string): boolean;
}

export interface LeaseRow {
  name: string;
  holder: string | null;
  /** It has not ended. */
  live: boolean;
}

/** What the database knows of some sets: their leases, and the live instances of their kinds. */
export interface LeaseView {
  leases: readonly LeaseRow[];
  instances: readonly { kind: string; holder: string }[];
}

/** Rows of leases and of instances, which end by the database's clock unless they are renewed. */
export interface LeaseTable {
  look(sets: readonly LeaseSet[]): Promise<LeaseView>;
  /** Takes or renews leases, and the holder's signs of life under these kinds; answers those that are its own now. */
  obtain(names: readonly string[], kinds: readonly string[], holder: string, leaseMs: number): Promise<HeldLease[]>;
  /** Gives leases back: whoever takes one sees that nobody crashed. */
  release(names: readonly string[], holder: string): Promise<unknown>;
  /** Takes the signs of life away: the others see at once that there is one instance fewer. */
  leave(kinds: readonly string[], holder: string): Promise<unknown>;
}

export interface LeaseOptions {
  table: LeaseTable;
  /** Id of this instance. */
  holder: string;
  leaseMs: number;
  /** Between renewals, ms; default a third of the length. */
  renewMs?: number;
  log: EventLog;
}

/** How many of `total` leases an instance holds at most among so many live ones. */
export const fairShare = (total: number, instances: number): number => Math.ceil(total / Math.max(1, instances));

/**
 * Keeps this instance's fair share of every set. Locally leases end early, counted from before the renewal was sent, so two holders
 * never overlap by their own clocks.
 */
export class LeaseKeeper {
  readonly #sets = new Map<string, LeaseSet>();
  readonly #held = new Map<string, HeldLease>();
  /** By the monotonic clock, of all that are held: one statement renews them. */
  #validUntil = -Infinity;
  #ending: NodeJS.Timeout | undefined;
  #stopRenewing: (() => Promise<void>) | undefined;
  #round: Promise<void> = Promise.resolve();
  /** A round that is to begin when the last has ended. */
  #next: Promise<void> | undefined;
  #stopped = false;

  constructor(readonly options: LeaseOptions) {}

  /** Joins in sharing a set; answers after the first round. */
  async join(set: LeaseSet): Promise<void> {
    this.#sets.set(set.kind, set);
    await this.#renew();
    this.#stopRenewing ??= keepLease(() => this.#renew(), this.options.leaseMs, this.options.renewMs);
  }

  /** Gives a set's leases back. */
  async leave(kind: string): Promise<void> {
    const set = this.#sets.get(kind);
    this.#sets.delete(kind);
    await this.#round;
    if (set)
      await this.#giveBack(
        set.names.filter(name => this.#held.has(name)),
        [kind],
      );
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#stopRenewing?.();
    await this.#round;
    clearTimeout(this.#ending);
    await this.#giveBack([...this.#held.keys()], [...this.#sets.keys()]);
    this.#sets.clear();
  }

  /** The lease, if it is surely still ours. */
  held(name: string): HeldLease | undefined {
    return performance.now() < this.#validUntil ? this.#held.get(name) : undefined;
  }

  /** One round at a time. Whoever asks during one shares the next: a start joins in some eighty sets. */
  #renew(): Promise<void> {
    return (this.#next ??= this.#round = this.#afterLast());
  }

  #afterLast(): Promise<void> {
    return this.#round
      .then(() => {
        this.#next = undefined;
        return this.#renewAndShare();
      })
      .catch(error => {
        this.#expire();
        this.options.log.warn({ err: errorOf(error) }, 'leases could not be renewed');
      });
  }

  async #renewAndShare(): Promise<void> {
    if (this.#stopped || this.#sets.size === 0) return;
    const sets = [...this.#sets.values()];
    const view = await this.options.table.look(sets);
    const shares = sets.map(set => share(set, view, this.options.holder));
    const excess = shares.flatMap(one => one.give);
    excess.forEach(name => this.#lose(name));
    if (excess.length > 0) await this.#giveBack(excess);
    await this.#obtain(
      shares.flatMap(one => one.wanted),
      sets.map(set => set.kind),
    );
  }

  async #obtain(names: readonly string[], kinds: readonly string[]): Promise<void> {
    const { table, holder, leaseMs } = this.options;
    const validUntil = performance.now() + leaseMs;
    const leases = await table.obtain(names, kinds, holder, leaseMs);
    const got = new Set(leases.map(lease => lease.name));
    [...this.#held.keys()].filter(name => !got.has(name)).forEach(name => this.#lose(name));
    this.#validUntil = validUntil;
    this.#watchEnd();
    await Promise.all(leases.map(lease => this.#keep(lease)));
    this.#expire();
  }

  async #keep(lease: HeldLease): Promise<void> {
    const before = this.#held.get(lease.name);
    if (before && before.epoch !== lease.epoch) this.#lose(lease.name);
    this.#held.set(lease.name, lease);
    if (before?.epoch !== lease.epoch) await this.#setOf(lease.name)?.gained(lease);
  }

  #watchEnd(): void {
    clearTimeout(this.#ending);
    this.#ending = setTimeout(() => this.#expire(), this.options.leaseMs + 1);
  }

  /** Leases that nobody renewed in time are not ours any more, whatever the database says. */
  #expire(): void {
    if (performance.now() >= this.#validUntil) [...this.#held.keys()].forEach(name => this.#lose(name));
  }

  #lose(name: string): void {
    if (this.#held.delete(name)) this.#setOf(name)?.lost(name);
  }

  #setOf(name: string): LeaseSet | undefined {
    for (const set of this.#sets.values()) if (set.names.includes(name)) return set;
    return undefined;
  }

  async #giveBack(names: readonly string[], kinds: readonly string[] = []): Promise<void> {
    const { table, holder, log } = this.options;
    names.forEach(name => this.#held.delete(name));
    try {
      if (names.length > 0) await table.release(names, holder);
      if (kinds.length > 0) await table.leave(kinds, holder);
    } catch (error) {
      log.warn({ err: errorOf(error) }, 'leases could not be given back; they expire');
    }
  }
}

/** What to want and to give of a set, so that the live instances end with equal shares; what is busy is kept in any case. */
function share(set: LeaseSet, { leases, instances }: LeaseView, holder: string): { wanted: string[]; give: string[] } {
  const byName = new Map(leases.map(row => [row.name, row]));
  const others = instances.filter(one => one.kind === set.kind && one.holder !== holder).length;
  const fair = fairShare(set.names.length, others + 1);
  const mine = set.names.filter(name => byName.get(name)?.holder === holder);
  const busy = mine.filter(name => set.isBusy?.(name));
  const idle = mine.filter(name => !busy.includes(name));
  const kept = [...busy, ...idle.slice(0, Math.max(0, fair - busy.length))];
  const free = set.names.filter(name => !byName.get(name)?.live || byName.get(name)!.holder === null).filter(name => !mine.includes(name));
  return { wanted: [...kept, ...free.slice(0, Math.max(0, fair - kept.length))], give: mine.filter(name => !kept.includes(name)) };
}
