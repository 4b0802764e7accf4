import type { Sql } from '../../../events/outbox.js';
import { prepared } from '../../../events/prepared.js';
import { newId } from '../../../runtime/data/ids.js';
import { shardOf } from '../rules/shards.js';
import type { SubscriptionConfiguration } from './configuration.js';

/** The queue of one user at one subscription. */
export interface LaneKey {
  subscriptionId: string;
  userId: string;
}

/** A matched event as it is stored. `dataSealed` null: it is stored already. */
export interface StoredEvent {
  id: string;
  type: string;
  userId: string;
  sequence: number;
  occurredAt: string;
  dataSealed: Buffer | null;
  /** The trace in which it came; its attempts go on there. */
  traceparent: string | null;
}

/** A delivery to be made. */
export interface NewDelivery {
  id: string;
  subscriptionId: string;
  clientId: string;
  shard: number;
  /** The subscription is paused: the lane waits until it goes on. */
  held: boolean;
  replayNo: number;
  replayOfId: string | null;
}

/** A delivery of an event of a user to a subscription, at the lane's shard. */
export const newDelivery = (
  { id: subscriptionId, clientId, spread, status }: SubscriptionConfiguration,
  userId: string,
  replay: Pick<NewDelivery, 'replayNo' | 'replayOfId'>,
): NewDelivery => ({
  id: newId(),
  subscriptionId,
  clientId,
  shard: shardOf(subscriptionId, userId, spread),
  held: status === 'paused',
  ...replay,
});

const OPEN = `('pending', 'retrying')`;

const STORE_EVENT = `, event as (
  insert into webhooks.webhook_event (id, sequence, type, user_id, occurred_at, data_sealed, traceparent) values ($2, $5, $4, $3, $7, $8, $9) on conflict (id) do nothing)`;

/** A lane that is there grows, and an earlier event becomes its head. */
export const JOIN_LANE = `on conflict (subscription_id, user_id) do update set
  open_count = l.open_count + excluded.open_count,
  head_id = case when (excluded.head_sequence, excluded.head_replay_no) < (l.head_sequence, l.head_replay_no) then excluded.head_id else l.head_id end,
  head_event_id = case when (excluded.head_sequence, excluded.head_replay_no) < (l.head_sequence, l.head_replay_no) then excluded.head_event_id else l.head_event_id end,
  head_attempt_count = case when (excluded.head_sequence, excluded.head_replay_no) < (l.head_sequence, l.head_replay_no) then 0 else l.head_attempt_count end,
  next_attempt_at = case when (excluded.head_sequence, excluded.head_replay_no) < (l.head_sequence, l.head_replay_no) then excluded.next_attempt_at else l.next_attempt_at end,
  head_replay_no = case when (excluded.head_sequence, excluded.head_replay_no) < (l.head_sequence, l.head_replay_no) then excluded.head_replay_no else l.head_replay_no end,
  head_sequence = least(excluded.head_sequence, l.head_sequence)`;

/** Deliveries and their lanes. The lanes are locked in the order of their subscriptions, as everywhere, so that nobody waits in a circle. */
const enqueueText = (storeEvent: boolean): string => `
with wanted as (
  select * from json_to_recordset($1::json) as w(id uuid, subscription_id uuid, client_id text, shard smallint, held boolean, replay_no int, replay_of_id uuid)
)${storeEvent ? STORE_EVENT : ''}, made as (
  insert into webhooks.webhook_delivery (id, event_id, subscription_id, client_id, user_id, event_type, sequence, replay_no, replay_of_id, status, created_at)
  select id, $2, subscription_id, client_id, $3, $4, $5, replay_no, replay_of_id, 'pending', $6 from wanted
  on conflict (subscription_id, event_id, replay_no) do nothing returning id
)
insert into webhooks.webhook_lane as l (subscription_id, user_id, shard, head_id, head_event_id, head_sequence, head_replay_no, head_attempt_count, next_attempt_at, open_count)
select w.subscription_id, $3, w.shard, w.id, $2, $5, w.replay_no, 0, case when w.held then null else $6::timestamptz end, 1
from wanted w join made m on m.id = w.id order by w.subscription_id
${JOIN_LANE}
returning l.shard`;
const ENQUEUE = prepared(enqueueText(false));
const STORE_AND_ENQUEUE = prepared(enqueueText(true));

/** Makes deliveries of one event: one statement. An event that the bus brings twice makes none. Answers the shards with work. Source: rule 12. */
export async function enqueue(sql: Sql, event: StoredEvent, deliveries: readonly NewDelivery[], now: Date): Promise<number[]> {
  const wanted = deliveries.map(one => ({
    id: one.id,
    subscription_id: one.subscriptionId,
    client_id: one.clientId,
    shard: one.shard,
    held: one.held,
    replay_no: one.replayNo,
    replay_of_id: one.replayOfId,
  }));
  const common = [JSON.stringify(wanted), event.id, event.userId, event.type, event.sequence, now.toISOString()];
  const rows = await (event.dataSealed === null
    ? sql<{ shard: number }>(ENQUEUE, common)
    : sql<{ shard: number }>(STORE_AND_ENQUEUE, [...common, event.occurredAt, event.dataSealed, event.traceparent]));
  return rows.map(row => row.shard);
}

/** Which open deliveries end, and how. What is not named is not a condition. */
export interface Closing {
  subscriptionIds?: readonly string[];
  userId?: string;
  eventTypes?: readonly string[];
  to: { status: 'cancelled' | 'dead_lettered'; reason: string };
  now: Date;
}

const LANES_TO_CLOSE = `
select l.subscription_id, l.user_id from webhooks.webhook_lane l
where ($1::uuid[] is null or l.subscription_id = any($1)) and ($2::uuid is null or l.user_id = $2)
order by l.subscription_id, l.user_id for update`;

const CLOSE = `
update webhooks.webhook_delivery d set status = $4, finished_at = $5, next_attempt_at = null, pending_trigger = null,
  cancel_reason = case when $4 = 'cancelled' then $6 end, dead_letter_reason = case when $4 = 'dead_lettered' then $6 end
from unnest($1::uuid[], $2::uuid[]) as t(subscription_id, user_id)
where d.subscription_id = t.subscription_id and d.user_id = t.user_id and d.status in ${OPEN} and ($3::text[] is null or d.event_type = any($3))
returning d.subscription_id, d.user_id`;

/** Ends open deliveries and lets their lanes go on. Locks the lanes, so that no worker records beside it. Answers how many ended. Source: section 8, cancel. */
export async function closeOpen(sql: Sql, { subscriptionIds, userId, eventTypes, to, now }: Closing): Promise<number> {
  const lanes = await sql<{ subscription_id: string; user_id: string }>(LANES_TO_CLOSE, [subscriptionIds ?? null, userId ?? null]);
  if (lanes.length === 0) return 0;
  const keys = [lanes.map(lane => lane.subscription_id), lanes.map(lane => lane.user_id)];
  const values = [...keys, eventTypes ?? null, to.status, now.toISOString(), to.reason];
  const closed = await sql<{ subscription_id: string; user_id: string }>(CLOSE, values);
  await advance(sql, countByLane(closed.map(row => ({ subscriptionId: row.subscription_id, userId: row.user_id }))), now);
  return closed.length;
}

/** A lane and how many of its deliveries have ended. */
export interface TouchedLane extends LaneKey {
  closed: number;
}

/** Counts ended deliveries by lane. */
export function countByLane(closed: readonly LaneKey[]): TouchedLane[] {
  const counts = new Map<string, TouchedLane>();
  for (const { subscriptionId, userId } of closed) {
    const key = `${subscriptionId}:${userId}`;
    const lane = counts.get(key) ?? { subscriptionId, userId, closed: 0 };
    counts.set(key, { ...lane, closed: lane.closed + 1 });
  }
  return [...counts.values()];
}

/** Next head = the lowest (sequence, replay number) that is still open; a lane without one goes. A pending head is due now. */
const ADVANCE = `
with touched as (select * from unnest($1::uuid[], $2::uuid[], $3::int[]) as t(subscription_id, user_id, closed)),
heads as materialized (
  select t.subscription_id, t.user_id, t.closed, n.* from touched t left join lateral (
    select d.id, d.event_id, d.sequence, d.replay_no, d.attempt_count, d.next_attempt_at from webhooks.webhook_delivery d
    where d.subscription_id = t.subscription_id and d.user_id = t.user_id and d.status in ${OPEN}
    order by d.sequence, d.replay_no limit 1
  ) n on true
), gone as (
  delete from webhooks.webhook_lane l using heads h where h.id is null and l.subscription_id = h.subscription_id and l.user_id = h.user_id
)
update webhooks.webhook_lane l set head_id = h.id, head_event_id = h.event_id, head_sequence = h.sequence, head_replay_no = h.replay_no,
  head_attempt_count = h.attempt_count, open_count = greatest(1, l.open_count - h.closed),
  next_attempt_at = case
    when (select s.status from webhooks.webhook_subscription s where s.id = l.subscription_id) <> 'active' then null
    when h.next_attempt_at is not null then h.next_attempt_at
    when l.head_id = h.id and l.next_attempt_at is not null then l.next_attempt_at
    else $4::timestamptz end
from heads h where h.id is not null and l.subscription_id = h.subscription_id and l.user_id = h.user_id`;

/** Finds the next head of lanes that the caller has locked. */
export async function advance(sql: Sql, lanes: readonly TouchedLane[], now: Date): Promise<void> {
  if (lanes.length === 0) return;
  await sql(ADVANCE, [
    lanes.map(lane => lane.subscriptionId),
    lanes.map(lane => lane.userId),
    lanes.map(lane => lane.closed),
    now.toISOString(),
  ]);
}
