import type { FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { connectionOf, page, type Connection } from '../../../runtime/request/paging.js';
import { changeConfiguration, configurationOf, headersContext } from '../commands/configuration.js';
import { closeOpen } from '../commands/lanes.js';
import { addSecret } from '../commands/secrets.js';
import { MANAGERS, READERS, WebhookSecretInfo, WebhookSubscription, WebhookSubscriptionWithSecret } from '../entities/subscription.js';
import {
  CreateWebhookSubscriptionInput,
  DeleteWebhookSubscriptionInput,
  UpdateWebhookSubscriptionInput,
  WebhookSubscriptionsArgs,
  type WebhookHeaderInput,
} from '../inputs/subscription.js';
import { askClient } from '../ports/grant-source.js';
import { sealerOf } from '../ports/sealer.js';
import { sortedTypes, type ClientFacts } from '../rules/filter.js';
import { normalisedUrl, withoutQuery } from '../rules/url.js';
import { withSecret } from '../queries/subscription-answer.js';
import { checkManages, listedClients, managedClients, manages } from '../queries/managed.js';
import { checkNulls, checkSubscription, refuseWithoutClient } from '../queries/subscription-input.js';
import { requireVersion } from '../../../runtime/data/rows.js';

/** Subscriptions of one client at most. Source: section 2. */
const MAX_PER_CLIENT = 20;

export const WebhookSubscriptionConnection = connectionOf(WebhookSubscription, 'WebhookSubscription');

/** A subscription that is not deleted, of a client that the caller manages; null for none. */
export async function visibleSubscription(ctx: Context, id: string): Promise<WebhookSubscription | null> {
  const found = isUuid(id) ? await ctx.em.findOne(WebhookSubscription, { id, deletedAt: null }) : null;
  return found && (await manages(ctx, found.clientId)) ? found : null;
}

/** The same. @throws Problem not_found. */
export const findSubscription = async (ctx: Context, id: string): Promise<WebhookSubscription> =>
  (await visibleSubscription(ctx, id)) ?? fail('not_found', 'Not found');

/** Loads a subscription to change it: alone with the configuration until the transaction ends. @throws Problem not_found. */
export async function changeSubscription(ctx: Context, id: string): Promise<WebhookSubscription> {
  const configurationVersion = await changeConfiguration(ctx.sql);
  const subscription = await findSubscription(ctx, id);
  touched(ctx, subscription, configurationVersion);
  return subscription;
}

function touched(ctx: Context, subscription: WebhookSubscription, configurationVersion: string): void {
  subscription.configurationVersion = configurationVersion;
  subscription.updatedAt = ctx.now();
  ctx.afterCommit(() => configurationOf(ctx.host).refresh(ctx.sql));
}

/** The client of a new subscription: the named one, or the only one that the caller manages. @throws Problem invalid_request, not_found. */
async function newClient(ctx: Context, input: CreateWebhookSubscriptionInput): Promise<string> {
  const only = input.clientId ?? onlyOne(await managedClients(ctx)) ?? refuseWithoutClient(ctx, input);
  await checkManages(ctx, only);
  return only;
}

const onlyOne = (clients: readonly string[] | null): string | null => (clients?.length === 1 ? clients[0]! : null);

/** What identity says of the client of a subscription; null when there is no such subscription, which the operation then tells. */
export async function clientOfSubscription(ctx: Context, id: string): Promise<ClientFacts | null> {
  if (!isUuid(id)) return null;
  const [row] = await ctx.sql<{ client_id: string }>(
    'select client_id from webhooks.webhook_subscription where id = $1 and deleted_at is null',
    [id],
  );
  return row ? askClient(ctx.federation, row.client_id) : null;
}

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
  const others = await ctx.em.find(
    WebhookSubscription,
    { clientId, deletedAt: null, ...(own && { id: { $ne: own } }) },
    { fields: ['id', 'urlKey'] },
  );
  if (others.some(one => one.urlKey === normalisedUrl(url)))
    fail('conflict', 'The client has a subscription with this URL', { reason: 'url_taken' });
  if (own === null && others.length >= MAX_PER_CLIENT)
    fail('conflict', `The client has ${MAX_PER_CLIENT} subscriptions`, { reason: 'limit_reached' });
}

@Resolver(() => WebhookSubscription)
export class SubscriptionResolver {
  @Access(READERS)
  @Query(() => WebhookSubscriptionConnection, { description: 'Subscriptions of all clients that the caller manages, newest first.' })
  async webhookSubscriptions(
    @Args(() => WebhookSubscriptionsArgs) args: WebhookSubscriptionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookSubscription>> {
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

  @Access(READERS)
  @Query(() => WebhookSubscription, { nullable: true })
  webhookSubscription(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookSubscription | null> {
    return visibleSubscription(ctx, id);
  }

  @Access(MANAGERS)
  @Prepare(async (ctx, { input }: { input: CreateWebhookSubscriptionInput }) => askClient(ctx.federation, await newClient(ctx, input)))
  @Mutation(() => WebhookSubscriptionWithSecret, {
    description: 'Subscribes an endpoint of a client to event types. The signing secret is in this answer only.',
  })
  async createWebhookSubscription(
    @Arg('input', () => CreateWebhookSubscriptionInput) input: CreateWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscriptionWithSecret> {
    const { headers, eventTypes, url, ...fields } = input;
    const clientId = await newClient(ctx, input);
    checkSubscription(ctx, input, ctx.facts as ClientFacts | null);
    const version = await changeConfiguration(ctx.sql);
    await checkRoom(ctx, clientId, url, null);
    const subscription = new WebhookSubscription();
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
    Object.assign(subscription, given, { clientId, eventTypes: sortedTypes(eventTypes), createdAt: ctx.now(), statusChangedAt: ctx.now() });
    setUrl(subscription, url);
    setHeaders(ctx, subscription, headers ?? []);
    touched(ctx, subscription, version);
    ctx.em.persist(subscription);
    await ctx.em.flush(); // the secret refers to it
    const { value } = await addSecret(ctx, subscription.id, { status: 'current', activatesAt: null });
    ctx.audit('webhook_subscription.created', subscription.id, {
      client_id: clientId,
      url: withoutQuery(url),
      event_types: subscription.eventTypes,
    });
    return withSecret(ctx, subscription, value);
  }

  @Access(MANAGERS)
  @Prepare((ctx, { input }: { input: UpdateWebhookSubscriptionInput }) => clientOfSubscription(ctx, input.id))
  @Mutation(() => WebhookSubscription, {
    description: 'Changes a subscription; what is left out stays. Events of a type that leaves the filter are not sent any more.',
  })
  async updateWebhookSubscription(
    @Arg('input', () => UpdateWebhookSubscriptionInput) input: UpdateWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscription> {
    const { id, version, headers, eventTypes, url, ...fields } = input;
    checkNulls(input);
    const subscription = await changeSubscription(ctx, id);
    checkSubscription(ctx, input, ctx.facts as ClientFacts | null);
    requireVersion(subscription, version);
    if (url != null) {
      await checkRoom(ctx, subscription.clientId, url, id);
      setUrl(subscription, url);
    }
    Object.assign(subscription, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));
    if (headers != null) setHeaders(ctx, subscription, headers);
    if (eventTypes != null) await changeFilter(ctx, subscription, sortedTypes(eventTypes));
    ctx.audit('webhook_subscription.updated', id, {
      fields: Object.keys(input).filter(name => name !== 'id' && (input as unknown as Record<string, unknown>)[name] !== undefined),
    });
    return subscription;
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookSubscription, {
    description: 'Deletes a subscription and its secrets; open deliveries are cancelled, history is kept 30 days.',
  })
  async deleteWebhookSubscription(
    @Arg('input', () => DeleteWebhookSubscriptionInput) { id }: DeleteWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscription> {
    const subscription = await changeSubscription(ctx, id);
    subscription.deletedAt = ctx.now();
    setHeaders(ctx, subscription, []);
    await ctx.em.nativeDelete(WebhookSecretInfo, { subscriptionId: id });
    const cancelled = await closeOpen(ctx.sql, {
      subscriptionIds: [id],
      to: { status: 'cancelled', reason: 'subscription_deleted' },
      now: ctx.now(),
    });
    ctx.audit('webhook_subscription.deleted', id, { client_id: subscription.clientId, cancelled });
    return subscription;
  }
}

/** Sets the filter; open deliveries of types that left it are cancelled. Source: section 3, Delivery. */
async function changeFilter(ctx: Context, subscription: WebhookSubscription, types: string[]): Promise<void> {
  const lost = subscription.eventTypes.filter(type => !types.includes(type));
  subscription.eventTypes = types;
  if (lost.length === 0) return;
  await closeOpen(ctx.sql, {
    subscriptionIds: [subscription.id],
    eventTypes: lost,
    to: { status: 'cancelled', reason: 'filter_changed' },
    now: ctx.now(),
  });
}
