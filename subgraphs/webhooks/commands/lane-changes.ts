import type { Sql } from '../../../events/outbox.js';
import type { Context } from '../../../runtime/request/context.js';
import { closingSignalOf } from './closings.js';
import { advance } from './lanes.js';
import { signalOf } from './signal.js';

/** Lanes that change in one transaction: while it lasts nothing of their users is taken up for the subscription. */
const CHANGED_AT_ONCE = 1_000;

const LANES = `
select user_id from webhooks.webhook_lane where subscription_id = $1 and ($2::uuid is null or user_id > $2)
order by subscription_id, user_id limit ${CHANGED_AT_ONCE} for update`;

/** Holds lanes or lets them go, by the stored status of the subscription. Answers the last user where there may be more. */
async function changeBatch(sql: Sql, subscriptionId: string, after: string | null, now: Date): Promise<string | null> {
  const lanes = await sql<{ user_id: string }>(LANES, [subscriptionId, after]);
  const touched = lanes.map(({ user_id: userId }) => ({ subscriptionId, userId, closed: 0 }));
  await advance(sql, touched, now);
  return lanes.length < CHANGED_AT_ONCE ? null : lanes.at(-1)!.user_id;
}

const FORGET = 'delete from webhooks.webhook_lane_change where subscription_id = $1';
const NOTE = 'insert into webhooks.webhook_lane_change (subscription_id, after_user, created_at) values ($1, $2, $3)';

/**
 * The lanes of a subscription that was paused or goes on: a batch now, the rest in transactions of their own, so that nobody's events wait for
 * all. Nothing of a paused one is sent meanwhile. A batch of a change before is waited for, and none follows it. Source: section 3.
 */
export async function changeLanes(ctx: Context, subscriptionId: string): Promise<void> {
  await ctx.em.flush(); // the lanes look at the stored status
  await ctx.sql(FORGET, [subscriptionId]);
  const after = await changeBatch(ctx.sql, subscriptionId, null, ctx.now());
  if (after !== null) await ctx.sql(NOTE, [subscriptionId, after, ctx.now().toISOString()]);
  ctx.afterCommit(() => (after === null ? signalOf(ctx.host) : closingSignalOf(ctx.host)).notify());
}

const CLAIM = `
select subscription_id, after_user from webhooks.webhook_lane_change order by created_at, subscription_id limit 1 for update skip locked`;
const MOVE = 'update webhooks.webhook_lane_change set after_user = $2 where subscription_id = $1';

/** Changes the next batch of lanes anywhere; whether there may be more. */
export async function changeNext(ctx: Context): Promise<boolean> {
  const [row] = await ctx.sql<{ subscription_id: string; after_user: string }>(CLAIM);
  if (!row) return false;
  const after = await changeBatch(ctx.sql, row.subscription_id, row.after_user, ctx.now());
  await (after === null ? ctx.sql(FORGET, [row.subscription_id]) : ctx.sql(MOVE, [row.subscription_id, after]));
  ctx.afterCommit(() => signalOf(ctx.host).notify());
  return true;
}
