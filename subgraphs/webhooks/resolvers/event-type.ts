import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { CATALOGUE } from '../../../events/catalogue.js';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { WebhookEventType, WebhookEventTypeConnection, WebhookSampleSignature } from '../entities/event-type.js';
import { READERS } from '../entities/subscription.js';
import { WebhookEventTypesArgs } from '../inputs/event-type.js';
import { eventTypeOf, isGranted, listEventTypes, scopedType, subscriberOf } from '../queries/event-types.js';
import { typeViolation } from '../rules/filter.js';
import { exampleBody, signedSample } from '../rules/sample.js';
import { EventType } from '../stubs.js';

const ANY_SERVICE = { service: '*', staff: READERS.staff } as const;

@Resolver(() => WebhookEventType)
export class EventTypeResolver {
  @Access(ANY_SERVICE)
  @Query(() => WebhookEventTypeConnection, { description: 'Event types that can be subscribed to, by name.' })
  webhookEventTypes(
    @Args(() => WebhookEventTypesArgs) args: WebhookEventTypesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookEventType>> {
    return listEventTypes(ctx, args);
  }

  @Access(ANY_SERVICE)
  @Query(() => WebhookEventType, { nullable: true, description: 'Null also for a type that never leaves the platform.' })
  webhookEventType(
    @Arg('name', () => String) name: string,
    @Arg('clientId', () => String, { nullable: true }) clientId: string | null | undefined,
    @Ctx() ctx: Context,
  ): Promise<WebhookEventType | null> {
    return eventTypeOf(ctx, name, clientId);
  }
}

/** What this service adds to the event types of events. Source: section 6. */
@Resolver(() => EventType)
export class EventTypeFieldsResolver {
  @Access(ANY_SERVICE)
  @FieldResolver(() => Boolean, { description: 'Whether the client is registered for its scope.' })
  async granted(@Root() { name }: EventType, @Arg('clientId', () => String) clientId: string, @Ctx() ctx: Context): Promise<boolean> {
    return isGranted(scopedType(name)?.scope ?? '', await subscriberOf(ctx, clientId));
  }

  @Access(ANY_SERVICE)
  @FieldResolver(() => Boolean, { description: 'Whether the client may subscribe to it now.' })
  async subscribable(@Root() { name }: EventType, @Arg('clientId', () => String) clientId: string, @Ctx() ctx: Context): Promise<boolean> {
    const client = await subscriberOf(ctx, clientId);
    return client !== null && typeViolation(CATALOGUE.get(name), client) === null;
  }

  @Access(ANY_SERVICE)
  @FieldResolver(() => JSONObject, {
    nullable: true,
    description: 'The body of a delivery to the client; null where it never leaves the platform.',
  })
  webhookExample(@Root() { name }: EventType, @Arg('clientId', () => String, { nullable: true }) clientId?: string | null): object | null {
    const type = scopedType(name);
    return type && exampleBody(type, clientId ?? null);
  }

  @Access(ANY_SERVICE)
  @FieldResolver(() => WebhookSampleSignature, {
    nullable: true,
    description: 'A signed example, for tests of receivers; null where it never leaves the platform.',
  })
  sampleSignature(@Root() { name }: EventType): WebhookSampleSignature | null {
    const type = scopedType(name);
    return type && signedSample(exampleBody(type, null));
  }
}
