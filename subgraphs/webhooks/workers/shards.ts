import { EventEmitter } from 'node:events';
import { LeaseKeeper, type HeldLease, type LeaseOptions, type LeaseRow, type LeaseTable, type LeaseView } from '../../../events/leases.js';
import type { Sql } from '../../../events/outbox.js';
import { newId } from '../../../runtime/data/ids.js';
import { SHARDS } from '../rules/shards.js';

/** Runs one statement list in a transaction of the service. */
export type Run = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

const LOOK = `
select shard::text as name, holder::text as holder, expires_at > clock_timestamp() as live, false as worker from webhooks.webhook_shard
union all select null, id::text, true, true from webhooks.webhook_worker where seen_at > clock_timestamp() - $1 * interval '1 millisecond'`;

const BEAT = `insert into webhooks.webhook_worker (id, seen_at) values ($1, clock_timestamp()) on conflict (id) do update set seen_at = excluded.seen_at`;
const FORGET_DEAD = `delete from webhooks.webhook_worker where seen_at < clock_timestamp() - $1 * interval '10 milliseconds'`;

/** Its own are waited for, since recorders share their rows; those of others only taken where nobody else takes them now. */
const OBTAIN = `
with mine as (select shard from webhooks.webhook_shard where shard = any($3::int[]) and holder = $1 order by shard for no key update),
free as (select shard from webhooks.webhook_shard where shard = any($3::int[]) and holder is distinct from $1
  and (holder is null or expires_at <= clock_timestamp()) order by shard for no key update skip locked)
update webhooks.webhook_shard s set holder = $1, expires_at = clock_timestamp() + $2 * interval '1 millisecond',
  epoch = s.epoch + (s.holder is distinct from $1 or s.expires_at <= clock_timestamp())::int
from (select shard from mine union all select shard from free) taken where s.shard = taken.shard
returning s.shard::text as name, s.epoch::float8 as epoch, false as crashed`;

const RELEASE = `update webhooks.webhook_shard set holder = null, expires_at = clock_timestamp() where holder = $1 and shard = any($2::int[])`;
const LEAVE = 'delete from webhooks.webhook_worker where id = $1';

const KIND = 'shards';

/** `webhook_shard` and `webhook_worker`. A lease that ran out has a new epoch even for who had it: its lanes may have been in other hands. */
class ShardLeases implements LeaseTable {
  constructor(
    private readonly run: Run,
    private readonly leaseMs: number,
  ) {}

  async look(): Promise<LeaseView> {
    const rows = await this.run(sql => sql<LeaseRow & { worker: boolean }>(LOOK, [this.leaseMs]));
    const workers = rows.filter(row => row.worker);
    return { leases: rows.filter(row => !row.worker), instances: workers.map(row => ({ kind: KIND, holder: row.holder! })) };
  }

  obtain(names: readonly string[], _kinds: readonly string[], holder: string, leaseMs: number): Promise<HeldLease[]> {
    return this.run(async sql => {
      await sql(BEAT, [holder]);
      await sql(FORGET_DEAD, [leaseMs]);
      return sql<HeldLease>(OBTAIN, [holder, leaseMs, names.map(Number)]);
    });
  }

  release(names: readonly string[], holder: string): Promise<unknown> {
    return this.run(sql => sql(RELEASE, [holder, names.map(Number)]));
  }

  leave(_kinds: readonly string[], holder: string): Promise<unknown> {
    return this.run(sql => sql(LEAVE, [holder]));
  }
}

const ALL = Array.from({ length: SHARDS }, (_, shard) => shard);

/** Leases of shards: only their holder sends what is in them. Emits `lost` with a shard's number. Source: rule 20. */
export class Shards extends EventEmitter<{ lost: [number] }> {
  readonly holder = newId();
  readonly #keeper: LeaseKeeper;
  #lastHeldAt = performance.now();

  constructor(run: Run, lease: Pick<LeaseOptions, 'leaseMs' | 'renewMs' | 'log'>) {
    super();
    this.#keeper = new LeaseKeeper({ table: new ShardLeases(run, lease.leaseMs), holder: this.holder, ...lease });
  }

  /** Takes its share, and renews it from now on; a busy shard is not given up. */
  start(isBusy: (shard: number) => boolean): Promise<void> {
    return this.#keeper.join({
      kind: KIND,
      names: ALL.map(String),
      gained: () => undefined,
      lost: name => void this.emit('lost', Number(name)),
      isBusy: name => isBusy(Number(name)),
    });
  }

  /** Shards that this worker may send from now. */
  mine(): number[] {
    const held = ALL.filter(shard => this.holds(shard));
    if (held.length > 0) this.#lastHeldAt = performance.now();
    return held;
  }

  holds(shard: number): boolean {
    return this.epochOf(shard) !== undefined;
  }

  /** Epoch of a held shard; the recorder proves with it that the lease is still the same. */
  epochOf(shard: number): number | undefined {
    return this.#keeper.held(String(shard))?.epoch;
  }

  /** Milliseconds since any shard was held. */
  get idleMs(): number {
    return this.mine().length ? 0 : performance.now() - this.#lastHeldAt;
  }

  /** Gives its shards back and leaves: the others see at once that there is one worker fewer. */
  leave(): Promise<void> {
    return this.#keeper.stop();
  }
}
