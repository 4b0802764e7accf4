import type { FilterQuery } from '@mikro-orm/postgresql';
import { loadRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection, type PageArgs } from '../../../runtime/request/paging.js';
import {
  WebhookHealth,
  WebhookSecretInfo,
  WebhookSubscription,
  type WebhookCircuit,
  type WebhookSubscriptionWithSecret,
} from '../entities/subscription.js';
import type { WebhookSubscriptionsArgs } from '../inputs/subscription.js';
import { checkManages, findManaged, listedClients, requireManaged } from './managed.js';

/** A subscription that is not deleted, of a client that the caller manages; null for none. */
export const findSubscription = (ctx: Context, id: string): Promise<WebhookSubscription | null> =>
  findManaged(ctx, WebhookSubscription, { id, deletedAt: null });

/** The same. @throws Problem not_found. */
export const requireSubscription = (ctx: Context, id: string): Promise<WebhookSubscription> =>
  requireManaged(ctx, WebhookSubscription, { id, deletedAt: null });

/** The subscription of a delivery or a job; null when it was deleted. */
export async function subscriptionOf(ctx: Context, id: string): Promise<WebhookSubscription | null> {
  const found = await loadRow(ctx, WebhookSubscription, 'id', id);
  return found?.deletedAt === null ? found : null;
}

/** Subscriptions of the clients that the caller manages, newest first. @throws Problem not_found for another client. */
export async function listSubscriptions(ctx: Context, args: WebhookSubscriptionsArgs): Promise<Connection<WebhookSubscription>> {
  const { status, eventType } = args;
  const clients = await listedClients(ctx, args.clientId);
  const where: FilterQuery<WebhookSubscription> = {
    deletedAt: null,
    ...(clients && { clientId: { $in: [...clients] } }),
    ...(status != null && { status }),
    ...(eventType != null && { eventTypes: { $contains: [eventType] } }),
  };
  return page(ctx.em, WebhookSubscription, where, args, { time: 'createdAt' });
}

/** Subscriptions of one client, newest first. @throws Problem not_found for a client that the caller does not manage. */
export async function subscriptionsOf(ctx: Context, clientId: string, args: PageArgs): Promise<Connection<WebhookSubscription>> {
  await checkManages(ctx, clientId);
  return page(ctx.em, WebhookSubscription, { clientId, deletedAt: null }, args, { time: 'createdAt' });
}

/** Secrets of a subscription, oldest first; those of all subscriptions of a request in one statement. */
export async function secretsOf(ctx: Context, subscriptionId: string): Promise<WebhookSecretInfo[]> {
  const found = await ctx.load('webhooks.secrets', subscriptionId, async ids => {
    const rows = await ctx.em.find(WebhookSecretInfo, { subscriptionId: { $in: [...ids] } }, { orderBy: { createdAt: 'asc', id: 'asc' } });
    return ids.map(id => rows.filter(row => row.subscriptionId === id));
  });
  return found ?? [];
}

/** Null before the first attempt of a subscription. */
export const healthOf = (ctx: Context, subscriptionId: string): Promise<WebhookHealth | null> =>
  loadRow(ctx, WebhookHealth, 'subscriptionId', subscriptionId);

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

type Shown = Pick<WebhookSubscription, (typeof SHOWN)[number]>;

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
  const shown = Object.fromEntries(SHOWN.map(name => [name, subscription[name]])) as unknown as Shown;
  return { ...shown, secrets: secrets.map(plain), circuit: circuitOf(health), failingSince: health?.failingSince ?? null, signingSecret };
}
