import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import type { WebhookDisclosure } from '../entities/disclosure.js';
import type { WebhookDisclosuresArgs } from '../inputs/disclosure.js';

interface Row {
  event_id: string;
  client_id: string;
  event_type: string;
  delivered_at: string;
  count: number;
}

/** One row per event and app: the first time, and how often. The time of the event stands in its id. */
const DISCLOSED = `
select * from (
  select event_id, client_id, event_type, count(*)::int as count,
    to_char(min(delivered_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as delivered_at
  from webhooks.webhook_delivery where user_id = $1 and status = 'delivered' and ($2::text is null or client_id = $2) group by event_id, client_id, event_type
) d where $3::text is null or (delivered_at, event_id::text, client_id) < ($3, $4, $5)
order by delivered_at desc, event_id::text desc, client_id desc limit $6`;

const OCCURRED = `select id, to_char(occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from webhooks.webhook_event where id = any($1::uuid[])`;

function positionOf(after: string | null | undefined): (string | null)[] {
  if (after == null) return [null, null, null];
  const key = decodeCursor(after, 3);
  if (!key.every(part => typeof part === 'string')) decodeCursor('', 3);
  return key as string[];
}

const shown = ({ client_id, event_type, delivered_at, count }: Row, occurredAt: string): WebhookDisclosure => ({
  client: { id: client_id },
  eventType: event_type,
  occurredAt: new Date(occurredAt),
  deliveredAt: new Date(delivered_at),
  count,
});

/** What apps have received about a user, newest first. */
export async function disclosuresOf(
  ctx: Context,
  userId: string,
  { clientId, first, after }: WebhookDisclosuresArgs,
): Promise<Connection<WebhookDisclosure>> {
  const rows = await ctx.sql<Row>(DISCLOSED, [userId, clientId ?? null, ...positionOf(after), first + 1]);
  const events = await ctx.sql<{ id: string; at: string }>(OCCURRED, [rows.map(row => row.event_id)]);
  const times = new Map(events.map(event => [event.id, event.at]));
  const { nodes, pageInfo } = toConnection(rows, first, row => [row.delivered_at, row.event_id, row.client_id]);
  return { nodes: nodes.map(row => shown(row, times.get(row.event_id) ?? row.delivered_at)), pageInfo };
}
