import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { envelopeOf, OUTBOX_COLUMNS, type OutboxRow } from './envelope.js';
import { takeLease } from './lease-table.js';
import { keepLease } from './leases.js';
import { errorOf, type EventLog } from './log.js';
import type { Sql } from './outbox.js';
import { headsOfLog, type LogPosition } from './log-position.js';
import { GROUPS } from './relay-group.js';
import type { ConsumerSpec, Delivery, Settled, Transport } from './transport/port.js';

export interface SeedingOptions {
  spec: ConsumerSpec;
  /** Connections that act as `platform_events`. */
  pool: pg.Pool;
  transport: Transport;
  log: EventLog;
  stopping: AbortSignal;
  onMessage(delivery: Delivery): Promise<Settled>;
}

interface SeedRow extends OutboxRow {
  position: number;
  erased: boolean;
}

const LEASE_MS = 10_000;
const LOOK_MS = 50;
/** Events of a group that are in hand at once. */
const BATCH = 200;

/** In relay order, per type from where the consumer began to listen to it. */
const READ = `
select o.position::float8 as position, o.erased_at is not null as erased, ${OUTBOX_COLUMNS}
from events.consumer c join events.outbox o on (o.slot >> 3) = $2 and o.position > $3 and o.position <= $4 and o.type = any (c.types)
left join events.consumer_start s on s.consumer = c.name and s.type = o.type
where c.name = $1 and o.position > coalesce(s.places[$2 + 1], 0) and (c.start_at is null or o.occurred_at >= c.start_at)
order by o.position limit ${BATCH}`;

const STATE = `select position::float8[] as position, upto::float8[] as upto from events.consumer where name = $1 and status = 'active' and position is not null`;

const ADVANCE = `
update events.consumer set position[$2::int + 1] = $3 where name = $1 and status = 'active' and position is not null and upto is not null returning 1`;

const OPEN = `update events.consumer set position = null, upto = null where name = $1 and status = 'active' and position = upto returning 1`;

const UNPUBLISHED = `select slot >> 3 as "group", max(seq)::float8 as seq from events.outbox where published_at is null group by 1`;
const STILL_UNPUBLISHED = `
select exists (select from unnest($1::int[], $2::bigint[]) u(g, seq) join events.outbox o on (o.slot >> 3) = u.g and o.published_at is null and o.seq <= u.seq) as waits`;

/** The consumer was paused or detached meanwhile, or is fed by somebody else. */
class Interrupted extends Error {}

/**
 * Feeds a consumer from the log before its queues are opened: queues are bound first, so that what is relayed from then on waits in them; then
 * comes everything up to where the log was; then the queues are opened. What is in both is dropped by the inbox. One process does it, and
 * notes after each batch how far it is, so that another goes on from there. Source: event-machinery 9.
 */
export class Seeding {
  readonly #holder = randomUUID();
  readonly #sql: Sql;

  constructor(readonly options: SeedingOptions) {
    this.#sql = async <Row>(text: string, params: readonly unknown[] = []) => (await options.pool.query(text, [...params])).rows as Row[];
  }

  get #name(): string {
    return this.options.spec.name;
  }

  /** Feeds what there is to feed; where it cannot go on now, the next look of the watch tries again. */
  async run(): Promise<void> {
    if (!(await this.#leads())) return;
    const stopKeeping = keepLease(() => this.#leads(), LEASE_MS);
    try {
      await this.#feedAll();
    } catch (error) {
      if (!(error instanceof Interrupted) && !this.options.stopping.aborted)
        this.options.log.warn({ err: errorOf(error), consumer: this.#name }, 'seeding was interrupted; it goes on from where it was');
    } finally {
      await stopKeeping();
    }
  }

  #leads(): Promise<boolean> {
    return takeLease(this.options.pool, `seed:${this.#name}`, this.#holder, LEASE_MS);
  }

  async #feedAll(): Promise<void> {
    const { transport, spec, log } = this.options;
    await transport.ensureTopology([spec]);
    const { position, upto } = await this.#limits();
    log.info({ consumer: this.#name }, 'a consumer is fed from the log');
    await Promise.all(GROUPS.map(group => this.#feed(group, position[group]!, upto[group]!)));
    await this.#sql(OPEN, [this.#name]);
    log.info({ consumer: this.#name }, 'a consumer has caught up with the log');
  }

  async #limits(): Promise<{ position: LogPosition; upto: LogPosition }> {
    const [state] = await this.#sql<{ position: number[]; upto: number[] | null }>(STATE, [this.#name]);
    if (!state) throw new Interrupted();
    if (state.upto) return { position: state.position, upto: state.upto };
    await this.#relayed();
    const upto = (await headsOfLog(this.#sql)).map((head, group) => Math.max(head, state.position[group]!));
    await this.#sql('update events.consumer set upto = $2 where name = $1 and position is not null and upto is null', [this.#name, upto]);
    return this.#limits();
  }

  /** What the relay had in hand when the queues were bound may have missed them: its positions must be known before the end is noted. */
  async #relayed(): Promise<void> {
    const unpublished = await this.#sql<{ group: number; seq: number }>(UNPUBLISHED);
    const params = [unpublished.map(({ group }) => group), unpublished.map(({ seq }) => seq)];
    for (;;) {
      this.#check();
      const [row] = await this.#sql<{ waits: boolean }>(STILL_UNPUBLISHED, params);
      if (!row!.waits) return;
      await sleep(LOOK_MS);
    }
  }

  #check(): void {
    if (this.options.stopping.aborted) throw new Interrupted();
  }

  async #feed(group: number, from: number, upto: number): Promise<void> {
    for (let position = from; position < upto;) {
      this.#check();
      const rows = await this.#sql<SeedRow>(READ, [this.#name, group, position, upto]);
      await Promise.all(rows.map(row => this.options.onMessage(deliveryOf(row))));
      position = rows.length < BATCH ? upto : rows.at(-1)!.position;
      const advanced = await this.#sql(ADVANCE, [this.#name, group, position]);
      if (advanced.length === 0) throw new Interrupted();
    }
  }
}

const deliveryOf = (row: SeedRow): Delivery => ({
  event: envelopeOf(row, null),
  slot: row.slot,
  malformed: null,
  deliveries: 0,
  queued: false,
  rerun: false,
  erased: row.erased,
  stale: () => false,
});
