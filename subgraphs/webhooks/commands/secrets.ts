import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import { sealerOf } from '../ports/sealer.js';
import { settledSecrets, type PlacedSecret } from '../rules/secrets.js';
import { hintOf, newSecret } from '../rules/wire.js';
import { changeConfiguration, secretContext } from './configuration.js';

/** A signing secret as it is listed: without its value. */
export interface ListedSecret extends PlacedSecret {
  id: string;
  hint: string;
  /** ms. */
  createdAt: number;
}

const LIST = `
select id, hint, status, (extract(epoch from created_at) * 1000)::float8 as "createdAt", (extract(epoch from activates_at) * 1000)::float8 as "activatesAt",
  (extract(epoch from expires_at) * 1000)::float8 as "expiresAt"
from webhooks.webhook_secret where subscription_id = $1 order by created_at, id`;

const instant = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** Destroys a secret; its value is gone. */
export const destroySecret = (ctx: Context, id: string): Promise<unknown> =>
  ctx.sql('delete from webhooks.webhook_secret where id = $1', [id]);

/** Gives a secret its place. Whoever had the place must have left it. */
export const placeSecret = (ctx: Context, id: string, { status, activatesAt, expiresAt }: PlacedSecret): Promise<unknown> =>
  ctx.sql('update webhooks.webhook_secret set status = $2, activates_at = $3, expires_at = $4 where id = $1', [
    id,
    status,
    instant(activatesAt),
    instant(expiresAt),
  ]);

/** The secrets of a subscription as they stand now; what time has changed is written down. The caller has the configuration alone. */
export async function settleSecrets(ctx: Context, subscriptionId: string): Promise<ListedSecret[]> {
  const stored = await ctx.sql<ListedSecret>(LIST, [subscriptionId]);
  const settled = settledSecrets(stored, ctx.now().getTime());
  for (const secret of stored.filter(one => !settled.some(other => other.id === one.id))) await destroySecret(ctx, secret.id);
  for (const secret of settled)
    if (stored.find(one => one.id === secret.id)!.status !== secret.status) await placeSecret(ctx, secret.id, secret);
  return settled;
}

const ADD = `
insert into webhooks.webhook_secret (id, subscription_id, value_sealed, hint, status, created_at, activates_at) values ($1, $2, $3, $4, $5, $6, $7)`;

/** Makes a secret; the value is shown now and never again. */
export async function addSecret(
  ctx: Context,
  subscriptionId: string,
  place: Pick<PlacedSecret, 'status' | 'activatesAt'>,
): Promise<{ secret: ListedSecret; value: string }> {
  const value = newSecret();
  const secret = { id: newId(), hint: hintOf(value), createdAt: ctx.now().getTime(), expiresAt: null, ...place };
  const sealed = sealerOf(ctx.host).seal(value, secretContext(secret.id));
  await ctx.sql(ADD, [secret.id, subscriptionId, sealed, secret.hint, place.status, instant(secret.createdAt), instant(place.activatesAt)]);
  return { secret, value };
}

const DUE = `
select s.id, (extract(epoch from coalesce(k.activates_at, k.expires_at)) * 1000)::float8 as at
from webhooks.webhook_secret k join webhooks.webhook_subscription s on s.id = k.subscription_id where k.activates_at is not null or k.expires_at is not null`;

/** Writes down what the end of an overlap changes, so that a secret that has ended is destroyed. Signing does not wait for it. */
export const secretsTimer: Timer<Context> = {
  name: 'secrets',
  async next(ctx) {
    const times = (await ctx.sql<{ at: number }>(DUE)).map(row => row.at);
    return times.length ? new Date(Math.min(...times)) : null;
  },
  async run(ctx, at) {
    const version = await changeConfiguration(ctx.sql);
    for (const { id } of (await ctx.sql<{ id: string; at: number }>(DUE)).filter(row => row.at <= at.getTime())) {
      await settleSecrets(ctx, id);
      await ctx.sql('update webhooks.webhook_subscription set configuration_version = $2 where id = $1', [id, version]);
    }
  },
};
