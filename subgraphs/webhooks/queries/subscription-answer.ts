import type { Context } from '../../../runtime/request/context.js';
import {
  WebhookHealth,
  WebhookSecretInfo,
  type WebhookCircuit,
  type WebhookSubscription,
  type WebhookSubscriptionWithSecret,
} from '../entities/subscription.js';

/** The circuit of a subscription from its health; closed where nothing was sent yet. */
export function circuitOf(health: WebhookHealth | null): WebhookCircuit {
  const state = health?.circuitState ?? 'closed';
  return { state, since: health?.circuitSince ?? null, nextProbeAt: state === 'closed' ? null : health!.firstsHeldUntil };
}

const SHOWN = [
  'id',
  'clientId',
  'name',
  'description',
  'url',
  'eventTypes',
  'status',
  'disabledReason',
  'statusChangedAt',
  'timeoutMs',
  'maxConcurrency',
  'rateLimitPerSecond',
  'spread',
  'standardHeaders',
  'createdAt',
  'updatedAt',
  'version',
  'headers',
] as const satisfies readonly (keyof WebhookSubscription)[];

const plain = ({ id, hint, status, createdAt, activatesAt, expiresAt }: WebhookSecretInfo) =>
  ({ id, hint, status, createdAt, activatesAt, expiresAt }) as WebhookSecretInfo;

/** The answer that bears a signing secret, as plain values: it is kept sealed for a repeated Idempotency-Key. The subscription is flushed. */
export async function withSecret(
  ctx: Context,
  subscription: WebhookSubscription,
  signingSecret: string,
): Promise<WebhookSubscriptionWithSecret> {
  const secrets = await ctx.em.find(WebhookSecretInfo, { subscriptionId: subscription.id }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  const health = await ctx.em.findOne(WebhookHealth, { subscriptionId: subscription.id });
  const shown = Object.fromEntries(SHOWN.map(name => [name, subscription[name]])) as unknown as Pick<
    WebhookSubscription,
    (typeof SHOWN)[number]
  >;
  return { ...shown, secrets: secrets.map(plain), circuit: circuitOf(health), failingSince: health?.failingSince ?? null, signingSecret };
}
