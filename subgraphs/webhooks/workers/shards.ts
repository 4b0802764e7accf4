import { EventEmitter } from 'node:events';
import type { Sql } from '../../../events/outbox.js';
import { newId } from '../../../runtime/data/ids.js';
import { fairShare } from '../rules/shards.js';

/** Runs one statement list in a transaction of the service. */
export type Run = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

const BEAT = `insert into webhooks.webhook_worker (id, seen_at) values ($1, clock_timestamp()) on conflict (id) do update set seen_at = excluded.seen_at`;
const FORGET_DEAD = `delete from webhooks.webhook_worker where seen_at < clock_timestamp() - $1 * interval '10 milliseconds'`;
const COUNT_LIVE = `select count(*)::int as live from webhooks.webhook_worker where seen_at > clock_timestamp() - $1 * interval '1 millisecond'`;

/** A lease that ran out belongs to nobody, so it is not renewed: its lanes may be in other hands already. */
const RENEW = `
update webhooks.webhook_shard set expires_at = clock_timestamp() + $2 * interval '1 millisecond'
where holder = $1 and expires_at > clock_timestamp() returning shard, epoch::float8 as epoch`;

const CLAIM = `
update webhooks.webhook_shard set holder = $1, epoch = epoch + 1, expires_at = clock_timestamp() + $2 * interval '1 millisecond'
where shard in (select shard from webhooks.webhook_shard where holder is null or expires_at <= clock_timestamp() order by expires_at, shard limit $3 for update skip locked)
returning shard, epoch::float8 as epoch`;

const RELEASE = `update webhooks.webhook_shard set holder = null, expires_at = clock_timestamp() where holder = $1 and shard = any($2::int[])`;

interface Lease {
  shard: number;
  epoch: number;
}

interface Held {
  epoch: number;
  /** On the monotonic clock; earlier than the database's by the time the renewal took. */
  until: number;
}

/**
 * Leases of shards: only their holder sends what is in them. Renewed at a third of their length; what is not renewed in time is
 * treated as lost before the database says so. Emits `lost` with a shard's number. Source: rule 20.
 */
export class Shards extends EventEmitter<{ lost: [number] }> {
  readonly holder = newId();
  readonly #held = new Map<number, Held>();
  #lastHeldAt = performance.now();

  /** @param leaseMs length of a lease, ms. */
  constructor(
    private readonly run: Run,
    private readonly leaseMs: number,
  ) {
    super();
  }

  /** Shards that this worker may send from now. */
  mine(): number[] {
    return [...this.#held.keys()].filter(shard => this.holds(shard));
  }

  holds(shard: number): boolean {
    return (this.#held.get(shard)?.until ?? 0) > performance.now();
  }

  /** Epoch of a held shard; the recorder proves with it that the lease is still the same. */
  epochOf(shard: number): number | undefined {
    return this.#held.get(shard)?.epoch;
  }

  /** Milliseconds since any shard was held. */
  get idleMs(): number {
    return this.mine().length ? 0 : performance.now() - this.#lastHeldAt;
  }

  /** Renews, takes what is free up to a fair share, and gives back what is above it unless it is busy. */
  async beat(busy: (shard: number) => boolean): Promise<void> {
    const asked = performance.now();
    const { renewed, live } = await this.run(async sql => {
      await sql(BEAT, [this.holder]);
      await sql(FORGET_DEAD, [this.leaseMs]);
      return {
        renewed: await sql<Lease>(RENEW, [this.holder, this.leaseMs]),
        live: (await sql<{ live: number }>(COUNT_LIVE, [this.leaseMs]))[0]!.live,
      };
    });
    this.#take(renewed, asked);
    this.#drop([...this.#held.keys()].filter(shard => !renewed.some(lease => lease.shard === shard)));
    await this.#balance(fairShare(live), busy);
    if (this.#held.size) this.#lastHeldAt = performance.now();
  }

  async #balance(share: number, busy: (shard: number) => boolean): Promise<void> {
    const asked = performance.now();
    if (this.#held.size < share)
      this.#take(await this.run(sql => sql<Lease>(CLAIM, [this.holder, this.leaseMs, share - this.#held.size])), asked);
    else if (this.#held.size > share)
      await this.release([...this.#held.keys()].filter(shard => !busy(shard)).slice(0, this.#held.size - share));
  }

  #take(leases: readonly Lease[], asked: number): void {
    for (const { shard, epoch } of leases) this.#held.set(shard, { epoch, until: asked + this.leaseMs });
  }

  #drop(shards: readonly number[]): void {
    for (const shard of shards) {
      this.#held.delete(shard);
      this.emit('lost', shard);
    }
  }

  /** Drops what ran out without a renewal, so that attempts in the air are ended. */
  expire(): void {
    this.#drop([...this.#held.keys()].filter(shard => !this.holds(shard)));
  }

  /** Gives shards back; they are no longer sent from when this begins. */
  async release(shards: readonly number[] = [...this.#held.keys()]): Promise<void> {
    shards.forEach(shard => this.#held.delete(shard));
    if (shards.length) await this.run(sql => sql(RELEASE, [this.holder, shards]));
  }

  /** Leaves: the others see at once that there is one worker fewer. */
  async leave(): Promise<void> {
    await this.release();
    await this.run(sql => sql('delete from webhooks.webhook_worker where id = $1', [this.holder]));
  }
}
