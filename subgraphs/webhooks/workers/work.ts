import type { Sql } from '../../../events/outbox.js';
import type { WebhookAttemptTrigger } from '../entities/enums.js';
import type { LaneKey } from '../commands/lanes.js';

/** The head of a lane that is due. */
export interface DueHead extends LaneKey {
  shard: number;
  deliveryId: string;
  eventId: string;
  eventType: string;
  clientId: string;
  attemptCount: number;
  replayNo: number;
  pendingTrigger: WebhookAttemptTrigger | null;
  /** The circuit of the subscription is not closed: a first attempt is a probe. */
  circuitOpen: boolean;
}

/** What a worker may look for. */
export interface Search {
  shards: readonly number[];
  /** ms. */
  now: Date;
  /** Subscriptions without a free slot. */
  full: readonly string[];
  /** Subscriptions at their rate limit; only their retries run. */
  limited: readonly string[];
  /** Lanes that carry a request already. */
  inHand: readonly LaneKey[];
  limit: number;
}

/**
 * Oldest first. Only the head of a lane is ever found, and only while it is open. What holds first attempts back, a circuit or the
 * receiver's wish, holds no retry back. Nothing of a subscription is sent while what is open of it is closed, or its
 * lanes are held. The lanes are chosen first, then each delivery is looked up by its key: joined freely, all
 * that is open would be read. Source: section 8, find work.
 */
const DUE = `
with due as materialized (
  select l.subscription_id, l.user_id, l.shard, l.head_id, l.head_event_id, l.next_attempt_at, coalesce(h.circuit_state <> 'closed', false) as circuit_open
  from webhooks.webhook_lane l left join webhooks.webhook_health h on h.subscription_id = l.subscription_id
  where l.next_attempt_at <= $1 and l.shard = any($2::int[]) and l.subscription_id <> all($3::uuid[])
    and (l.head_attempt_count > 0 or (l.subscription_id <> all($4::uuid[]) and coalesce(h.firsts_held_until <= $1, true)))
    and not exists (select from webhooks.webhook_closing c where c.subscription_id = l.subscription_id)
    and not exists (
      select from webhooks.webhook_lane_change c join webhooks.webhook_subscription s on s.id = c.subscription_id
      where c.subscription_id = l.subscription_id and s.status <> 'active')
    and (l.subscription_id, l.user_id) not in (select * from unnest($5::uuid[], $6::uuid[]))
  order by l.next_attempt_at limit $7
)
select l.subscription_id, l.user_id, l.shard, d.id, d.event_id, d.event_type, d.client_id, d.attempt_count, d.replay_no, d.pending_trigger, l.circuit_open
from due l cross join lateral (
  select * from webhooks.webhook_delivery d where d.event_id = l.head_event_id and d.id = l.head_id and d.status in ('pending', 'retrying') offset 0
) d order by l.next_attempt_at`;

interface DueRow {
  subscription_id: string;
  user_id: string;
  shard: number;
  id: string;
  event_id: string;
  event_type: string;
  client_id: string;
  attempt_count: number;
  replay_no: number;
  pending_trigger: WebhookAttemptTrigger | null;
  circuit_open: boolean;
}

/** Heads that are due now, at most `limit`. */
export async function findDue(sql: Sql, search: Search): Promise<DueHead[]> {
  const { now, shards, full, limited, inHand, limit } = search;
  const lanes = [inHand.map(lane => lane.subscriptionId), inHand.map(lane => lane.userId)];
  const rows = await sql<DueRow>(DUE, [now.toISOString(), shards, full, limited, ...lanes, limit]);
  return rows.map(row => ({
    subscriptionId: row.subscription_id,
    userId: row.user_id,
    shard: row.shard,
    deliveryId: row.id,
    eventId: row.event_id,
    eventType: row.event_type,
    clientId: row.client_id,
    attemptCount: row.attempt_count,
    replayNo: row.replay_no,
    pendingTrigger: row.pending_trigger,
    circuitOpen: row.circuit_open,
  }));
}

/** What is sent of an event. */
export interface EventBody {
  occurredAt: string;
  dataSealed: Buffer;
  traceparent: string | null;
}

const BODIES = `
select d.id, e.data_sealed, e.traceparent, to_char(e.occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at
from unnest($1::uuid[], $2::uuid[]) as k(id, event_id)
cross join lateral (
  select d.id from webhooks.webhook_delivery d where d.event_id = k.event_id and d.id = k.id and d.status in ('pending', 'retrying') offset 0
) d cross join lateral (
  select e.data_sealed, e.traceparent, e.occurred_at from webhooks.webhook_event e where e.id = k.event_id and e.data_sealed is not null offset 0
) e`;

/** Bodies of the heads that are about to be sent, by delivery; one that was cancelled meanwhile has none. */
export async function readBodies(sql: Sql, heads: readonly DueHead[]): Promise<Map<string, EventBody>> {
  const rows = await sql<{ id: string; data_sealed: Buffer; occurred_at: string; traceparent: string | null }>(BODIES, [
    heads.map(head => head.deliveryId),
    heads.map(head => head.eventId),
  ]);
  return new Map(rows.map(row => [row.id, { occurredAt: row.occurred_at, dataSealed: row.data_sealed, traceparent: row.traceparent }]));
}

/** One of each subscription in turn, so that a long queue delays nobody else's first. Source: rule 19. */
export function roundRobin(heads: readonly DueHead[]): DueHead[] {
  const bySubscription = new Map<string, DueHead[]>();
  for (const head of heads) bySubscription.set(head.subscriptionId, [...(bySubscription.get(head.subscriptionId) ?? []), head]);
  const queues = [...bySubscription.values()];
  const longest = Math.max(0, ...queues.map(queue => queue.length));
  return Array.from({ length: longest }, (_, turn) => queues.flatMap(queue => queue[turn] ?? [])).flat();
}
