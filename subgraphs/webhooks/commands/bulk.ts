import type { Sql } from '../../../events/outbox.js';
import { shardOf } from '../rules/shards.js';
import type { SubscriptionConfiguration } from './configuration.js';
import { digestOf } from './grants.js';
import { JOIN_LANE } from './lanes.js';

/** A delivery that a job makes. */
export interface BulkDelivery {
  id: string;
  eventId: string;
  userId: string;
  eventType: string;
  sequence: number;
  replayNo: number;
  replayOfId: string | null;
}

/** An event that may not be stored yet. */
export interface BulkEvent {
  id: string;
  type: string;
  userId: string;
  sequence: number;
  /** RFC 3339. */
  occurredAt: string;
  dataSealed: Buffer;
}

const LOCK_USERS = `
select count(pg_advisory_xact_lock_shared(webhooks.user_lock(user_id))) from (select distinct user_id from unnest($1::uuid[]) as u(user_id) order by 1 offset 0) u`;
const VERSION = 'select version::float8 as version from webhooks.webhook_configuration';

/** What ingest locks for one user, for many: no subscription changes and none of them is erased. Answers the version of the configuration. */
export async function enterUsers(sql: Sql, userIds: readonly string[]): Promise<number> {
  await sql('select pg_advisory_xact_lock_shared(webhooks.configuration_lock())');
  await sql(LOCK_USERS, [userIds]);
  return (await sql<{ version: number }>(VERSION))[0]!.version;
}

/** Those of the users who were erased. The locks are had. */
export async function erasedOf(sql: Sql, userIds: readonly string[]): Promise<Set<string>> {
  const digests = new Map(userIds.map(userId => [digestOf(userId).toString('hex'), userId]));
  const rows = await sql<{ digest: string }>(
    `select encode(user_digest, 'hex') as digest from webhooks.erased_user where encode(user_digest, 'hex') = any($1::text[])`,
    [[...digests.keys()]],
  );
  return new Set(rows.map(row => digests.get(row.digest)!));
}

const LOCK_LANES = `
select count(*) from (select 1 from webhooks.webhook_lane where subscription_id = $1 and user_id = any($2::uuid[]) order by subscription_id, user_id for update) l`;

const STORE = `
insert into webhooks.webhook_event (id, sequence, type, user_id, occurred_at, data_sealed)
select id, sequence, type, user_id, occurred_at, decode(data, 'base64')
from json_to_recordset($1::json) as e(id uuid, sequence bigint, type text, user_id uuid, occurred_at timestamptz, data text) on conflict (id) do nothing`;

/** Keeps events that are to be delivered: one statement. */
export const storeEvents = (sql: Sql, events: readonly BulkEvent[]): Promise<unknown> =>
  sql(STORE, [
    JSON.stringify(
      events.map(({ id, sequence, type, userId, occurredAt, dataSealed }) => ({
        id,
        sequence,
        type,
        user_id: userId,
        occurred_at: occurredAt,
        data: dataSealed.toString('base64'),
      })),
    ),
  ]);

/** Deliveries of many events for one subscription, and the lanes of their users, each with its earliest as the head or one that is earlier still. */
const ENQUEUE_MANY = `
with wanted as (
  select * from json_to_recordset($1::json) as w(id uuid, event_id uuid, user_id uuid, event_type text, sequence bigint, shard smallint, replay_no int, replay_of_id uuid)
), made as (
  insert into webhooks.webhook_delivery (id, event_id, subscription_id, client_id, user_id, event_type, sequence, replay_no, replay_of_id, status, created_at)
  select id, event_id, $2, $3, user_id, event_type, sequence, replay_no, replay_of_id, 'pending', $4 from wanted
  on conflict (subscription_id, event_id, replay_no) do nothing returning id
), firsts as (
  select distinct on (w.user_id) w.*, count(*) over (partition by w.user_id) as open_count
  from wanted w join made m on m.id = w.id order by w.user_id, w.sequence, w.replay_no
), lanes as (
  insert into webhooks.webhook_lane as l (subscription_id, user_id, shard, head_id, head_event_id, head_sequence, head_replay_no, head_attempt_count, next_attempt_at, open_count)
  select $2, user_id, shard, id, event_id, sequence, replay_no, 0, case when $5::boolean then null else $4::timestamptz end, open_count from firsts order by user_id
  ${JOIN_LANE}
)
select count(*)::int as made from made`;

/** Makes deliveries of many events for one subscription: lanes are locked in order first. Answers how many were new. Source: section 8, recover and bulk replay. */
export async function enqueueMany(
  sql: Sql,
  subscription: SubscriptionConfiguration,
  deliveries: readonly BulkDelivery[],
  now: Date,
): Promise<number> {
  if (deliveries.length === 0) return 0;
  await sql(LOCK_LANES, [subscription.id, [...new Set(deliveries.map(one => one.userId))]]);
  const wanted = deliveries.map(one => ({
    id: one.id,
    event_id: one.eventId,
    user_id: one.userId,
    event_type: one.eventType,
    sequence: one.sequence,
    shard: shardOf(subscription.id, one.userId, subscription.spread),
    replay_no: one.replayNo,
    replay_of_id: one.replayOfId,
  }));
  const values = [JSON.stringify(wanted), subscription.id, subscription.clientId, now.toISOString(), subscription.status === 'paused'];
  return (await sql<{ made: number }>(ENQUEUE_MANY, values))[0]!.made;
}
