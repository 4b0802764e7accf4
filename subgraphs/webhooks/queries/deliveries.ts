import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { decodeCursor, toConnection, type Connection, type PageArgs } from '../../../runtime/request/paging.js';
import { WebhookDelivery } from '../entities/delivery.js';
import type { WebhookWait } from '../entities/enums.js';
import { WebhookSubscription } from '../entities/subscription.js';
import type { WebhookDeadLettersArgs, WebhookDeliveriesArgs } from '../inputs/delivery.js';
import { waitingFor } from '../rules/states.js';
import { Conditions } from './conditions.js';
import { listedClients } from './managed.js';
import { healthOf } from './subscriptions.js';

const IS_HEAD =
  'exists (select from webhooks.webhook_lane l where l.subscription_id = d.subscription_id and l.user_id = d.user_id and l.head_id = d.id)';
const IS_PAUSED = `exists (select from webhooks.webhook_subscription s where s.id = d.subscription_id and s.status = 'paused')`;
const IS_CIRCUIT_OPEN = `exists (select from webhooks.webhook_health h where h.subscription_id = d.subscription_id and h.circuit_state <> 'closed')`;

/** By the system clock, as the rate itself is. */
const IS_LIMITED = `exists (select from webhooks.webhook_health h where h.subscription_id = d.subscription_id and h.limited_until > clock_timestamp())`;
const MAY_GO = `d.status = 'pending' and ${IS_HEAD} and not ${IS_PAUSED} and not ${IS_CIRCUIT_OPEN}`;

/** SQL of "pending and waits for this". */
const WAITS: Readonly<Record<WebhookWait, string>> = {
  head_of_line: `d.status = 'pending' and not ${IS_HEAD}`,
  paused: `d.status = 'pending' and ${IS_HEAD} and ${IS_PAUSED}`,
  circuit_open: `d.status = 'pending' and ${IS_HEAD} and not ${IS_PAUSED} and ${IS_CIRCUIT_OPEN}`,
  ready: `${MAY_GO} and not ${IS_LIMITED}`,
  rate_limit: `${MAY_GO} and ${IS_LIMITED}`,
};

/** Clients whose deliveries are listed; null: all. */
type Clients = readonly string[] | null;

type Paged = Pick<WebhookDeliveriesArgs, 'first' | 'after'>;
type Order = { column: 'created_at' | 'finished_at'; direction: 'asc' | 'desc' };

const keyOf = (row: WebhookDelivery, { column }: Order): [string, string] => [
  (column === 'created_at' ? row.createdAt : row.finishedAt!).toISOString(),
  row.id,
];

/** One page: the ids by keyset, then the rows. */
async function listed(ctx: Context, conditions: Conditions, { first, after }: Paged, order: Order): Promise<Connection<WebhookDelivery>> {
  const { column, direction } = order;
  if (after) addCursor(conditions, after, order);
  const text = `select d.id, d.event_id from webhooks.webhook_delivery d where ${conditions.sql} order by d.${column} ${direction}, d.id ${direction} limit ${first + 1}`;
  const ids = await ctx.sql<{ id: string; event_id: string }>(text, conditions.values);
  const rows = ids.length
    ? await ctx.em.find(WebhookDelivery, { id: { $in: ids.map(row => row.id) }, eventId: { $in: ids.map(row => row.event_id) } })
    : [];
  const byId = new Map(rows.map(row => [row.id, row]));
  return toConnection(
    ids.flatMap(({ id }) => byId.get(id) ?? []),
    first,
    row => keyOf(row, order),
  );
}

function addCursor(conditions: Conditions, after: string, { column, direction }: Order): void {
  const [at, id] = decodeCursor(after, 2);
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at)) || typeof id !== 'string' || !isUuid(id)) decodeCursor('', 2);
  conditions.values.push(at, id);
  const [a, b] = [conditions.values.length - 1, conditions.values.length];
  conditions.addPlain(`(d.${column}, d.id) ${direction === 'desc' ? '<' : '>'} ($${a}::timestamptz, $${b}::uuid)`);
}

const filtered = (clients: Clients, args: Partial<WebhookDeliveriesArgs>): Conditions =>
  new Conditions()
    .add('d.client_id = any(?::text[])', clients)
    .addId('d.subscription_id', args.subscriptionId)
    .addId('d.user_id', args.userId)
    .add('d.event_type = ?', args.eventType);

type DeliveryArgs = Paged & Partial<WebhookDeliveriesArgs>;

function deliveries(ctx: Context, clients: Clients, args: DeliveryArgs): Promise<Connection<WebhookDelivery>> {
  const conditions = filtered(clients, args)
    .addId('d.event_id', args.eventId)
    .add('d.status = any(?::text[])', args.status)
    .add('d.last_status_code = ?', args.statusCode)
    .add('d.created_at >= ?', args.createdFrom)
    .add('d.created_at < ?', args.createdTo);
  if (args.waitingFor) conditions.addPlain(WAITS[args.waitingFor]);
  if (args.replay != null) conditions.addPlain(args.replay ? 'd.replay_no > 0' : 'd.replay_no = 0');
  return listed(ctx, conditions, args, { column: 'created_at', direction: 'desc' });
}

/** Deliveries of the clients that the caller manages, newest first. @throws Problem not_found for another client. */
export const listDeliveries = async (ctx: Context, args: DeliveryArgs): Promise<Connection<WebhookDelivery>> =>
  deliveries(ctx, await listedClients(ctx, args.clientId), args);

/** Deliveries of a subscription that the caller may see, newest first. */
export const deliveriesOf = (ctx: Context, subscriptionId: string, args: PageArgs): Promise<Connection<WebhookDelivery>> =>
  deliveries(ctx, null, { ...args, subscriptionId });

type DeadLetterArgs = Paged & Partial<WebhookDeadLettersArgs>;

function deadLetters(ctx: Context, clients: Clients, args: DeadLetterArgs): Promise<Connection<WebhookDelivery>> {
  const conditions = filtered(clients, args)
    .addPlain(`d.status = 'dead_lettered'`)
    .addPlain(args.resolved ? 'd.resolved_at is not null' : 'd.resolved_at is null')
    .add('d.dead_letter_reason = ?', args.reason)
    .add('d.finished_at >= ?', args.from)
    .add('d.finished_at < ?', args.to);
  return listed(ctx, conditions, args, { column: 'finished_at', direction: 'asc' });
}

/** Dead letters of the clients that the caller manages, oldest first; resolved ones are those whose replay was delivered. @throws Problem not_found. */
export const listDeadLetters = async (ctx: Context, args: DeadLetterArgs): Promise<Connection<WebhookDelivery>> =>
  deadLetters(ctx, await listedClients(ctx, args.clientId), args);

/** Dead letters of a subscription that the caller may see and nobody has resolved, oldest first. */
export const deadLettersOf = (ctx: Context, subscriptionId: string, args: PageArgs): Promise<Connection<WebhookDelivery>> =>
  deadLetters(ctx, null, { ...args, subscriptionId });

/** Deliveries by id, deleted subscriptions' too. */
export const deliveryOf = (ctx: Context, id: string): Promise<WebhookDelivery | null> => loadRow(ctx, WebhookDelivery, 'id', id);

const HEADS = `select l.head_id, k.key from unnest($1::uuid[], $2::uuid[]) with ordinality as k(subscription_id, user_id, key)
join webhooks.webhook_lane l using (subscription_id, user_id)`;

/** Id of the head of a delivery's lane; null when it has none. */
const headOf = (ctx: Context, { subscriptionId, userId }: WebhookDelivery): Promise<string | null> =>
  ctx.load('webhooks.head', { subscriptionId, userId }, async lanes => {
    const keys = [lanes.map(lane => lane.subscriptionId), lanes.map(lane => lane.userId)];
    const rows = await ctx.sql<{ head_id: string; key: string }>(HEADS, keys);
    const heads = new Map(rows.map(row => [Number(row.key), row.head_id]));
    return lanes.map((_, index) => heads.get(index + 1) ?? null);
  });

/** Id of the delivery that blocks an open one: the head of its lane; null for the head itself. */
export async function blockerOf(ctx: Context, delivery: WebhookDelivery): Promise<string | null> {
  if (delivery.finishedAt !== null) return null;
  const head = await headOf(ctx, delivery);
  return head === delivery.id ? null : head;
}

/** What a pending delivery waits for; null for any other. */
export async function waitOf(ctx: Context, delivery: WebhookDelivery): Promise<WebhookWait | null> {
  const { id, status, subscriptionId } = delivery;
  if (status !== 'pending') return null;
  const [head, subscription, health] = await Promise.all([
    headOf(ctx, delivery),
    loadRow(ctx, WebhookSubscription, 'id', subscriptionId),
    healthOf(ctx, subscriptionId),
  ]);
  return waitingFor({
    status,
    isHead: head === null || head === id, // an empty lane: it was sent since the row was read
    paused: subscription?.status === 'paused',
    circuitOpen: health !== null && health.circuitState !== 'closed',
    rateLimited: health?.limitedUntil != null && health.limitedUntil.getTime() > Date.now(),
  });
}
