import type { Context } from '../../../runtime/request/context.js';
import { changeConfiguration } from '../commands/configuration.js';
import { notify } from '../commands/notices.js';
import { disableFailing } from '../commands/subscription-states.js';
import type { WebhookNoticeKind } from '../entities/enums.js';
import { settingsOf } from '../ports/settings.js';
import { dueTimer, type Due } from './due.js';

interface Warning extends Due {
  id: string;
  kind: WebhookNoticeKind;
}

/** Active subscriptions that have failed since their last success, with the warnings that were not given since. Source: section 3. */
const FAILING = `
select s.id, w.kind, (extract(epoch from h.failing_since + w.hours * interval '1 hour') * 1000)::float8 as at
from webhooks.webhook_health h join webhooks.webhook_subscription s on s.id = h.subscription_id and s.deleted_at is null and s.status = 'active'
cross join (values ('failing_24h', 24), ('failing_72h', 72)) as w(kind, hours)
where h.failing_since is not null
  and not exists (select from webhooks.webhook_notice n where n.subscription_id = s.id and n.kind = w.kind and n.at >= h.failing_since)`;

/** Warns the owner of an endpoint that has failed for 24 and for 72 hours. */
export const warningsTimer = dueTimer<Warning>({
  name: 'warnings',
  read: (ctx: Context) => ctx.sql<Warning>(FAILING),
  async run(ctx, due) {
    for (const { id, kind } of await due()) await notify(ctx, id, kind);
  },
});

/** Failed attempts that an endpoint must have had besides the time. Source: section 3, Subscription. */
const MIN_FAILED = 10;

/** Active subscriptions that are to be disabled, with the instant: failing for too long, or gone (410 to the end). */
const DOOMED = `
select s.id, case when h.gone_at is not null then 'gone' else 'failing' end as reason,
  (extract(epoch from coalesce(h.gone_at, h.failing_since + $1 * interval '1 hour')) * 1000)::float8 as at
from webhooks.webhook_health h join webhooks.webhook_subscription s on s.id = h.subscription_id and s.deleted_at is null and s.status = 'active'
where h.gone_at is not null or (h.failing_since is not null and h.failed_attempts >= ${MIN_FAILED})`;

interface Doomed extends Due {
  id: string;
  reason: 'failing' | 'gone';
}

/** Disables endpoints that have failed for too long or are gone. Source: section 3, Subscription. */
export const autoDisableTimer = dueTimer<Doomed>({
  name: 'auto-disable',
  read: (ctx: Context) => ctx.sql<Doomed>(DOOMED, [settingsOf(ctx.host).autoDisableHours]),
  async run(ctx, due) {
    const version = await changeConfiguration(ctx.sql);
    for (const { id, reason } of await due()) await disableFailing(ctx, id, reason, version); // a success may have come before the lock
  },
});
