import { inOrder } from '../../../runtime/data/loaders.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS, HOUR_MS } from '../../../runtime/time/durations.js';
import type { WebhookStatsWindow } from '../entities/enums.js';
import type { WebhookClientHealth, WebhookStats } from '../entities/stats.js';
import { checkManages } from './managed.js';

const WINDOW_MS: Readonly<Record<WebhookStatsWindow, number>> = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS };

/** Attempts show what was delivered and how fast, deliveries what died, lanes what is open: each by an index on the subscription. */
const STATS = `
select s.id, a.*, dead.*, lanes.* from unnest($1::uuid[]) as s(id)
cross join lateral (
  select (count(*) filter (where error is null))::int as delivered, (count(*) filter (where error is not null))::int as "failedAttempts",
    percentile_disc(0.5) within group (order by (timings->>'totalMs')::int) filter (where error is null) as "latencyP50Ms",
    percentile_disc(0.95) within group (order by (timings->>'totalMs')::int) filter (where error is null) as "latencyP95Ms"
  from webhooks.webhook_attempt where subscription_id = s.id and started_at > $2 and started_at <= $3 and trigger <> 'test'
) a
cross join lateral (
  select count(*)::int as "deadLettered" from webhooks.webhook_delivery where subscription_id = s.id and status = 'dead_lettered' and finished_at > $2 and finished_at <= $3
) dead
cross join lateral (
  select coalesce(sum(l.open_count), 0)::int as pending, (count(*) filter (where l.head_attempt_count > 0))::int as "blockedUsers",
    extract(epoch from $3::timestamptz - min(d.created_at))::int as "oldestPendingSeconds"
  from webhooks.webhook_lane l left join webhooks.webhook_delivery d on d.event_id = l.head_event_id and d.id = l.head_id where l.subscription_id = s.id
) lanes`;

type Row = Omit<WebhookStats, 'successRate'> & { id: string };

function rated(row: Row): WebhookStats & { id: string } {
  const attempts = row.delivered + row.failedAttempts;
  return { ...row, successRate: attempts === 0 ? null : row.delivered / attempts };
}

/** Numbers of a subscription over a window that ends now; all subscriptions of a request in one statement. */
export async function statsOf(ctx: Context, subscriptionId: string, window: WebhookStatsWindow): Promise<WebhookStats> {
  const found = await ctx.load(`webhooks.stats:${window}`, subscriptionId, async ids => {
    const now = ctx.now();
    const rows = await ctx.sql<Row>(STATS, [ids, after(now, -WINDOW_MS[window]).toISOString(), now.toISOString()]);
    return inOrder(ids, rows.map(rated), row => row.id);
  });
  return found!;
}

const HEALTH = `
select c.id, (count(s.id) filter (where s.status = 'active'))::int as active,
  (count(s.id) filter (where s.status = 'active' and h.failing_since is not null))::int as failing, (count(s.id) filter (where s.status = 'disabled'))::int as disabled,
  coalesce(sum((select count(*) from webhooks.webhook_delivery d where d.subscription_id = s.id and d.status = 'dead_lettered' and d.resolved_at is null)), 0)::int as "deadLetters"
from unnest($1::text[]) as c(id) left join webhooks.webhook_subscription s on s.client_id = c.id and s.deleted_at is null
left join webhooks.webhook_health h on h.subscription_id = s.id group by c.id`;

/** The webhooks of a client at a glance; all clients of a request in one statement. @throws Problem not_found for a client that the caller does not manage. */
export async function clientHealthOf(ctx: Context, clientId: string): Promise<WebhookClientHealth> {
  await checkManages(ctx, clientId);
  const found = await ctx.load('webhooks.client-health', clientId, async ids =>
    inOrder(ids, await ctx.sql<WebhookClientHealth & { id: string }>(HEALTH, [ids]), row => row.id),
  );
  return found!;
}
