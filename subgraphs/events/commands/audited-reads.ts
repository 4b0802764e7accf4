import { CATALOGUE } from '../../../events/catalogue.js';
import { adminScopeOf } from '../../../events/slugs.js';
import { mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { writeAudit } from '../../../runtime/data/audit.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Caller } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { DeliveryLogEvent } from '../entities/delivery-log.js';
import type { PlatformEvent } from '../entities/platform-event.js';
import type { DeliveryLogArgs } from '../inputs/lists.js';
import { instant, type Conditions } from '../queries/conditions.js';
import { cursorOf, positionOf, readLog, type LogRow } from '../queries/log-order.js';

/** Bus operators see flow, not health data or money: the payload needs the owner's own permission. Source: events 4, payload rule. */
function mayReadData(caller: Caller, type: string): boolean {
  const owner = CATALOGUE.get(type)?.owner;
  if (owner === undefined) return false;
  const scope = adminScopeOf(owner);
  return mayAccess(ruleOf({ service: scope, staff: `${scope}:read` }), caller);
}

interface DataRow {
  id: string;
  type: string;
  userId: string | null;
  data: string;
}

const DATA = 'select id, type, user_id as "userId", data::text as data from events.outbox where id = any($1::uuid[])';

/** The payload as it was emitted, `{}` after an erasure; null for who may not read it. */
export async function readData(ctx: Context, { id, type }: PlatformEvent): Promise<unknown> {
  if (!mayReadData(ctx.caller, type)) return null;
  return ctx.load('events.data', id, async ids => {
    const rows = await ctx.sql<DataRow>(DATA, [ids]);
    await writeAudit(
      ctx,
      rows.map(row => ({ action: 'event.read', target: row.id, details: { type: row.type, user_id: row.userId } })),
    );
    const found = new Map(rows.map(row => [row.id, JSON.parse(row.data) as unknown]));
    return ids.map(one => found.get(one) ?? null);
  });
}

type DeliveredRow = LogRow & Omit<DeliveryLogEvent, 'occurredAt'> & { occurredAt: string };

const DELIVERED = `o.id, o.type, o.user_id as "userId", o.brand_id as "brandId", o.occurred_at as "occurredAt", o.seq::float8 as sequence, o.data::text as "dataText"`;

const toDelivered = (row: DeliveredRow): DeliveryLogEvent =>
  Object.assign(new DeliveryLogEvent(), row, { occurredAt: instant(row.occurredAt) });

const undelivered = (conditions: Conditions, { types, userIds, occurredFrom, occurredTo }: DeliveryLogArgs): Conditions =>
  conditions
    .add('o.type = any(?::text[])', types)
    .add('o.user_id = any(?::uuid[])', userIds?.filter(isUuid))
    .add('o.occurred_at >= ?', occurredFrom)
    .add('o.occurred_at < ?', occurredTo)
    .add('(o.erased_at is null) = ?', true);

/** Relayed events with their payloads, in the order of the relay, without erased ones. */
export async function readDeliveryLog(ctx: Context, args: DeliveryLogArgs): Promise<Connection<DeliveryLogEvent>> {
  const read = { columns: DELIVERED, first: args.first, filter: (conditions: Conditions) => undelivered(conditions, args) };
  const { rows, next, more } = await readLog<DeliveredRow>(ctx, read, await positionOf(ctx, args.after));
  if (rows.length > 0) await notePage(ctx, rows);
  return { nodes: rows.map(toDelivered), pageInfo: { endCursor: cursorOf(next), hasNextPage: more } };
}

/** One audit row per page: what was read is between two sequences. */
async function notePage(ctx: Context, rows: readonly DeliveredRow[]): Promise<void> {
  const details = { events: rows.length, from: rows[0]!.id, to: rows.at(-1)!.id, types: [...new Set(rows.map(({ type }) => type))] };
  await writeAudit(ctx, [{ action: 'delivery_log.read', target: null, details }]);
}
