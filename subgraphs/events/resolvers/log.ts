import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { CATALOGUE } from '../../../events/catalogue.js';
import { adminScopeOf } from '../../../events/slugs.js';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Caller } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import type { ReferenceLoader } from '../../../runtime/service.js';
import { EventType } from '../entities/event-type.js';
import { OwnEvent, OwnEventConnection, PlatformEvent, PlatformEventConnection } from '../entities/platform-event.js';
import { CONCERNED, READERS } from '../entities/enums.js';
import { MyEventsArgs, PlatformEventsArgs } from '../inputs/lists.js';
import { Brand, User } from '../stubs.js';
import { eventTypeOf } from './event-type.js';
import { dataOf, eventOf, listEvents, listOwnEvents } from '../queries/log-rows.js';

export const platformEventReferences: ReferenceLoader = async (ctx, references) =>
  mayAccess(ruleOf(CONCERNED), ctx.caller) ? Promise.all(references.map(({ id }) => eventOf(ctx, String(id)))) : references.map(() => null);

/** Bus operators see flow, not health data or money: the payload needs the owner's own permission. Source: events 4, payload rule. */
function mayReadData(caller: Caller, type: string): boolean {
  const owner = CATALOGUE.get(type)?.owner;
  if (owner === undefined) return false;
  const scope = adminScopeOf(owner);
  return mayAccess(ruleOf({ service: scope, staff: `${scope}:read` }), caller);
}

@Resolver(() => PlatformEvent)
export class LogResolver {
  @Access(READERS)
  @Query(() => PlatformEventConnection, { description: 'The log, newest first or in the order of the relay.' })
  platformEvents(@Args(() => PlatformEventsArgs) args: PlatformEventsArgs, @Ctx() ctx: Context): Promise<Connection<PlatformEvent>> {
    return listEvents(ctx, args);
  }

  @Access(READERS)
  @Query(() => PlatformEvent, { nullable: true, description: 'Null also past retention.' })
  platformEvent(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<PlatformEvent | null> {
    return eventOf(ctx, id);
  }

  @Access({ user: 'read:account' })
  @Query(() => OwnEventConnection, { description: 'What happened to oneself, newest first.' })
  myEvents(@Args(() => MyEventsArgs) args: MyEventsArgs, @Ctx() ctx: Context): Promise<Connection<OwnEvent>> {
    return listOwnEvents(ctx, ctx.subject(null), args);
  }

  @Access(READERS)
  @FieldResolver(() => JSONObject, {
    nullable: true,
    description: "Null without the owner's read permission; {} after erasure. Reading it is audited.",
  })
  async data(@Root() { id, type }: PlatformEvent, @Ctx() ctx: Context): Promise<unknown> {
    return mayReadData(ctx.caller, type) ? dataOf(ctx, id) : null;
  }

  @Access(READERS)
  @FieldResolver(() => EventType, { nullable: true, description: 'Null for a type that is no longer declared.' })
  eventType(@Root() { type }: PlatformEvent): EventType | null {
    return eventTypeOf(type);
  }

  @Access(READERS)
  @FieldResolver(() => User, { nullable: true })
  user(@Root() { userId }: PlatformEvent): User | null {
    return userId === null ? null : { id: userId };
  }

  @Access(READERS)
  @FieldResolver(() => Brand, { nullable: true })
  brand(@Root() { brandId }: PlatformEvent): Brand | null {
    return brandId === null ? null : { id: brandId };
  }
}
