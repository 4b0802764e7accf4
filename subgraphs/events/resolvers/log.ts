import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { readData } from '../commands/audited-reads.js';
import { READERS } from '../entities/enums.js';
import { EventType } from '../entities/event-type.js';
import { OwnEvent, OwnEventConnection, PlatformEvent, PlatformEventConnection } from '../entities/platform-event.js';
import { MyEventsArgs, PlatformEventsArgs } from '../inputs/lists.js';
import { eventTypeOf } from '../queries/event-types.js';
import { eventOf, listEvents, listOwnEvents } from '../queries/log.js';
import { Brand, User } from '../stubs.js';

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
    return listOwnEvents(ctx, ctx.caller.userId!, args);
  }

  @Access(READERS)
  @FieldResolver(() => JSONObject, {
    nullable: true,
    description: "Null without the owner's read permission; {} after erasure. Reading it is audited.",
  })
  data(@Root() event: PlatformEvent, @Ctx() ctx: Context): Promise<unknown> {
    return readData(ctx, event);
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
