import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Info, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { publishEvent, publishEvents } from '../commands/publish.js';
import { PUBLISHERS } from '../entities/enums.js';
import { PlatformEvent } from '../entities/platform-event.js';
import { PublishEventInput, PublishEventsInput } from '../inputs/publish.js';

@Resolver(() => PlatformEvent)
export class PublishResolver {
  @Access(PUBLISHERS)
  @OwnTransactions('the transaction claims the key itself')
  @Mutation(() => PlatformEvent, { description: "Publishes an event; the token also holds the admin scope of the type's owner." })
  publishEvent(
    @Arg('input', () => PublishEventInput) input: PublishEventInput,
    @Ctx() ctx: Context,
    @Info() { fieldName: field, path }: GraphQLResolveInfo,
  ): Promise<PlatformEvent> {
    return publishEvent(ctx, { field, path: String(path.key), input });
  }

  @Access(PUBLISHERS)
  @OwnTransactions('the transaction claims the key itself')
  @Mutation(() => [PlatformEvent], { description: 'Publishes 1 to 100 events in one transaction: all or none.' })
  publishEvents(
    @Arg('input', () => PublishEventsInput) input: PublishEventsInput,
    @Ctx() ctx: Context,
    @Info() { fieldName: field, path }: GraphQLResolveInfo,
  ): Promise<PlatformEvent[]> {
    return publishEvents(ctx, { field, path: String(path.key), input });
  }
}
