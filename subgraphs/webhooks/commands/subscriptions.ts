import { isUuid } from '../../../runtime/data/ids.js';
import { requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { WebhookSecretInfo, WebhookSubscription, type WebhookSubscriptionWithSecret } from '../entities/subscription.js';
import type { CreateWebhookSubscriptionInput, UpdateWebhookSubscriptionInput, WebhookHeaderInput } from '../inputs/subscription.js';
import { askClient } from '../ports/grant-source.js';
import { sealerOf } from '../ports/sealer.js';
import { checkManages, managedClients } from '../queries/managed.js';
import { withSecret } from '../queries/subscriptions.js';
import { sortedTypes, type ClientFacts } from '../rules/filter.js';
import { normalisedUrl, withoutQuery } from '../rules/url.js';
import { changeConfiguration, headersContext } from './configuration.js';
import { endOpen, spareNew } from './closings.js';
import { addSecret } from './secrets.js';
import { changeSubscription, touch } from './subscription-changes.js';
import { checkNulls, checkSubscription, missingClient } from './subscription-checks.js';

/** Subscriptions of one client at most. Source: section 2. */
const MAX_PER_CLIENT = 20;

const onlyOne = (clients: readonly string[] | null): string | null => (clients?.length === 1 ? clients[0]! : null);

/** The client of a new subscription: the named one, or the only one that the caller manages. @throws Problem invalid_request, not_found. */
async function clientFor(ctx: Context, input: CreateWebhookSubscriptionInput): Promise<string> {
  const clientId = input.clientId ?? onlyOne(await managedClients(ctx)) ?? missingClient(ctx, input);
  await checkManages(ctx, clientId);
  return clientId;
}

/** What identity knows of the client of a new subscription; null for an unknown one. */
export const newClient = preparation(async (ctx, { input }: { input: CreateWebhookSubscriptionInput }) =>
  askClient(ctx.federation, await clientFor(ctx, input)),
);

const CLIENT = 'select client_id from webhooks.webhook_subscription where id = $1 and deleted_at is null';

/** What identity knows of the client of a subscription; null when there is no such subscription, which the operation then finds. */
async function clientOfSubscription(ctx: Context, id: string): Promise<ClientFacts | null> {
  if (!isUuid(id)) return null;
  const [row] = await ctx.sql<{ client_id: string }>(CLIENT, [id]);
  return row ? askClient(ctx.federation, row.client_id) : null;
}

/** The same for operations on a subscription. */
export const storedClient = preparation((ctx, asked: { id: string } | { input: { id: string } }) =>
  clientOfSubscription(ctx, 'input' in asked ? asked.input.id : asked.id),
);

function setHeaders(ctx: Context, subscription: WebhookSubscription, headers: readonly WebhookHeaderInput[]): void {
  const values = headers.map(({ name, value }) => ({ name, value }));
  subscription.headerNames = values.map(header => header.name);
  subscription.headersSealed = values.length ? sealerOf(ctx.host).seal(JSON.stringify(values), headersContext(subscription.id)) : null;
}

function setUrl(subscription: WebhookSubscription, url: string): void {
  subscription.url = url;
  subscription.urlKey = normalisedUrl(url);
}

/** @throws Problem conflict: the URL is taken, or the client has its 20. */
async function checkRoom(ctx: Context, clientId: string, url: string, own: string | null): Promise<void> {
  const where = { clientId, deletedAt: null, ...(own && { id: { $ne: own } }) };
  const others = await ctx.em.find(WebhookSubscription, where, { fields: ['id', 'urlKey'] });
  if (others.some(one => one.urlKey === normalisedUrl(url)))
    fail('conflict', 'The client has a subscription with this URL', { reason: 'url_taken' });
  if (own === null && others.length >= MAX_PER_CLIENT)
    fail('conflict', `The client has ${MAX_PER_CLIENT} subscriptions`, { reason: 'limit_reached' });
}

const isDefined = (value: unknown): boolean => value !== undefined;
const givenFields = (fields: object, isGiven: (value: unknown) => boolean): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)));

function newSubscription(ctx: Context, clientId: string, input: CreateWebhookSubscriptionInput): WebhookSubscription {
  const { headers, eventTypes, url, ...fields } = input;
  const given = givenFields(fields, value => value != null);
  const now = ctx.now();
  const subscription = Object.assign(new WebhookSubscription(), given, { clientId, eventTypes: sortedTypes(eventTypes) });
  Object.assign(subscription, { createdAt: now, statusChangedAt: now });
  setUrl(subscription, url);
  setHeaders(ctx, subscription, headers ?? []);
  return subscription;
}

/** Subscribes an endpoint of a client to event types. @throws Problem invalid_request, not_found, conflict. */
export async function createSubscription(ctx: Context, input: CreateWebhookSubscriptionInput): Promise<WebhookSubscriptionWithSecret> {
  const clientId = await clientFor(ctx, input);
  checkSubscription(ctx, input, newClient.of(ctx));
  const version = await changeConfiguration(ctx.sql);
  await checkRoom(ctx, clientId, input.url, null);
  const subscription = newSubscription(ctx, clientId, input);
  touch(ctx, subscription, version);
  ctx.em.persist(subscription);
  await ctx.em.flush(); // the secret refers to it
  const { id, eventTypes } = subscription;
  const { value } = await addSecret(ctx, id, { status: 'current', activatesAt: null });
  ctx.audit('webhook_subscription.created', id, { client_id: clientId, url: withoutQuery(input.url), event_types: eventTypes });
  return withSecret(ctx, subscription, value);
}

/** Changes a subscription; what is left out stays. @throws Problem invalid_request, not_found, conflict. */
export async function updateSubscription(ctx: Context, input: UpdateWebhookSubscriptionInput): Promise<WebhookSubscription> {
  const { id, version, headers, eventTypes, url, ...fields } = input;
  checkNulls(input);
  const subscription = await changeSubscription(ctx, id);
  checkSubscription(ctx, input, storedClient.of(ctx));
  requireVersion(subscription, version);
  if (url != null) {
    await checkRoom(ctx, subscription.clientId, url, id);
    setUrl(subscription, url);
  }
  Object.assign(subscription, givenFields(fields, isDefined));
  if (headers != null) setHeaders(ctx, subscription, headers);
  if (eventTypes != null) await changeFilter(ctx, subscription, sortedTypes(eventTypes));
  ctx.audit('webhook_subscription.updated', id, { fields: Object.keys(givenFields({ ...input, id: undefined }, isDefined)) });
  return subscription;
}

/** Sets the filter; open deliveries of types that left it are cancelled. Source: section 3, Delivery. */
async function changeFilter(ctx: Context, subscription: WebhookSubscription, types: string[]): Promise<void> {
  const lost = subscription.eventTypes.filter(type => !types.includes(type));
  subscription.eventTypes = types;
  await spareNew(ctx.sql, subscription.id); // a type that left a moment ago may be back
  if (lost.length === 0) return;
  const to = { status: 'cancelled', reason: 'filter_changed' } as const;
  await endOpen(ctx, { subscriptionId: subscription.id, eventTypes: lost, to });
}

/** Deletes a subscription and its secrets; open deliveries are cancelled, history is kept. @throws Problem not_found. */
export async function deleteSubscription(ctx: Context, id: string): Promise<WebhookSubscription> {
  const subscription = await changeSubscription(ctx, id);
  subscription.deletedAt = ctx.now();
  setHeaders(ctx, subscription, []);
  await ctx.em.nativeDelete(WebhookSecretInfo, { subscriptionId: id });
  const to = { status: 'cancelled', reason: 'subscription_deleted' } as const;
  const { closed, rest } = await endOpen(ctx, { subscriptionId: id, to });
  ctx.audit('webhook_subscription.deleted', id, { client_id: subscription.clientId, cancelled: closed + rest });
  return subscription;
}
