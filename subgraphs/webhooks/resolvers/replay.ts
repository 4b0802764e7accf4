import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { CATALOGUE } from '../../../events/catalogue.js';
import { timeOfId } from '../../../events/envelope.js';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { configurationOf } from '../commands/configuration.js';
import { enterUser, type Grants } from '../commands/grants.js';
import { enqueue } from '../commands/lanes.js';
import { signalOf } from '../commands/signal.js';
import { WebhookDelivery, WebhookReplay, WebhookReplayResult } from '../entities/delivery.js';
import { MANAGERS } from '../entities/subscription.js';
import type { WebhookDeliveryStatus, WebhookReplayRefusal } from '../entities/enums.js';
import { ReplayWebhookDeliveryInput, ReplayWebhookEventInput } from '../inputs/delivery.js';
import { covers } from '../rules/grants.js';
import { shardOf } from '../rules/shards.js';
import { decideReplay } from '../rules/states.js';
import { findDelivery, retryNow } from './delivery.js';
import { listedClients } from '../queries/managed.js';

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

const badInput = (name: string): never => invalid(`/input/${name}`, 'is not an id');

/** Locks in the order of ingest, then finds what is to be sent again. @throws Problem not_found. */
async function enter(
  ctx: Context,
  { eventId, clientId, subscriptionId }: ReplayWebhookEventInput,
): Promise<{ found: Newest[]; grants: Grants; heads: Map<string, string> }> {
  await ctx.sql(ONE_REPLAY_AT_A_TIME, [eventId]);
  const where = [eventId, await listedClients(ctx, clientId), subscriptionId ?? null];
  const [first] = await ctx.sql<Newest>(NEWEST, where);
  if (!first) fail('not_found', 'Not found');
  const { grants, version } = await enterUser(ctx.sql, first.user_id);
  await configurationOf(ctx.host).refresh(ctx.sql, version);
  const before = await ctx.sql<Newest>(NEWEST, where);
  const lanes = await ctx.sql<{ subscription_id: string; head_id: string }>(LOCK_LANES, [
    first.user_id,
    before.map(one => one.subscription_id),
  ]);
  const found = await ctx.sql<Newest>(NEWEST, where); // under the lanes' locks nobody changes these states
  if (found.length === 0) fail('not_found', 'Not found');
  return { found, grants, heads: new Map(lanes.map(lane => [lane.subscription_id, lane.head_id])) };
}

function decide(ctx: Context, newest: Newest, grants: Grants, head: string | undefined) {
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

/** A new delivery at the event's place in its user's order, before newer ones that still wait. Source: rule 8. */
async function sendAgain(ctx: Context, newest: Newest): Promise<WebhookReplay> {
  const subscription = configurationOf(ctx.host).get(newest.subscription_id)!;
  const id = newId();
  const event = {
    id: newest.event_id,
    type: newest.event_type,
    userId: newest.user_id,
    sequence: newest.sequence,
    occurredAt: newest.occurred_at,
    dataSealed: null,
    traceparent: null,
  };
  const shard = shardOf(subscription.id, newest.user_id, subscription.spread);
  const delivery = {
    id,
    subscriptionId: subscription.id,
    clientId: newest.client_id,
    shard,
    held: subscription.status === 'paused',
    replayNo: newest.replay_no + 1,
    replayOfId: newest.id,
  };
  await enqueue(ctx.sql, event, [delivery], ctx.now());
  return { id, subscriptionId: subscription.id, action: 'created', status: 'pending', replayOf: newest.id, reason: null };
}

async function replayOne(ctx: Context, newest: Newest, grants: Grants, head: string | undefined): Promise<WebhookReplay> {
  const { action, reason } = decide(ctx, newest, grants, head);
  if (action === 'created') return sendAgain(ctx, newest);
  if (action === 'retried_now')
    await retryNow(ctx, { id: newest.id, eventId: newest.event_id, subscriptionId: newest.subscription_id, userId: newest.user_id });
  return { id: newest.id, subscriptionId: newest.subscription_id, action, status: newest.status, replayOf: null, reason };
}

/** What the caller is told when nothing could be sent. */
const REFUSALS = {
  grant_inactive: () => fail('forbidden', 'The grant is no longer active', { reason: 'grant_inactive' }),
  subscription_disabled: () => fail('conflict', 'The subscription is disabled', { reason: 'subscription_disabled' }),
  type_not_in_filter: () => fail('conflict', 'The event type is not in the filter of the subscription', { reason: 'type_not_in_filter' }),
} satisfies Record<WebhookReplayRefusal, () => never>;

@Resolver(() => WebhookDelivery)
export class ReplayResolver {
  /** Source: specification 1, webhook delivery 7. */
  @Access(MANAGERS)
  @Mutation(() => WebhookReplayResult, { description: 'Delivers an event again to every subscription that has a delivery of it.' })
  async replayWebhookEvent(
    @Arg('input', () => ReplayWebhookEventInput) input: ReplayWebhookEventInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookReplayResult> {
    if (input.subscriptionId != null && !isUuid(input.subscriptionId)) badInput('subscriptionId');
    if (!isUuid(input.eventId)) fail('not_found', 'Not found');
    const { found, grants, heads } = await enter(ctx, input);
    const deliveries: WebhookReplay[] = [];
    for (const newest of found) deliveries.push(await replayOne(ctx, newest, grants, heads.get(newest.subscription_id)));
    const [first] = deliveries;
    if (deliveries.every(one => one.action === 'refused')) REFUSALS[first!.reason!]();
    ctx.audit('webhook_event.replayed', input.eventId, {
      deliveries: deliveries.map(({ id, action, reason }) => ({ id, action, reason })),
    });
    ctx.afterCommit(() => signalOf(ctx.host).notify());
    return { eventId: input.eventId, deliveries };
  }

  /** Source: section 3, Delivery. */
  @Access(MANAGERS)
  @Mutation(() => WebhookDelivery, { description: 'Makes a new delivery of one that was delivered or ended in the dead letters.' })
  async replayWebhookDelivery(
    @Arg('input', () => ReplayWebhookDeliveryInput) { id }: ReplayWebhookDeliveryInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookDelivery> {
    const { eventId, subscriptionId, clientId } = await findDelivery(ctx, id);
    const { found, grants } = await enter(ctx, { eventId, clientId, subscriptionId });
    const delivery = await ctx.em.findOneOrFail(WebhookDelivery, { id, eventId }, { refresh: true });
    if (!['delivered', 'dead_lettered'].includes(delivery.status))
      fail('conflict', `a ${delivery.status} webhook delivery cannot be replayed`, { reason: delivery.status });
    const [newest] = found;
    const { action, reason } = decide(ctx, newest!, grants, undefined);
    if (action === 'refused') REFUSALS[reason!]();
    if (action !== 'created') fail('conflict', 'A delivery of the event waits already', { reason: 'already_queued' });
    const made = await sendAgain(ctx, { ...newest!, id });
    ctx.audit('webhook_delivery.replayed', id, { event_id: eventId, delivery_id: made.id });
    ctx.afterCommit(() => signalOf(ctx.host).notify());
    return ctx.em.findOneOrFail(WebhookDelivery, { id: made.id, eventId });
  }
}
