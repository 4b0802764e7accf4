import { CATALOGUE } from '../../../events/catalogue.js';
import { timeOfId } from '../../../events/envelope.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, type ProblemCode } from '../../../runtime/request/errors.js';
import { WebhookDelivery, type WebhookReplay, type WebhookReplayResult } from '../entities/delivery.js';
import type { WebhookDeliveryStatus, WebhookReplayRefusal } from '../entities/enums.js';
import type { ReplayWebhookEventInput } from '../inputs/delivery.js';
import { listedClients, requireManaged } from '../queries/managed.js';
import { covers } from '../rules/grants.js';
import { decideReplay, isReplayable, type ReplayDecision } from '../rules/states.js';
import { configurationOf } from './configuration.js';
import { retryNow } from './deliveries.js';
import { enterUser, type Grants } from './grants.js';
import { enqueue, newDelivery, type StoredEvent } from './lanes.js';
import { signalOf } from './signal.js';

/** The newest delivery of an event to one subscription, with the event and the head of its lane. */
interface Newest {
  id: string;
  event_id: string;
  subscription_id: string;
  client_id: string;
  user_id: string;
  event_type: string;
  sequence: number;
  replay_no: number;
  status: WebhookDeliveryStatus;
  occurred_at: string;
}

const ONE_REPLAY_AT_A_TIME = 'select pg_advisory_xact_lock(hashtextextended($1, 31))';

/** Deliveries of an event whose body is still there, the newest of each subscription that exists. */
const NEWEST = `
select distinct on (d.subscription_id) d.id, d.event_id, d.subscription_id, d.client_id, d.user_id, d.event_type, d.sequence::float8 as sequence, d.replay_no, d.status,
  to_char(e.occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at
from webhooks.webhook_delivery d join webhooks.webhook_event e on e.id = d.event_id and e.data_sealed is not null
join webhooks.webhook_subscription s on s.id = d.subscription_id and s.deleted_at is null
where d.event_id = $1 and ($2::text[] is null or d.client_id = any($2)) and ($3::uuid is null or d.subscription_id = $3)
order by d.subscription_id, d.replay_no desc`;

const LOCK_LANES = `select subscription_id, head_id from webhooks.webhook_lane where user_id = $1 and subscription_id = any($2::uuid[]) order by subscription_id, user_id for update`;

/** What is known under all locks: `heads` of the lanes by subscription. */
interface Entered {
  found: Newest[];
  grants: Grants;
  heads: Map<string, string>;
}

/** Locks in the order of ingest, then finds what is to be sent again. @throws Problem not_found. */
async function enter(ctx: Context, { eventId, clientId, subscriptionId }: ReplayWebhookEventInput): Promise<Entered> {
  await ctx.sql(ONE_REPLAY_AT_A_TIME, [eventId]);
  const where = [eventId, await listedClients(ctx, clientId), subscriptionId ?? null];
  const [first] = await ctx.sql<Newest>(NEWEST, where);
  if (!first) fail('not_found', 'Not found');
  const { grants, version } = await enterUser(ctx.sql, first.user_id);
  await configurationOf(ctx.host).refresh(ctx.sql, version);
  const before = await ctx.sql<Newest>(NEWEST, where);
  const keys = [first.user_id, before.map(one => one.subscription_id)];
  const lanes = await ctx.sql<{ subscription_id: string; head_id: string }>(LOCK_LANES, keys);
  const found = await ctx.sql<Newest>(NEWEST, where); // under the lanes' locks nobody changes these states
  if (found.length === 0) fail('not_found', 'Not found');
  return { found, grants, heads: new Map(lanes.map(lane => [lane.subscription_id, lane.head_id])) };
}

function decide(ctx: Context, newest: Newest, grants: Grants, head: string | undefined): ReplayDecision {
  const subscription = configurationOf(ctx.host).get(newest.subscription_id);
  const scope = CATALOGUE.get(newest.event_type)?.scope ?? '';
  return decideReplay({
    status: newest.status,
    isHead: head === newest.id,
    subscriptionStatus: subscription?.status ?? 'disabled',
    inFilter: subscription?.eventTypes.has(newest.event_type) ?? false,
    granted: covers(grants.get(newest.client_id), scope, { sequence: newest.sequence, occurredAt: timeOfId(newest.event_id) }),
  });
}

/** The event of a delivery; its body is stored already. */
const storedEvent = (newest: Newest): StoredEvent => ({
  id: newest.event_id,
  type: newest.event_type,
  userId: newest.user_id,
  sequence: newest.sequence,
  occurredAt: newest.occurred_at,
  dataSealed: null,
  traceparent: null,
});

/** A new delivery in its user's order where the event belongs, before newer ones that still wait. Source: rule 8. */
async function sendAgain(ctx: Context, newest: Newest): Promise<WebhookReplay> {
  const subscription = configurationOf(ctx.host).get(newest.subscription_id)!;
  const delivery = newDelivery(subscription, newest.user_id, { replayNo: newest.replay_no + 1, replayOfId: newest.id });
  await enqueue(ctx.sql, storedEvent(newest), [delivery], ctx.now());
  return { id: delivery.id, subscriptionId: subscription.id, action: 'created', status: 'pending', replayOf: newest.id, reason: null };
}

async function replayOne(ctx: Context, newest: Newest, grants: Grants, head: string | undefined): Promise<WebhookReplay> {
  const { action, reason } = decide(ctx, newest, grants, head);
  if (action === 'created') return sendAgain(ctx, newest);
  const { id, event_id: eventId, subscription_id: subscriptionId, user_id: userId, status } = newest;
  if (action === 'retried_now') await retryNow(ctx, { id, eventId, subscriptionId, userId });
  return { id, subscriptionId, action, status, replayOf: null, reason };
}

/** What the caller is answered when nothing could be sent. */
const REFUSALS = {
  grant_inactive: { code: 'forbidden', detail: 'The grant is no longer active' },
  subscription_disabled: { code: 'conflict', detail: 'The subscription is disabled' },
  type_not_in_filter: { code: 'conflict', detail: 'The event type is not in the filter of the subscription' },
} as const satisfies Record<WebhookReplayRefusal, { code: ProblemCode; detail: string }>;

function failRefused(reason: WebhookReplayRefusal): never {
  const { code, detail } = REFUSALS[reason];
  return fail(code, detail, { reason });
}

/** Delivers an event again to every subscription that has a delivery of it. @throws Problem invalid_request, not_found, forbidden, conflict. Source: specification 1, webhook delivery 7. */
export async function replayEvent(ctx: Context, input: ReplayWebhookEventInput): Promise<WebhookReplayResult> {
  if (input.subscriptionId != null && !isUuid(input.subscriptionId)) invalid('/input/subscriptionId', 'is not an id');
  if (!isUuid(input.eventId)) fail('not_found', 'Not found');
  const { found, grants, heads } = await enter(ctx, input);
  const deliveries: WebhookReplay[] = [];
  for (const newest of found) deliveries.push(await replayOne(ctx, newest, grants, heads.get(newest.subscription_id)));
  const [first] = deliveries;
  if (deliveries.every(one => one.action === 'refused')) failRefused(first!.reason!);
  const replayed = deliveries.map(({ id, action, reason }) => ({ id, action, reason }));
  ctx.audit('webhook_event.replayed', input.eventId, { deliveries: replayed });
  ctx.afterCommit(() => signalOf(ctx.host).notify());
  return { eventId: input.eventId, deliveries };
}

/** Makes a new delivery of one that was delivered or ended in the dead letters. @throws Problem not_found, forbidden, conflict. Source: section 3, Delivery. */
export async function replayDelivery(ctx: Context, id: string): Promise<WebhookDelivery> {
  const { eventId, subscriptionId, clientId } = await requireManaged(ctx, WebhookDelivery, { id });
  const { found, grants } = await enter(ctx, { eventId, clientId, subscriptionId });
  const { status } = await ctx.em.findOneOrFail(WebhookDelivery, { id, eventId }, { refresh: true });
  if (!isReplayable(status)) fail('conflict', `a ${status} webhook delivery cannot be replayed`, { reason: status });
  const [newest] = found;
  const { action, reason } = decide(ctx, newest!, grants, undefined);
  if (action === 'refused') failRefused(reason);
  if (action !== 'created') fail('conflict', 'A delivery of the event waits already', { reason: 'already_queued' });
  const made = await sendAgain(ctx, { ...newest!, id });
  ctx.audit('webhook_delivery.replayed', id, { event_id: eventId, delivery_id: made.id });
  ctx.afterCommit(() => signalOf(ctx.host).notify());
  return ctx.em.findOneOrFail(WebhookDelivery, { id: made.id, eventId });
}
