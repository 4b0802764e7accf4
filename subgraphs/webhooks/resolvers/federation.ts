import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, Resolver, Root } from 'type-graphql';
import { CATALOGUE } from '../../../events/catalogue.js';
import { Access, checkAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { page, PageArgs, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { WebhookDeliveryConnection, type WebhookDelivery } from '../entities/delivery.js';
import { WebhookSampleSignature } from '../entities/event-type.js';
import { WebhookClientHealth } from '../entities/stats.js';
import { READERS, WebhookSubscription } from '../entities/subscription.js';
import { askClient } from '../ports/grant-source.js';
import { EventType, OAuthClient, PlatformEvent } from '../stubs.js';
import { clientViolation, typeViolation, type ClientFacts } from '../rules/filter.js';
import { exampleBody, signedSample } from '../rules/sample.js';
import { deliveries } from '../queries/delivery-list.js';
import { checkManages, listedClients } from '../queries/managed.js';
import { WebhookSubscriptionConnection } from './subscription.js';

const ANY_SERVICE = { service: '*', staff: READERS.staff } as const;

@ArgsType()
class EventDeliveriesArgs extends PageArgs {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  clientId?: string | null;
}

/** Source: section 6. */
@Resolver(() => PlatformEvent)
export class PlatformEventFieldsResolver {
  @Access(READERS)
  @FieldResolver(() => WebhookDeliveryConnection, { description: 'Its deliveries to clients that the caller manages, newest first.' })
  async webhookDeliveries(
    @Root() { id }: PlatformEvent,
    @Args(() => EventDeliveriesArgs) { clientId, ...args }: EventDeliveriesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDelivery>> {
    const clients = await listedClients(ctx, clientId);
    return isUuid(id) ? deliveries(ctx, clients, { ...args, eventId: id }) : toConnection([], args.first, () => []);
  }
}

const HEALTH = `
select c.id, (count(s.id) filter (where s.status = 'active'))::int as active,
  (count(s.id) filter (where s.status = 'active' and h.failing_since is not null))::int as failing, (count(s.id) filter (where s.status = 'disabled'))::int as disabled,
  coalesce(sum((select count(*) from webhooks.webhook_delivery d where d.subscription_id = s.id and d.status = 'dead_lettered' and d.resolved_at is null)), 0)::int as "deadLetters"
from unnest($1::text[]) as c(id) left join webhooks.webhook_subscription s on s.client_id = c.id and s.deleted_at is null
left join webhooks.webhook_health h on h.subscription_id = s.id group by c.id`;

@Resolver(() => OAuthClient)
export class ClientFieldsResolver {
  @Access(READERS)
  @FieldResolver(() => WebhookSubscriptionConnection, { description: 'Newest first.' })
  async webhookSubscriptions(
    @Root() { id }: OAuthClient,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookSubscription>> {
    await checkManages(ctx, id);
    return page(ctx.em, WebhookSubscription, { clientId: id, deletedAt: null }, args, { time: 'createdAt' });
  }

  @Access(READERS)
  @FieldResolver(() => WebhookClientHealth)
  async webhookHealth(@Root() { id }: OAuthClient, @Ctx() ctx: Context): Promise<WebhookClientHealth> {
    await checkManages(ctx, id);
    const found = await ctx.load('webhooks.client-health', id, async ids =>
      inOrder(ids, await ctx.sql<WebhookClientHealth & { id: string }>(HEALTH, [ids]), row => row.id),
    );
    return found!;
  }
}

/** Facts of a client that may have subscriptions; null for one that may not. @throws Problem not_found for a client that the caller does not manage. */
async function clientFacts(ctx: Context, clientId: string): Promise<ClientFacts | null> {
  checkAccess(ruleOf(READERS), ctx.caller);
  await checkManages(ctx, clientId);
  const client = await ctx.load('webhooks.client', clientId, ids => Promise.all(ids.map(id => askClient(ctx.federation, id))));
  return clientViolation(client) ? null : client;
}

@Resolver(() => EventType)
export class EventTypeFieldsResolver {
  @Access(ANY_SERVICE)
  @FieldResolver(() => Boolean, { description: 'Whether the client is registered for its scope.' })
  async granted(@Root() { name }: EventType, @Arg('clientId', () => String) clientId: string, @Ctx() ctx: Context): Promise<boolean> {
    const scope = CATALOGUE.get(name)?.scope ?? '';
    return (await clientFacts(ctx, clientId))?.scopes.includes(scope) ?? false;
  }

  @Access(ANY_SERVICE)
  @FieldResolver(() => Boolean, { description: 'Whether the client may subscribe to it now.' })
  async subscribable(@Root() { name }: EventType, @Arg('clientId', () => String) clientId: string, @Ctx() ctx: Context): Promise<boolean> {
    const client = await clientFacts(ctx, clientId);
    return client !== null && typeViolation(CATALOGUE.get(name), client) === null;
  }

  @Access(ANY_SERVICE)
  @FieldResolver(() => JSONObject, {
    nullable: true,
    description: 'The body of a delivery to the client; null where it never leaves the platform.',
  })
  webhookExample(@Root() { name }: EventType, @Arg('clientId', () => String, { nullable: true }) clientId?: string | null): object | null {
    const type = CATALOGUE.get(name);
    return type && type.scope !== null ? exampleBody(type, clientId ?? null) : null;
  }

  @Access(ANY_SERVICE)
  @FieldResolver(() => WebhookSampleSignature, {
    nullable: true,
    description: 'A signed example, for tests of receivers; null where it never leaves the platform.',
  })
  sampleSignature(@Root() { name }: EventType): WebhookSampleSignature | null {
    const type = CATALOGUE.get(name);
    return type && type.scope !== null ? signedSample(exampleBody(type, null)) : null;
  }
}
