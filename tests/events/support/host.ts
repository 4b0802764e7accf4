/** Shared by the tests and by the processes that they start, so only erasable syntax and packages. */
import type pg from 'pg';
import type { ConsumerHost } from '../../../events/consumer.js';
import type { PendingEvent, Sql } from '../../../events/outbox.js';
import type { Slug } from '../../../events/slugs.js';

/** What a handler of the tests gets: SQL in its transaction, and events that commit with it. */
export interface TestContext {
  sql: Sql;
  pending: PendingEvent[];
  now(): Date;
}

type Append = (sql: Sql, events: readonly PendingEvent[], now: Date | null) => Promise<void>;

export const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export const sqlOn =
  (client: pg.Pool | pg.PoolClient): Sql =>
  async <Row>(text: string, params: readonly unknown[] = []) =>
    (await client.query(text, [...params])).rows as Row[];

/** One transaction of a service; what `run` leaves in `pending` is appended as the last statement. */
export async function inTransaction<T>(
  pool: pg.Pool,
  append: Append,
  run: (context: TestContext) => Promise<T>,
  now: () => Date,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const context: TestContext = { sql: sqlOn(client), pending: [], now };
    const result = await run(context);
    await append(context.sql, context.pending, null);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the connection may be gone
    client.release(true);
    throw error;
  }
}

export interface HostOptions {
  slug: Slug;
  pool: pg.Pool;
  append: Append;
  log?: ConsumerHost<TestContext>['log'];
  now?: () => Date;
}

export const hostOf = ({ slug, pool, append, log = silent, now = () => new Date() }: HostOptions): ConsumerHost<TestContext> => ({
  slug,
  schema: slug.replaceAll('-', '_'),
  log,
  now,
  outside: run => run({ sql: sqlOn(pool), pending: [], now }),
  transaction: (_meta, run) => inTransaction(pool, append, context => run({ sql: context.sql, context, now: context.now() }), now),
});

/** Notes that a handler ran, in its transaction; `effect` has no unique key, so a second run shows. */
export async function note(
  ctx: TestContext,
  consumer: string,
  event: { id: string; order_key: string; seq: number; data: { n: number } },
): Promise<void> {
  await ctx.sql('insert into public.effect (consumer, event_id, order_key, seq, n) values ($1, $2, $3, $4, $5)', [
    consumer,
    event.id,
    event.order_key,
    event.seq,
    event.data.n,
  ]);
}
