import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import type { WebhookNoticeKind } from '../entities/enums.js';
import { notify } from '../commands/notices.js';

interface Due {
  id: string;
  kind: WebhookNoticeKind;
  /** ms. */
  at: number;
}

/** Active subscriptions that have failed since their last success, with the warnings that were not given since. Source: section 3. */
const FAILING = `
select s.id, w.kind, (extract(epoch from h.failing_since + w.hours * interval '1 hour') * 1000)::float8 as at
from webhooks.webhook_health h join webhooks.webhook_subscription s on s.id = h.subscription_id and s.deleted_at is null and s.status = 'active'
cross join (values ('failing_24h', 24), ('failing_72h', 72)) as w(kind, hours)
where h.failing_since is not null
  and not exists (select from webhooks.webhook_notice n where n.subscription_id = s.id and n.kind = w.kind and n.at >= h.failing_since)`;

const failing = (ctx: Context): Promise<Due[]> => ctx.sql<Due>(FAILING);

const earliest = (times: readonly number[]): Date | null => (times.length ? new Date(Math.min(...times)) : null);

/** Warns the owner of an endpoint that has failed for 24 and for 72 hours. */
export const warningsTimer: Timer<Context> = {
  name: 'warnings',
  next: async ctx => earliest((await failing(ctx)).map(one => one.at)),
  async run(ctx, at) {
    for (const due of (await failing(ctx)).filter(one => one.at <= at.getTime())) await notify(ctx, due.id, due.kind);
  },
};

/** Previous secrets whose end has not been looked at yet: an hour before it. */
const ENDING = `
select k.id, k.subscription_id, (extract(epoch from k.expires_at - interval '1 hour') * 1000)::float8 as at
from webhooks.webhook_secret k join webhooks.webhook_subscription s on s.id = k.subscription_id and s.deleted_at is null
where k.status = 'previous' and not k.end_checked`;

/** Whether the last request was answered 401: the receiver knows only one secret, and not the one that stays. */
const REFUSED = `
select status_code = 401 as refused from webhooks.webhook_attempt where subscription_id = $1 and trigger <> 'test' order by started_at desc, id desc limit 1`;

interface Ending {
  id: string;
  subscription_id: string;
  at: number;
}

async function checkEnding(ctx: Context, { id, subscription_id }: Ending): Promise<void> {
  await ctx.sql('update webhooks.webhook_secret set end_checked = true where id = $1', [id]);
  const [last] = await ctx.sql<{ refused: boolean | null }>(REFUSED, [subscription_id]);
  if (last?.refused) await notify(ctx, subscription_id, 'secret_expiring');
}

/** An hour before a previous secret ends: warns when the endpoint still answers 401. Source: section 5. */
export const endingSecretsTimer: Timer<Context> = {
  name: 'ending-secrets',
  next: async ctx => earliest((await ctx.sql<Ending>(ENDING)).map(one => one.at)),
  async run(ctx, at) {
    for (const due of (await ctx.sql<Ending>(ENDING)).filter(one => one.at <= at.getTime())) await checkEnding(ctx, due);
  },
};
