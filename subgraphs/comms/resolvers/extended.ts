import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { preferencesOf } from '../commands/preferences.js';
import { digestPreferenceOf, reachableBy } from '../commands/reachable.js';
import { MESSAGE_READERS } from '../entities/access.js';
import { CommsInboxCount } from '../entities/inbox.js';
import { CommsMessage, CommsMessageConnection } from '../entities/message.js';
import { CommsPreferences, CommsReachable, MentionDigestPreference } from '../entities/preferences.js';
import { UserComms } from '../entities/user-comms.js';
import { countItems } from '../queries/inbox.js';
import { listMessages, seesAll } from '../queries/messages.js';
import { User } from '../stubs.js';

@Resolver(() => User)
export class UserCommsResolver {
  @Access(MESSAGE_READERS)
  @FieldResolver(() => UserComms, { nullable: true, description: 'How a person is reached; null for another user.' })
  comms(@Root() { id }: User, @Ctx() ctx: Context): UserComms | null {
    return seesAll(ctx) || ctx.caller.userId === id ? { userId: id } : null;
  }

  @Access({ internal: ['community'] })
  @FieldResolver(() => MentionDigestPreference, { nullable: true, description: 'When community is to bundle mentions.' })
  mentionDigestPreference(@Root() { id }: User, @Ctx() ctx: Context): Promise<MentionDigestPreference> {
    return digestPreferenceOf(ctx, id);
  }

  @Access({ internal: ['comms'] })
  @Query(() => [User], { description: 'People by id, for comms itself: the federation fills in the rest in one batch.' })
  commsRecipients(@Rule({ minItems: 1, maxItems: 100, pattern: UUID }) @Arg('userIds', () => [ID]) userIds: string[]): User[] {
    return userIds.map(id => ({ id }));
  }
}

@Resolver(() => UserComms)
export class UserCommsFieldsResolver {
  @FieldResolver(() => CommsPreferences, { nullable: true })
  preferences(@Root() { userId }: UserComms, @Ctx() ctx: Context): Promise<CommsPreferences> {
    return preferencesOf(ctx, userId);
  }

  @FieldResolver(() => CommsInboxCount, { nullable: true })
  inboxCount(@Root() { userId }: UserComms, @Ctx() ctx: Context): Promise<CommsInboxCount> {
    return countItems(ctx, userId);
  }

  @FieldResolver(() => CommsReachable, { nullable: true })
  reachable(@Root() { userId }: UserComms, @Ctx() ctx: Context): Promise<CommsReachable> {
    return reachableBy(ctx, userId);
  }

  @FieldResolver(() => CommsMessageConnection)
  messages(@Root() { userId }: UserComms, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<CommsMessage>> {
    return listMessages(ctx, { ...args, filter: { userId } });
  }
}
