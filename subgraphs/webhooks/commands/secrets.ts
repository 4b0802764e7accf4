import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { HOUR_MS } from '../../../runtime/time/durations.js';
import { newId } from '../../../runtime/data/ids.js';
import type { WebhookSubscription, WebhookSubscriptionWithSecret } from '../entities/subscription.js';
import type { ExpireWebhookSecretInput, RotateWebhookSecretInput } from '../inputs/subscription.js';
import { sealerOf } from '../ports/sealer.js';
import { withSecret } from '../queries/subscriptions.js';
import { settledSecrets, type SecretState } from '../rules/secrets.js';
import { hintOf, newSecret } from '../rules/wire.js';
import { secretContext } from './configuration.js';
import { notify } from './notices.js';
import { changeSubscription } from './subscription-changes.js';

/** A signing secret as it is listed: without its value. */
interface ListedSecret extends SecretState {
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
const destroySecret = (ctx: Context, id: string): Promise<unknown> => ctx.sql('delete from webhooks.webhook_secret where id = $1', [id]);

/** Moves a secret in the rotation. There is one of each status, so the one that had it has left it before. */
const setSecretState = (ctx: Context, id: string, { status, activatesAt, expiresAt }: SecretState): Promise<unknown> =>
  ctx.sql('update webhooks.webhook_secret set status = $2, activates_at = $3, expires_at = $4 where id = $1', [
    id,
    status,
    instant(activatesAt),
    instant(expiresAt),
  ]);

/** The secrets of a subscription as they stand now; what time has changed is written down. The caller has the configuration alone. */
async function settleSecrets(ctx: Context, subscriptionId: string): Promise<ListedSecret[]> {
  const stored = await ctx.sql<ListedSecret>(LIST, [subscriptionId]);
  const settled = settledSecrets(stored, ctx.now().getTime());
  for (const secret of stored.filter(one => !settled.some(other => other.id === one.id))) await destroySecret(ctx, secret.id);
  for (const secret of settled)
    if (stored.find(one => one.id === secret.id)!.status !== secret.status) await setSecretState(ctx, secret.id, secret);
  return settled;
}

const ADD = `
insert into webhooks.webhook_secret (id, subscription_id, value_sealed, hint, status, created_at, activates_at) values ($1, $2, $3, $4, $5, $6, $7)`;

/** Makes a secret; the value is shown now and never again. */
export async function addSecret(
  ctx: Context,
  subscriptionId: string,
  state: Pick<SecretState, 'status' | 'activatesAt'>,
): Promise<{ secret: ListedSecret; value: string }> {
  const value = newSecret();
  const secret = { id: newId(), hint: hintOf(value), createdAt: ctx.now().getTime(), expiresAt: null, ...state };
  const sealed = sealerOf(ctx.host).seal(value, secretContext(secret.id));
  await ctx.sql(ADD, [secret.id, subscriptionId, sealed, secret.hint, state.status, instant(secret.createdAt), instant(state.activatesAt)]);
  return { secret, value };
}

/** Writes down what time has changed of a subscription's secrets, under the version of the configuration that the caller has made. */
export async function settleSecretsOf(ctx: Context, subscriptionId: string, configurationVersion: string): Promise<void> {
  await settleSecrets(ctx, subscriptionId);
  await ctx.sql('update webhooks.webhook_subscription set configuration_version = $2 where id = $1', [
    subscriptionId,
    configurationVersion,
  ]);
}

const withStatus = (secrets: readonly ListedSecret[], status: SecretState['status']): ListedSecret | undefined =>
  secrets.find(secret => secret.status === status);

/** The old secret makes room: it signs a second header until the overlap ends, or is gone at once without one. */
async function retire(ctx: Context, secrets: readonly ListedSecret[], overlapMs: number): Promise<void> {
  const [current, previous] = [withStatus(secrets, 'current')!, withStatus(secrets, 'previous')];
  if (previous) await destroySecret(ctx, previous.id);
  if (overlapMs === 0) await destroySecret(ctx, current.id);
  else await setSecretState(ctx, current.id, { status: 'previous', activatesAt: null, expiresAt: ctx.now().getTime() + overlapMs });
}

/** Makes a new signing secret, shown in this answer only. @throws Problem not_found, conflict. Source: section 4, rotate-secret. */
export async function rotateSecret(
  ctx: Context,
  { id, activation, overlapHours }: RotateWebhookSecretInput,
): Promise<WebhookSubscriptionWithSecret> {
  const subscription = await changeSubscription(ctx, id);
  const secrets = await settleSecrets(ctx, id);
  if (withStatus(secrets, 'next')) fail('conflict', 'A next secret waits already; expire it first', { reason: 'next_waits' });
  const overlapMs = overlapHours * HOUR_MS;
  const isLater = activation === 'after_overlap' && overlapMs > 0;
  if (!isLater) await retire(ctx, secrets, overlapMs);
  const state = isLater
    ? ({ status: 'next', activatesAt: ctx.now().getTime() + overlapMs } as const)
    : ({ status: 'current', activatesAt: null } as const);
  const { secret, value } = await addSecret(ctx, id, state);
  ctx.audit('webhook_secret.rotated', secret.id, { subscription_id: id, activation, overlap_hours: overlapHours });
  await ctx.em.flush(); // the answer bears the new version
  return withSecret(ctx, subscription, value);
}

/** Ends a previous secret, or lets a next one take over now. @throws Problem not_found, conflict. */
export async function expireSecret(ctx: Context, { id, secretId }: ExpireWebhookSecretInput): Promise<WebhookSubscription> {
  const subscription = await changeSubscription(ctx, id);
  const secrets = await settleSecrets(ctx, id);
  const secret = secrets.find(one => one.id === secretId) ?? fail('not_found', 'Not found');
  if (secret.status === 'current') fail('conflict', 'The current secret cannot be expired; rotate it', { reason: 'current' });
  if (secret.status === 'previous') await destroySecret(ctx, secretId);
  else {
    for (const other of secrets.filter(one => one.id !== secretId)) await destroySecret(ctx, other.id);
    await setSecretState(ctx, secretId, { status: 'current', activatesAt: null, expiresAt: null });
  }
  ctx.audit('webhook_secret.expired', secretId, { subscription_id: id, status: secret.status });
  return subscription;
}

/** Whether the last request was answered 401: the receiver knows only one secret, and not the one that stays. */
const REFUSED = `
select status_code = 401 as refused from webhooks.webhook_attempt where subscription_id = $1 and trigger <> 'test' order by started_at desc, id desc limit 1`;

/** Warns the owner, once per secret that is about to end, when the endpoint still answers 401. */
export async function checkEnding(ctx: Context, secretId: string, subscriptionId: string): Promise<void> {
  await ctx.sql('update webhooks.webhook_secret set end_checked = true where id = $1', [secretId]);
  const [last] = await ctx.sql<{ refused: boolean | null }>(REFUSED, [subscriptionId]);
  if (last?.refused) await notify(ctx, subscriptionId, 'secret_expiring');
}
