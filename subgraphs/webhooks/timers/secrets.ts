import type { Context } from '../../../runtime/request/context.js';
import { changeConfiguration } from '../commands/configuration.js';
import { checkEnding, settleSecretsOf } from '../commands/secrets.js';
import { dueTimer, type Due } from './due.js';

/** Subscriptions with a secret that takes over or ends. */
const CHANGING = `
select s.id, (extract(epoch from coalesce(k.activates_at, k.expires_at)) * 1000)::float8 as at
from webhooks.webhook_secret k join webhooks.webhook_subscription s on s.id = k.subscription_id where k.activates_at is not null or k.expires_at is not null`;

interface Changing extends Due {
  id: string;
}

/** Writes down what the end of an overlap changes, so that a secret that has ended is destroyed. Signing does not wait for it. */
export const secretsTimer = dueTimer<Changing>({
  name: 'secrets',
  read: (ctx: Context) => ctx.sql<Changing>(CHANGING),
  async run(ctx, due) {
    const version = await changeConfiguration(ctx.sql);
    for (const { id } of await due()) await settleSecretsOf(ctx, id, version);
  },
});

/** Previous secrets whose end has not been looked at yet: an hour before it. */
const ENDING = `
select k.id, k.subscription_id, (extract(epoch from k.expires_at - interval '1 hour') * 1000)::float8 as at
from webhooks.webhook_secret k join webhooks.webhook_subscription s on s.id = k.subscription_id and s.deleted_at is null
where k.status = 'previous' and not k.end_checked`;

interface Ending extends Due {
  id: string;
  subscription_id: string;
}

/** An hour before a previous secret ends: warns when the endpoint still answers 401. Source: section 5. */
export const endingSecretsTimer = dueTimer<Ending>({
  name: 'ending-secrets',
  read: (ctx: Context) => ctx.sql<Ending>(ENDING),
  async run(ctx, due) {
    for (const { id, subscription_id } of await due()) await checkEnding(ctx, id, subscription_id);
  },
});
