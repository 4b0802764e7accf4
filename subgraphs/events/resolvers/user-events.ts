import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { PlatformEvent, PlatformEventConnection } from '../entities/platform-event.js';
import { CONCERNED } from '../entities/enums.js';
import { MyEventsArgs } from '../inputs/lists.js';
import { User } from '../stubs.js';
import { isOperator, listEvents } from '../queries/log.js';

@Resolver(() => User)
export class UserEventsResolver {
  @Access(CONCERNED)
  @FieldResolver(() => PlatformEventConnection, {
    nullable: true,
    description: 'What happened to the user, newest first; the user itself sees ids, types and times only, and null for others.',
  })
  async events(
    @Root() { id }: User,
    @Args(() => MyEventsArgs) { types, first, after }: MyEventsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<PlatformEvent> | null> {
    if (!isOperator(ctx) && id.toLowerCase() !== ctx.caller.userId) return null;
    return listEvents(ctx, { userId: id, types, first, after });
  }
}
