import type { Context } from '../../../runtime/request/context.js';
import type { WebhookDeliveryStatus } from '../entities/enums.js';
import type { JobFilter, WebhookJob } from '../entities/job.js';

/** Dead letters that nobody has resolved, by the filter of a job: $1 subscription, $2..$6 filter, $7 dead before. */
const MATCHING = `
d.subscription_id = $1 and d.status = 'dead_lettered' and d.resolved_at is null and d.finished_at <= $7
and (cardinality($2::text[]) = 0 or d.event_type = any($2)) and ($3::uuid is null or d.user_id = $3) and ($4::text is null or d.dead_letter_reason = $4)
and ($5::timestamptz is null or d.finished_at >= $5) and ($6::timestamptz is null or d.finished_at < $6)`;

const valuesOf = (subscriptionId: string, { eventTypes, userId, reason, from, to }: JobFilter, before: Date): unknown[] => [
  subscriptionId,
  eventTypes ?? [],
  userId ?? null,
  reason ?? null,
  from ?? null,
  to ?? null,
  before.toISOString(),
];

const COUNT = `select count(distinct d.event_id)::int as matched from webhooks.webhook_delivery d where ${MATCHING}`;

/** How many events have a dead letter that matches. */
export async function countDead(ctx: Context, subscriptionId: string, filter: JobFilter): Promise<number> {
  return (await ctx.sql<{ matched: number }>(COUNT, valuesOf(subscriptionId, filter, ctx.now())))[0]!.matched;
}

/** The newest dead letter of an event, with the newest delivery of all. */
export interface DeadLetter {
  id: string;
  eventId: string;
  userId: string;
  eventType: string;
  sequence: number;
  newestNo: number;
  newestStatus: WebhookDeliveryStatus;
  /** The body is still there. */
  kept: boolean;
}

/** Oldest events first; of each event its newest dead letter, and the newest delivery of all, which may be open. */
const NEXT = `
select x.*, n.replay_no as "newestNo", n.status as "newestStatus", exists (select from webhooks.webhook_event e where e.id = x."eventId" and e.data_sealed is not null) as kept
from (
  select distinct on (d.sequence, d.event_id) d.id, d.event_id as "eventId", d.user_id as "userId", d.event_type as "eventType", d.sequence::float8 as sequence
  from webhooks.webhook_delivery d where ${MATCHING} and ($8::bigint is null or (d.sequence, d.event_id) > ($8, $9::uuid))
  order by d.sequence, d.event_id, d.replay_no desc limit $10
) x cross join lateral (
  select o.replay_no, o.status from webhooks.webhook_delivery o where o.subscription_id = $1 and o.event_id = x."eventId" order by o.replay_no desc limit 1
) n order by x.sequence, x."eventId"`;

/** The dead letters of a job after its position, at most `limit`. */
export function nextDead(ctx: Context, { subscriptionId, filter, position, createdAt }: WebhookJob, limit: number): Promise<DeadLetter[]> {
  const [sequence, eventId] = position?.split(' ') ?? [null, null];
  return ctx.sql<DeadLetter>(NEXT, [...valuesOf(subscriptionId, filter, createdAt), sequence, eventId, limit]);
}

/** Position of a job behind a dead letter. */
export const positionAfter = ({ sequence, eventId }: DeadLetter): string => `${sequence} ${eventId}`;
