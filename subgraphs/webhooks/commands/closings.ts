import { firstIdAt, systemNow, timeOfId } from '../../../events/envelope.js';
import type { Sql } from '../../../events/outbox.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { advance, countByLane } from './lanes.js';
import { Signal, signalOf } from './signal.js';

/** Open deliveries of a subscription that end, and how. What is not named is not a condition. */
interface Ending {
  subscriptionId: string;
  eventTypes?: readonly string[];
  to: { status: 'cancelled' | 'dead_lettered'; reason: string };
}

/** Deliveries that end in one transaction: while it lasts nothing of their users is taken up for the subscription. */
const CLOSED_AT_ONCE = 1_000;

const OPEN = `d.subscription_id = $1 and d.status in ('pending', 'retrying') and ($2::text[] is null or d.event_type = any($2)) and ($3::uuid is null or d.id <= $3)`;
const CHOOSE = `
select d.id, d.event_id, d.user_id from webhooks.webhook_delivery d where ${OPEN} order by d.user_id, d.sequence, d.replay_no limit ${CLOSED_AT_ONCE}`;
const COUNT = `select count(*)::int as rest from webhooks.webhook_delivery d where ${OPEN}`;
const LOCK = `select from webhooks.webhook_lane where subscription_id = $1 and user_id = any($2::uuid[]) order by subscription_id, user_id for update`;
const CLOSE = `
update webhooks.webhook_delivery d set status = $3, finished_at = $4, next_attempt_at = null, pending_trigger = null,
  cancel_reason = case when $3 = 'cancelled' then $5 end, dead_letter_reason = case when $3 = 'dead_lettered' then $5 end
from unnest($1::uuid[], $2::uuid[]) as k(event_id, id)
where d.event_id = k.event_id and d.id = k.id and d.status in ('pending', 'retrying') returning d.user_id`;
const NOTE = `
insert into webhooks.webhook_closing (id, subscription_id, event_types, status, reason, rest, created_at) values ($1, $2, $3, $4, $5, $6, $7)`;

/** Ends a batch under the locks of its lanes. Answers how many it chose, and how many of them ended. */
async function closeBatch(
  sql: Sql,
  { subscriptionId, eventTypes, to }: Ending,
  upto: string | null,
  now: Date,
): Promise<{ chosen: number; closed: number }> {
  const rows = await sql<{ id: string; event_id: string; user_id: string }>(CHOOSE, [subscriptionId, eventTypes ?? null, upto]);
  if (rows.length === 0) return { chosen: 0, closed: 0 };
  await sql(LOCK, [subscriptionId, [...new Set(rows.map(row => row.user_id))]]);
  const keys = [rows.map(row => row.event_id), rows.map(row => row.id)];
  const closed = await sql<{ user_id: string }>(CLOSE, [...keys, to.status, now.toISOString(), to.reason]);
  await advance(sql, countByLane(closed.map(row => ({ subscriptionId, userId: row.user_id }))), now);
  return { chosen: rows.length, closed: closed.length };
}

/**
 * Ends open deliveries of a subscription: a batch now, and what is left in transactions of its own, so that nobody's events wait for it.
 * Meanwhile nothing of the subscription is sent. Answers how many have ended and how many will. Source: section 3.
 */
export async function endOpen(ctx: Context, ending: Ending): Promise<{ closed: number; rest: number }> {
  const { chosen, closed } = await closeBatch(ctx.sql, ending, null, ctx.now());
  if (chosen < CLOSED_AT_ONCE) return { closed, rest: 0 };
  const { subscriptionId, eventTypes = null, to } = ending;
  const [count] = await ctx.sql<{ rest: number }>(COUNT, [subscriptionId, eventTypes, null]);
  const rest = count!.rest;
  if (rest > 0) {
    await ctx.sql(NOTE, [newId(), subscriptionId, eventTypes, to.status, to.reason, rest, ctx.now().toISOString()]);
    ctx.afterCommit(() => closingSignalOf(ctx.host).notify());
  }
  return { closed, rest };
}

const GOING_ON = 'select id from webhooks.webhook_closing where subscription_id = $1 and upto is null';

/**
 * The subscription goes on: deliveries that are made from now on are none of those that end. No such was made since the end began, so the
 * middle of that time parts them, though the clocks of processes differ. The caller has the configuration alone.
 */
export async function spareNew(sql: Sql, subscriptionId: string): Promise<void> {
  for (const { id } of await sql<{ id: string }>(GOING_ON, [subscriptionId])) {
    const middle = Math.floor((timeOfId(id) + systemNow()) / 2);
    await sql('update webhooks.webhook_closing set upto = $2 where id = $1', [id, firstIdAt(middle)]);
  }
}

/** How many deliveries of a subscription are still to be closed. */
export async function closingOf(sql: Sql, subscriptionId: string): Promise<number> {
  const [row] = await sql<{ rest: number }>(
    'select coalesce(sum(rest), 0)::int as rest from webhooks.webhook_closing where subscription_id = $1',
    [subscriptionId],
  );
  return row!.rest;
}

interface Row {
  id: string;
  subscription_id: string;
  event_types: string[] | null;
  status: Ending['to']['status'];
  reason: string;
  upto: string | null;
}

const CLAIM = `
select id, subscription_id, event_types, status, reason, upto from webhooks.webhook_closing order by created_at, id limit 1 for update skip locked`;
const ADVANCE = 'update webhooks.webhook_closing set rest = greatest(0, rest - $2) where id = $1';
const DONE = 'delete from webhooks.webhook_closing where id = $1';

/** Closes the next batch of what is left anywhere; whether there may be more. */
export async function closeNext(ctx: Context): Promise<boolean> {
  const [row] = await ctx.sql<Row>(CLAIM);
  if (!row) return false;
  const { id, subscription_id: subscriptionId, event_types, upto, ...to } = row;
  const { chosen, closed } = await closeBatch(
    ctx.sql,
    { subscriptionId, ...(event_types && { eventTypes: event_types }), to },
    upto,
    ctx.now(),
  );
  await (chosen < CLOSED_AT_ONCE ? ctx.sql(DONE, [id]) : ctx.sql(ADVANCE, [id, closed]));
  ctx.afterCommit(() => signalOf(ctx.host).notify());
  return true;
}

const signals = new WeakMap<ServiceHost, Signal>();

/** Wakes the worker that closes. */
export function closingSignalOf(host: ServiceHost): Signal {
  const signal = signals.get(host) ?? new Signal();
  signals.set(host, signal);
  return signal;
}
