import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import type { WebhookNoticeKind } from '../entities/enums.js';

/** Template of comms and text of the list, by kind. Source: section 5. */
const NOTICES: Readonly<Record<WebhookNoticeKind, { template: string; message: string }>> = {
  failing_24h: { template: 'webhook_failing', message: 'The endpoint has failed for 24 hours.' },
  failing_72h: { template: 'webhook_failing', message: 'The endpoint has failed for 72 hours; after 120 hours it is disabled.' },
  disabled: { template: 'webhook_disabled', message: 'The subscription was disabled.' },
  backlog: { template: 'webhook_backlog', message: 'The subscription is paused, and held events have become dead letters.' },
  scope_removed: {
    template: 'webhook_scope_removed',
    message: 'Event types left the filter, because the client no longer has their scope.',
  },
  secret_expiring: { template: 'webhook_secret_expiring', message: 'A previous secret ends in an hour, and the endpoint answers 401.' },
};

const INSERT = 'insert into webhooks.webhook_notice (id, subscription_id, kind, at, message) values ($1, $2, $3, $4, $5)';
const CLIENT = 'select client_id from webhooks.webhook_subscription where id = $1';

/** Notifies the owner of a subscription, in the running transaction: once in its list, once through comms. `detail` is a code, never free text. */
export async function notify(ctx: Context, subscriptionId: string, kind: WebhookNoticeKind, detail: string | null = null): Promise<void> {
  const id = newId();
  const { template, message } = NOTICES[kind];
  await ctx.sql(INSERT, [id, subscriptionId, kind, ctx.now().toISOString(), detail === null ? message : `${message} Reason: ${detail}.`]);
  const [row] = await ctx.sql<{ client_id: string }>(CLIENT, [subscriptionId]);
  const params = { subscription_id: subscriptionId, kind, ...(detail !== null && { reason: detail }) };
  const subject = `webhook_subscription:${subscriptionId}`;
  requestMessage(ctx, { clientOwner: row!.client_id }, { id, template, params, dedupeKey: `${template}:${id}`, subject });
}
