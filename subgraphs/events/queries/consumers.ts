import type { Depth } from '../../../events/transport/port.js';
import type { Context } from '../../../runtime/request/context.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { toConnection, type Connection } from '../../../runtime/request/paging.js';
import { EventConsumer } from '../entities/consumer.js';
import type { EventConsumersArgs } from '../inputs/lists.js';
import { Conditions, instant } from './conditions.js';
import { cursorOf } from './log-order.js';

type Row = Omit<EventConsumer, 'lastSeenAt' | 'position'> & { lastSeenAt: string; position: number[] | null };

const COLUMNS = `c.name, c.service, c.types, c.partitions, c.generation, c.status, c.paused_reason as "pausedReason", c.last_seen_at as "lastSeenAt", c.version, c.position::float8[] as position,
  l.keys as "blockedKeys", l.letters as "deadLetters"`;

/** Consumers with their open dead letters. `where` speaks of `c`. */
const select = (where: string): string => `select ${COLUMNS} from events.consumer c cross join lateral (
  select count(distinct d.order_key)::int as keys, count(*)::int as letters from events.dead_letter d
  where d.consumer = c.name and d.status in ('dead', 'retrying', 'parked')) l where ${where}`;

const toConsumer = (row: Row): EventConsumer =>
  Object.assign(new EventConsumer(), row, { lastSeenAt: instant(row.lastSeenAt), position: row.position && cursorOf(row.position) });

const found = async (ctx: Context, where: string, values: readonly unknown[]): Promise<EventConsumer[]> =>
  (await ctx.sql<Row>(select(where), values)).map(toConsumer);

/** Consumers by name. */
export async function listConsumers(
  ctx: Context,
  { service, status, first, after }: EventConsumersArgs,
): Promise<Connection<EventConsumer>> {
  const conditions = new Conditions().add('c.service = ?', service).add('c.status = ?', status).after('c.name > ?', after);
  const rows = await found(ctx, `${conditions.sql} order by c.name limit ${first + 1}`, conditions.values);
  return toConnection(rows, first, row => [row.name]);
}

export const consumerOf = (ctx: Context, name: string): Promise<EventConsumer | null> =>
  ctx.load('events.consumer', name, async names => inOrder(names, await found(ctx, 'c.name = any($1)', [names]), row => row.name));

export async function consumersOfType(ctx: Context, type: string): Promise<EventConsumer[]> {
  const consumers = await ctx.load('events.consumers_of_type', type, async types => {
    const rows = await found(ctx, 'c.types && $1::text[] order by c.name', [types]);
    return types.map(one => rows.filter(row => row.types.includes(one)));
  });
  return consumers ?? [];
}

/** As it stands, read anew; null when there is none. */
export const findConsumer = async (ctx: Context, name: string): Promise<EventConsumer | null> =>
  (await found(ctx, 'c.name = $1', [name]))[0] ?? null;

/** How much waits for a consumer: several fields of it, one look at the queue. */
export const depthOf = async (ctx: Context, name: string): Promise<Depth> =>
  (await ctx.load('events.depth', name, names => ctx.host.transport.depths(names)))!;
