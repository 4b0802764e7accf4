import { Arg, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { WebhookStats } from '../entities/stats.js';
import { READERS, WebhookSubscription } from '../entities/subscription.js';
import { WebhookStatsWindow } from '../entities/enums.js';

const HOUR_MS = 3_600_000;
const WINDOW_MS: Readonly<Record<WebhookStatsWindow, number>> = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 168 * HOUR_MS };

/** Attempts say what was delivered and how fast, deliveries what died, lanes what is open: each by an index on the subscription. */
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

const rated = (row: Row): WebhookStats => {
  const attempts = row.delivered + row.failedAttempts;
  return { ...row, successRate: attempts === 0 ? null : row.delivered / attempts };
};

@Resolver(() => WebhookSubscription)
export class StatsResolver {
  @Access(READERS)
  @FieldResolver(() => WebhookStats)
  async stats(
    @Root() { id }: WebhookSubscription,
    @Arg('window', () => WebhookStatsWindow, { defaultValue: 'day' }) window: WebhookStatsWindow,
    @Ctx() ctx: Context,
  ): Promise<WebhookStats> {
    const found = await ctx.load(`webhooks.stats:${window}`, id, async ids => {
      const now = ctx.now();
      const since = new Date(now.getTime() - WINDOW_MS[window]);
      const rows = await ctx.sql<Row>(STATS, [ids, since.toISOString(), now.toISOString()]);
      return inOrder(
        ids,
        rows.map(row => ({ id: row.id, stats: rated(row) })),
        row => row.id,
      );
    });
    return found!.stats;
  }
}
