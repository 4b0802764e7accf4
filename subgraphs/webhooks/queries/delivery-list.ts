import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { WebhookDelivery } from '../entities/delivery.js';
import type { WebhookWait } from '../entities/enums.js';
import type { WebhookDeadLettersArgs, WebhookDeliveriesArgs } from '../inputs/delivery.js';

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

/** Conditions of a list with their parameters; a value that is not given makes none. */
class Conditions {
  readonly parts: string[] = [];
  readonly values: unknown[] = [];

  /** `text` has `?` where the value goes. */
  add(text: string, value: unknown): this {
    if (value === undefined || value === null) return this;
    this.values.push(value instanceof Date ? value.toISOString() : value);
    this.parts.push(text.replace('?', `$${this.values.length}`));
    return this;
  }

  /** An id that is no UUID matches nothing. */
  addId(column: string, id: string | null | undefined): this {
    if (id != null && !isUuid(id)) this.parts.push('false');
    return this.add(`${column} = ?`, id != null && isUuid(id) ? id : null);
  }

  addPlain(text: string): this {
    this.parts.push(text);
    return this;
  }

  get sql(): string {
    return this.parts.length ? this.parts.join(' and ') : 'true';
  }
}

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

/** Deliveries of some clients, newest first. */
export function deliveries(
  ctx: Context,
  clients: Clients,
  args: Paged & Partial<WebhookDeliveriesArgs>,
): Promise<Connection<WebhookDelivery>> {
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

/** Dead letters, oldest first. Resolved ones are those whose replay was delivered. */
export function deadLetters(
  ctx: Context,
  clients: Clients,
  args: Paged & Partial<WebhookDeadLettersArgs>,
): Promise<Connection<WebhookDelivery>> {
  const conditions = filtered(clients, args)
    .addPlain(`d.status = 'dead_lettered'`)
    .addPlain(args.resolved ? 'd.resolved_at is not null' : 'd.resolved_at is null')
    .add('d.dead_letter_reason = ?', args.reason)
    .add('d.finished_at >= ?', args.from)
    .add('d.finished_at < ?', args.to);
  return listed(ctx, conditions, args, { column: 'finished_at', direction: 'asc' });
}
