import { CATALOGUE } from '../../../events/catalogue.js';
import { timeOfId } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import type { JobFilter, WebhookJob } from '../entities/job.js';
import type { WebhookDeliveryStatus } from '../entities/enums.js';
import { covers } from '../rules/grants.js';
import { isOpen } from '../rules/states.js';
import { enqueueMany, enterUsers, type BulkDelivery } from '../commands/bulk.js';
import { configurationOf } from '../commands/configuration.js';
import { readGrantsOf, type Grants } from '../commands/grants.js';
import type { JobStep } from './jobs.js';

/** Deliveries of one transaction at most. Source: section 8. */
const STEP = 500;

/** Dead letters that nobody has resolved, by the filter of a job: $1 subscription, $2..$6 filter, $7 dead before. */
const MATCHING = `
d.subscription_id = $1 and d.status = 'dead_lettered' and d.resolved_at is null and d.finished_at <= $7
and (cardinality($2::text[]) = 0 or d.event_type = any($2)) and ($3::uuid is null or d.user_id = $3) and ($4::text is null or d.dead_letter_reason = $4)
and ($5::timestamptz is null or d.finished_at >= $5) and ($6::timestamptz is null or d.finished_at < $6)`;

const COUNT = `select count(distinct d.event_id)::int as matched from webhooks.webhook_delivery d where ${MATCHING}`;

/** Oldest events first; of each event its newest dead letter, and the newest delivery of all, which may be open. */
const NEXT = `
select x.*, n.replay_no as "newestNo", n.status as "newestStatus", exists (select from webhooks.webhook_event e where e.id = x."eventId" and e.data_sealed is not null) as kept
from (
  select distinct on (d.sequence, d.event_id) d.id, d.event_id as "eventId", d.user_id as "userId", d.event_type as "eventType", d.sequence::float8 as sequence
  from webhooks.webhook_delivery d where ${MATCHING} and ($8::bigint is null or (d.sequence, d.event_id) > ($8, $9::uuid))
  order by d.sequence, d.event_id, d.replay_no desc limit ${STEP}
) x cross join lateral (
  select o.replay_no, o.status from webhooks.webhook_delivery o where o.subscription_id = $1 and o.event_id = x."eventId" order by o.replay_no desc limit 1
) n order by x.sequence, x."eventId"`;

interface Dead {
  id: string;
  eventId: string;
  userId: string;
  eventType: string;
  sequence: number;
  newestNo: number;
  newestStatus: WebhookDeliveryStatus;
  kept: boolean;
}

const valuesOf = (subscriptionId: string, { eventTypes, userId, reason, from, to }: JobFilter, before: Date): unknown[] => [
  subscriptionId,
  eventTypes ?? [],
  userId ?? null,
  reason ?? null,
  from ?? null,
  to ?? null,
  before.toISOString(),
];

/** How many events have a dead letter that matches. */
export async function countDead(ctx: Context, subscriptionId: string, filter: JobFilter): Promise<number> {
  return (await ctx.sql<{ matched: number }>(COUNT, valuesOf(subscriptionId, filter, ctx.now())))[0]!.matched;
}

const isGranted = (one: Dead, grants: Grants | undefined, clientId: string): boolean =>
  covers(grants?.get(clientId), CATALOGUE.get(one.eventType)?.scope ?? '', { sequence: one.sequence, occurredAt: timeOfId(one.eventId) });

const againOf = (one: Dead): BulkDelivery => ({ ...one, id: newId(), replayNo: one.newestNo + 1, replayOfId: one.id });

/** The next dead letters go out again, each at its event's place in its user's order. Source: rules 8 and 14. */
export const replayStep: JobStep = {
  prepare: async () => null,
  async run(ctx, job: WebhookJob) {
    const [sequence, eventId] = job.position?.split(' ') ?? [null, null];
    const dead = await ctx.sql<Dead>(NEXT, [...valuesOf(job.subscriptionId, job.filter, job.createdAt), sequence, eventId]);
    const users = [...new Set(dead.map(one => one.userId))];
    const configuration = configurationOf(ctx.host);
    await configuration.refresh(ctx.sql, await enterUsers(ctx.sql, users));
    const subscription = configuration.get(job.subscriptionId);
    if (!subscription || subscription.status === 'disabled') return { outcome: 'failed' };
    const grants = new Map((await readGrantsOf(ctx.sql, users)).map((found, index) => [users[index]!, found]));
    const sendable = dead.filter(
      one =>
        one.kept &&
        !isOpen(one.newestStatus) &&
        subscription.eventTypes.has(one.eventType) &&
        isGranted(one, grants.get(one.userId), job.clientId),
    );
    const created = await enqueueMany(ctx.sql, subscription, sendable.map(againOf), ctx.now());
    const last = dead.at(-1);
    const position = last ? `${last.sequence} ${last.eventId}` : job.position;
    return { outcome: dead.length < STEP ? 'completed' : 'more', position, matched: 0, created, skipped: dead.length - created };
  },
};
