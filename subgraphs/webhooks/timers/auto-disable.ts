import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { settingsOf } from '../ports/settings.js';
import { changeConfiguration } from '../commands/configuration.js';
import { closeOpen } from '../commands/lanes.js';
import { notify } from '../commands/notices.js';

/** Failed attempts that an endpoint must have had besides the time. Source: section 3, Subscription. */
const MIN_FAILED = 10;

/** Active subscriptions that are to be disabled, with the instant: failing for too long, or gone (410 to the end). */
const DOOMED = `
select s.id, case when h.gone_at is not null then 'gone' else 'failing' end as reason,
  (extract(epoch from coalesce(h.gone_at, h.failing_since + $1 * interval '1 hour')) * 1000)::float8 as at
from webhooks.webhook_health h join webhooks.webhook_subscription s on s.id = h.subscription_id and s.deleted_at is null and s.status = 'active'
where h.gone_at is not null or (h.failing_since is not null and h.failed_attempts >= ${MIN_FAILED})`;

interface Doomed {
  id: string;
  reason: 'failing' | 'gone';
  /** ms. */
  at: number;
}

const doomed = (ctx: Context): Promise<Doomed[]> => ctx.sql<Doomed>(DOOMED, [settingsOf(ctx.host).autoDisableHours]);

const DISABLE = `
update webhooks.webhook_subscription set status = 'disabled', disabled_reason = $2, status_changed_at = $3, updated_at = $3, version = version + 1, configuration_version = $4
where id = $1`;

/** Ends deliveries to an endpoint that has given none of them a success for five days, or says that it is gone. What is open becomes a dead letter. */
async function disable(ctx: Context, { id, reason }: Doomed, configurationVersion: string): Promise<void> {
  await ctx.sql(DISABLE, [id, reason, ctx.now().toISOString(), configurationVersion]);
  const dead = await closeOpen(ctx.sql, {
    subscriptionIds: [id],
    to: { status: 'dead_lettered', reason: 'subscription_disabled' },
    now: ctx.now(),
  });
  ctx.audit('webhook_subscription.disabled', id, { status: 'disabled', reason, dead_lettered: dead });
  await notify(ctx, id, 'disabled', reason);
}

/** Source: section 3, Subscription. */
export const autoDisableTimer: Timer<Context> = {
  name: 'auto-disable',
  async next(ctx) {
    const times = (await doomed(ctx)).map(one => one.at);
    return times.length ? new Date(Math.min(...times)) : null;
  },
  async run(ctx, at) {
    const version = await changeConfiguration(ctx.sql);
    const due = (await doomed(ctx)).filter(one => one.at <= at.getTime()); // read again: a success may have come before the lock
    for (const one of due) await disable(ctx, one, version);
  },
};
