import { createHash } from 'node:crypto';
import type pg from 'pg';
import { nameOf, prepared } from '../../../../events/prepared.js';
import { openPool } from '../../../../runtime/data/database.js';
import { saveRoundTrips, type PgClient } from '../../../../runtime/data/round-trips.js';
import type { Objects, SandboxObject, Kind } from './objects.js';

/** Connections of the sandbox; never those of the service. */
const CONNECTIONS = 3;

/** A prefix and 24 hexadecimal digits that follow from the name, so that the same call makes the same id. */
export const idOf = (prefix: string, name: string): string => `${prefix}_${createHash('sha256').update(name).digest('hex').slice(0, 24)}`;

const COLUMNS = `id, kind, idempotency_key as key, parent_id as "parentId", data, due_at as "dueAt", created_at as "createdAt"`;

/** A statement whose text is constant: PostgreSQL plans it once per connection. */
const statement = (text: string, values: readonly unknown[] = []): pg.QueryConfig => ({
  name: nameOf(prepared(text)),
  text,
  values: [...values],
});

/** What waits for its time. */
export interface Waiting {
  /** Kinds of which something is due. */
  kinds: readonly Kind[];
  /** Until the next thing is due, ms; null: nothing waits. */
  ms: number | null;
}

const WAITING = `select array(select distinct kind from payments.processor_object where due_at <= clock_timestamp()) as kinds,
  (select (extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8 from payments.processor_object where due_at is not null) as ms`;

/** The sandbox's objects in one transaction of its own. */
export class SandboxTransaction {
  constructor(
    private readonly client: pg.PoolClient,
    /** The service's time; delays run on the wall clock. */
    readonly now: Date,
  ) {}

  async #query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return (await this.client.query<Row>(prepared(text), [...values])).rows;
  }

  #rows<K extends Kind>(text: string, params: readonly unknown[]): Promise<SandboxObject<K>[]> {
    return this.#query<SandboxObject<K>>(text, params);
  }

  /** Calls with the same key wait for each other. */
  async serialize(name: string): Promise<void> {
    await this.#query(`select pg_advisory_xact_lock(hashtextextended($1, 23))`, [name]);
  }

  /** The object, locked until the transaction ends; of a key where one is given. */
  async lock<K extends Kind>(kind: K, by: { id: string } | { key: string }): Promise<SandboxObject<K> | null> {
    const [column, value] = 'id' in by ? ['id', by.id] : ['idempotency_key', by.key];
    const text = `select ${COLUMNS} from payments.processor_object where kind = $1 and ${column} = $2 for update`;
    return (await this.#rows<K>(text, [kind, value]))[0] ?? null;
  }

  /** Whether there is any hold of these ids, none of which is set or lifted before the transaction ends. */
  async isHeld(ids: readonly string[]): Promise<boolean> {
    const text = `select ${COLUMNS} from payments.processor_object where kind = 'hold' and id = any($1) order by id for update`;
    return (await this.#rows<'hold'>(text, [ids])).length > 0;
  }

  /** The object as it is, without waiting for who has it locked. */
  async peek<K extends Kind>(kind: K, id: string): Promise<SandboxObject<K> | null> {
    return (await this.#rows<K>(`select ${COLUMNS} from payments.processor_object where kind = $1 and id = $2`, [kind, id]))[0] ?? null;
  }

  /** Objects below another one, oldest first, locked. */
  below<K extends Kind>(kind: K, parentId: string): Promise<SandboxObject<K>[]> {
    const text = `select ${COLUMNS} from payments.processor_object where kind = $1 and parent_id = $2 order by created_at, id for update`;
    return this.#rows<K>(text, [kind, parentId]);
  }

  /** What disputes have taken of a charge and not given back, minor units. */
  async disputedOf(chargeId: string): Promise<number> {
    const text = `select coalesce(sum((data->>'amount')::bigint), 0)::float8 as amount from payments.processor_object
      where kind = 'dispute' and parent_id = $1 and (data->>'fundsWithdrawn')::boolean and data->>'status' <> 'won'`;
    return (await this.#query<{ amount: number }>(text, [chargeId]))[0]!.amount;
  }

  /** The one made last. */
  async last<K extends Kind>(kind: K): Promise<SandboxObject<K> | null> {
    const text = `select ${COLUMNS} from payments.processor_object where kind = $1 order by created_at desc, id desc limit 1 for update`;
    return (await this.#rows<K>(text, [kind]))[0] ?? null;
  }

  /** Calls that are held: of one charge or payout, or all. */
  held(subject: string | null): Promise<SandboxObject<'notice'>[]> {
    const text = `select ${COLUMNS} from payments.processor_object where kind = 'notice' and (data->>'isHeld')::boolean
      and ($1::text is null or parent_id = $1) order by created_at, id for update`;
    return this.#rows<'notice'>(text, [subject]);
  }

  /** All calls, in the order in which they were planned. */
  notices(subject: string | null): Promise<SandboxObject<'notice'>[]> {
    const text = `select ${COLUMNS} from payments.processor_object where kind = 'notice' and ($1::text is null or parent_id = $1)
      order by created_at, (data->>'number')::int, id`;
    return this.#rows<'notice'>(text, [subject]);
  }

  /** Objects whose time has come on the wall clock, claimed until `until`; others pass them by. */
  claim<K extends Kind>(kind: K, until: Date, limit: number): Promise<SandboxObject<K>[]> {
    const text = `update payments.processor_object set due_at = $2 where id in (
      select id from payments.processor_object where kind = $1 and due_at <= clock_timestamp() order by due_at, id limit $3 for update skip locked)
      returning ${COLUMNS}`;
    return this.#rows<K>(text, [kind, until, limit]);
  }

  /** A page by time, oldest first. */
  page<K extends Kind>(kind: K, from: Date, to: Date, after: readonly [string, string] | null, limit: number): Promise<SandboxObject<K>[]> {
    const text = `select ${COLUMNS} from payments.processor_object where kind = $1 and created_at >= $2 and created_at < $3
      and ($4::timestamptz is null or (created_at, id) > ($4::timestamptz, $5)) order by created_at, id limit $6`;
    return this.#rows<K>(text, [kind, from, to, after?.[0] ?? null, after?.[1] ?? '', limit]);
  }

  async insert<K extends Kind>(kind: K, id: string, data: Objects[K], more: { key?: string; parentId?: string; dueAt?: Date | null } = {}) {
    const { key = null, parentId = null, dueAt = null } = more;
    const text = `insert into payments.processor_object (id, kind, idempotency_key, parent_id, data, due_at, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $7)`;
    await this.#query(text, [id, kind, key, parentId, JSON.stringify(data), dueAt, this.now]);
    return { id, kind, key, parentId, data, dueAt, createdAt: this.now } as SandboxObject<K>;
  }

  async save<K extends Kind>({ id, data, dueAt }: SandboxObject<K>): Promise<void> {
    const text = `update payments.processor_object set data = $2, due_at = $3, updated_at = $4 where id = $1`;
    await this.#query(text, [id, JSON.stringify(data), dueAt, this.now]);
  }

  async remove(kind: Kind, ids: readonly string[]): Promise<void> {
    await this.#query(`delete from payments.processor_object where kind = $1 and id = any($2)`, [kind, ids]);
  }
}

/** The sandbox's database: a pool and transactions of its own, so that what it did stays done when payments dies. */
export class SandboxStore {
  readonly #pool: pg.Pool;

  constructor(
    databaseUrl: string,
    private readonly manualClock: boolean,
  ) {
    this.#pool = openPool('payments', databaseUrl, CONNECTIONS);
    this.#pool.on('connect', client => saveRoundTrips(client as unknown as PgClient));
  }

  async transaction<T>(work: (tx: SandboxTransaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failed: Error | undefined;
    try {
      await client.query('begin');
      const result = await work(new SandboxTransaction(client, await this.now(client)));
      await client.query('commit');
      return result;
    } catch (error) {
      failed = error as Error;
      await client.query('rollback').then(
        () => (failed = undefined),
        () => undefined,
      );
      throw error;
    } finally {
      client.release(failed);
    }
  }

  /** The service's time. */
  async now(client: pg.Pool | pg.PoolClient = this.#pool): Promise<Date> {
    if (!this.manualClock) return new Date();
    const { rows } = await client.query<{ now: Date }>(statement('select now from payments.test_clock'));
    return rows[0]?.now ?? new Date();
  }

  /** What waits on the wall clock. */
  async waiting(): Promise<Waiting> {
    return (await this.#pool.query<Waiting>(statement(WAITING))).rows[0]!;
  }

  /** Notes how a call went; without a next one it is not made again by itself. @param waitMs until then. */
  async noteCall(id: string, isTaken: boolean, waitMs: number | null): Promise<void> {
    const text = `update payments.processor_object set updated_at = $4, due_at = clock_timestamp() + $3 * interval '1 millisecond', data = data ||
      jsonb_build_object('attempts', (data->>'attempts')::int + 1, 'isDelivered', (data->>'isDelivered')::boolean or $2) where id = $1 and kind = 'notice'`;
    await this.#pool.query(statement(text, [id, isTaken, waitMs, await this.now()]));
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
