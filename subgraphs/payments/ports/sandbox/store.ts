import { createHash } from 'node:crypto';
import type pg from 'pg';
import { lastOfTransaction, nameOf, prepared } from '../../../../events/prepared.js';
import { openPool } from '../../../../runtime/data/pool.js';
import { saveRoundTrips, type PgClient } from '../../../../runtime/data/round-trips.js';
import type { Objects, SandboxObject, Kind } from './objects.js';

/** Connections of the sandbox; never those of the service. What is due is looked for every five seconds, so one lives for longer, ms. */
const [CONNECTIONS, IDLE_MS] = [3, 10_000];

/** A prefix and 24 hexadecimal digits that follow from the name, so that the same call makes the same id. */
export const idOf = (prefix: string, name: string): string => `${prefix}_${createHash('sha256').update(name).digest('hex').slice(0, 24)}`;

const COLUMNS = `id, kind, idempotency_key as key, parent_id as "parentId", data, due_at as "dueAt", created_at as "createdAt"`;

/** A statement whose text is constant: PostgreSQL plans it once per connection. */
const statement = (text: string, values: readonly unknown[] = []): pg.QueryConfig => ({
  name: nameOf(prepared(text)),
  text,
  values: [...values],
});

const CLAIM = `update payments.processor_object set due_at = $2 where id in (
  select id from payments.processor_object where kind = $1 and due_at <= statement_timestamp() order by due_at, id limit $3 for update skip locked)
  returning ${COLUMNS}`;

const lockBy = (by: { id: string } | { key: string }): string =>
  `select ${COLUMNS} from payments.processor_object where kind = $1 and ${'id' in by ? 'id' : 'idempotency_key'} = $2 for update`;

/** What waits for its time. */
export interface Waiting {
  /** Kinds of which something is due. */
  kinds: readonly Kind[];
  /** Until the next thing is due, ms; null: nothing waits. */
  ms: number | null;
}

/** By the start of the statement, which an index can be searched for; `clock_timestamp()` would be compared with each row. */
const WAITING = `select array(select distinct kind from payments.processor_object where due_at <= statement_timestamp()) as kinds,
  (select (extract(epoch from min(due_at) - statement_timestamp()) * 1000)::float8 from payments.processor_object where due_at is not null) as ms`;

/** Holds of a call's subject, none of which is set or lifted before the transaction ends, and calls that were planned about it. */
const PLANNED = `
with hold as (select id from payments.processor_object where kind = 'hold' and id = any($2) order by id for update),
  notice as (select id from payments.processor_object where kind = 'notice' and parent_id = $1 order by created_at, id for update)
select (select count(*) from hold)::int as holds, (select count(*) from notice)::int as notices`;

/** All that a transaction has made and changed; `$1` the instant. Of lists the planner expects ten rows, of JSON a hundred, for which it reads the whole table. */
const WRITE = `
with changed as (
  update payments.processor_object o set data = r.data::jsonb, due_at = r.due, updated_at = $1::timestamptz
  from unnest($2::text[], $3::text[], $4::timestamptz[]) as r(id, data, due) where o.id = r.id)
insert into payments.processor_object (id, data, due_at, kind, idempotency_key, parent_id, created_at, updated_at)
select id, data::jsonb, due, kind, key, parent, $1, $1
from unnest($5::text[], $6::text[], $7::timestamptz[], $8::text[], $9::text[], $10::text[]) as r(id, data, due, kind, key, parent)`;

const columnsOf = (objects: readonly SandboxObject[]): unknown[][] => [
  objects.map(one => one.id),
  objects.map(one => JSON.stringify(one.data)),
  objects.map(one => one.dueAt),
];

/** The sandbox's objects in one transaction of its own. What it writes is written together, before the next read and at the end. */
export class SandboxTransaction {
  readonly #made = new Map<string, SandboxObject>();
  readonly #changed = new Map<string, SandboxObject>();
  /** Calls that the process makes itself after the commit. */
  readonly ownCalls: SandboxObject<'notice'>[] = [];
  /** It has written something else that waits for its time. */
  hasDue = false;

  constructor(
    private readonly client: pg.PoolClient,
    /** The service's time; delays run on the wall clock. */
    readonly now: Date,
    /** Whether the process makes the calls that are planned. */
    readonly delivers: boolean,
  ) {}

  async #query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<Row[]> {
    await this.#write(prepared(WRITE));
    return (await this.client.query<Row>(prepared(text), [...values])).rows;
  }

  async #write(text: string): Promise<void> {
    if (this.#made.size + this.#changed.size === 0) return;
    const [changed, made] = [[...this.#changed.values()], [...this.#made.values()]];
    this.hasDue ||= [...changed, ...made].some(one => one.dueAt !== null && !(this.ownCalls as SandboxObject[]).includes(one));
    this.#made.clear();
    this.#changed.clear();
    const places = [made.map(one => one.kind), made.map(one => one.key), made.map(one => one.parentId)];
    await this.client.query(text, [this.now, ...columnsOf(changed), ...columnsOf(made), ...places]);
  }

  /** Writes what is left to be written; nothing may come after it. */
  end(): Promise<void> {
    return this.#write(lastOfTransaction(WRITE));
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
    return (await this.#rows<K>(lockBy(by), [kind, Object.values(by)[0]]))[0] ?? null;
  }

  /** The same as the transaction's last statement: what nobody is changing any more. */
  async look<K extends Kind>(kind: K, by: { id: string } | { key: string }): Promise<SandboxObject<K> | null> {
    return (await this.#rows<K>(lastOfTransaction(lockBy(by)), [kind, Object.values(by)[0]]))[0] ?? null;
  }

  /** The number that the next call about a subject has, from 0, and whether there is any hold of these ids. What was not written yet stays so. */
  async planned(subject: string, holds: readonly string[]): Promise<{ number: number; isHeld: boolean }> {
    const { rows } = await this.client.query<{ holds: number; notices: number }>(prepared(PLANNED), [subject, holds]);
    const own = [...this.#made.values()].filter(({ kind, parentId }) => kind === 'notice' && parentId === subject);
    return { number: rows[0]!.notices + own.length, isHeld: rows[0]!.holds > 0 };
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
    return this.#rows<K>(CLAIM, [kind, until, limit]);
  }

  /** The same as the transaction's last statement. */
  claimOnly<K extends Kind>(kind: K, until: Date, limit: number): Promise<SandboxObject<K>[]> {
    return this.#rows<K>(lastOfTransaction(CLAIM), [kind, until, limit]);
  }

  /** A page by time, oldest first. */
  page<K extends Kind>(kind: K, from: Date, to: Date, after: readonly [string, string] | null, limit: number): Promise<SandboxObject<K>[]> {
    const text = `select ${COLUMNS} from payments.processor_object where kind = $1 and created_at >= $2 and created_at < $3
      and ($4::timestamptz is null or (created_at, id) > ($4::timestamptz, $5)) order by created_at, id limit $6`;
    return this.#rows<K>(text, [kind, from, to, after?.[0] ?? null, after?.[1] ?? '', limit]);
  }

  /** A new object. @throws Error where the same transaction has made it already. */
  insert<K extends Kind>(
    kind: K,
    id: string,
    data: Objects[K],
    more: { key?: string; parentId?: string; dueAt?: Date | null } = {},
  ): SandboxObject<K> {
    const { key = null, parentId = null, dueAt = null } = more;
    const made = { id, kind, key, parentId, data, dueAt, createdAt: this.now } as SandboxObject<K>;
    if (this.#made.has(id)) throw new Error(`${kind} is made twice`);
    this.#made.set(id, made);
    return made;
  }

  /** Notes that an object has changed; one that is new is written as it is then. */
  save(object: SandboxObject): void {
    if (!this.#made.has(object.id)) this.#changed.set(object.id, object);
  }

  async remove(kind: Kind, ids: readonly string[]): Promise<void> {
    await this.#query(`delete from payments.processor_object where kind = $1 and id = any($2)`, [kind, ids]);
  }
}

/** How the delivery of a call went. */
export interface Delivery {
  /** Of the notice. */
  id: string;
  isTaken: boolean;
  /** Until it is made again, ms; null: not by itself. */
  waitMs: number | null;
}

/** Notices are locked in the order of {@link PLANNED}. */
const DELIVERED = `
with notice as (select id from payments.processor_object where kind = 'notice' and id = any($1) order by created_at, id for update)
update payments.processor_object o set updated_at = $4, due_at = clock_timestamp() + r.wait * interval '1 millisecond', data = o.data ||
  jsonb_build_object('attempts', (o.data->>'attempts')::int + 1, 'isDelivered', (o.data->>'isDelivered')::boolean or r.taken)
from notice join unnest($1::text[], $2::boolean[], $3::float8[]) as r(id, taken, wait) using (id) where o.id = notice.id`;

/** The sandbox's database: a pool and transactions of its own, so that what it did stays done when payments dies. */
export class SandboxStore {
  readonly #pool: pg.Pool;
  /** Told of each transaction, by whom the calls are made; null: nobody here. */
  afterCommit: ((tx: SandboxTransaction) => void) | null = null;

  constructor(
    databaseUrl: string,
    private readonly manualClock: boolean,
  ) {
    this.#pool = openPool('payments', databaseUrl, CONNECTIONS, { idleTimeoutMillis: IDLE_MS });
    this.#pool.on('connect', client => saveRoundTrips(client as unknown as PgClient));
  }

  async transaction<T>(work: (tx: SandboxTransaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failed: Error | undefined;
    try {
      await client.query('begin');
      const tx = new SandboxTransaction(client, await this.now(client), this.afterCommit !== null);
      const result = await work(tx);
      await tx.end();
      await client.query('commit');
      this.afterCommit?.(tx);
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

  /** Notes how deliveries went. */
  async noteDeliveries(all: readonly Delivery[]): Promise<void> {
    const values = [all.map(one => one.id), all.map(one => one.isTaken), all.map(one => one.waitMs)];
    await this.#pool.query(statement(DELIVERED, [...values, await this.now()]));
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
