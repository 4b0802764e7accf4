import type pg from 'pg';
import { userErasureRequested } from './catalogue/identity.js';
import { handle, type Consumer, type ConsumerHost, type Envelope } from './consumer.js';
import type { DataOf } from './define.js';
import type { EventLog } from './log.js';
import type { Sql } from './outbox.js';

/** What the erasure of a user's events needs of its service's context. */
export interface ErasureContext {
  sql: Sql;
  now(): Date;
}

type ErasureRequested = Envelope<DataOf<typeof userErasureRequested>>;

/**
 * Empties the payloads of a user's events before `beforeSeq` and discards the dead letters about them, as `platform_events`.
 * Ids, types, times and order stay. Answers how many events were emptied. Source: event-machinery 10.
 */
export async function eraseUserEvents(sql: Sql, userId: string, beforeSeq: number, by: string, now: Date): Promise<number> {
  const [row] = await sql<{ erased: number }>('select events.erase_user($1::uuid, $2::bigint, $3, $4::timestamptz) as erased', [
    userId,
    beforeSeq,
    by,
    now.toISOString(),
  ]);
  return row!.erased;
}

/**
 * The consumer `events.erasure`. The request comes after everything that it concerns in the user's order, so nothing is still unpublished.
 * @param confirm tells identity the outcome, in the same transaction; it writes a job or an event, it does no outside I/O.
 */
export const erasureConsumer = <Ctx extends ErasureContext>(
  confirm: (ctx: Ctx, event: ErasureRequested, erased: number) => Promise<void> = async () => undefined,
): Consumer<Ctx> => ({
  name: 'events.erasure',
  partitions: 1,
  on: [
    handle(userErasureRequested, async (ctx: Ctx, event) => {
      const erased = await eraseUserEvents(ctx.sql, event.user_id!, event.seq, `${event.type}:${event.id}`, ctx.now());
      await confirm(ctx, event, erased);
    }),
  ],
});

/** Transactions of the events service itself, which has no entities: on the machinery's own connections. */
export const erasureHost = (pool: pg.Pool, log: EventLog, now: () => Date = () => new Date()): ConsumerHost<ErasureContext> => ({
  slug: 'events',
  schema: 'events',
  log,
  now,
  outside: run => run({ sql: sqlOn(pool), now }),
  transaction: async (_meta, run) => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const sql = sqlOn(client);
      const result = await run({ sql, context: { sql, now } });
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      client.release(true); // ends the transaction with its connection
      throw error;
    }
  },
});

const sqlOn =
  (runner: pg.Pool | pg.PoolClient): Sql =>
  async <Row>(text: string, params: readonly unknown[] = []) =>
    (await runner.query(text, [...params])).rows as Row[];
