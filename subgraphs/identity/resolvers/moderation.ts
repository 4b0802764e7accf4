import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { banUser, reinstateUser, suspendUser } from '../commands/moderation.js';
import { ModerationAction, UserModeration } from '../entities/moderation.js';
import { User } from '../entities/user.js';
import { BanUserInput, ReinstateUserInput, SuspendUserInput } from '../inputs/moderation.js';
import { historyOf, moderationOf } from '../queries/moderation.js';

const MODERATES = { service: 'admin:identity', staff: 'admin:identity:moderate' } as const;
const MODERATORS = ruleOf(MODERATES);

@Resolver(() => User)
export class ModerationResolver {
  @Access(MODERATES)
  @Mutation(() => User, { description: 'Closes an account for good; its tokens die.' })
  banUser(@Arg('input', () => BanUserInput) input: BanUserInput, @Ctx() ctx: Context): Promise<User> {
    return banUser(ctx, input);
  }

  @Access(MODERATES)
  @Mutation(() => User, { description: 'Closes an account for a while; its tokens die and stay dead.' })
  suspendUser(@Arg('input', () => SuspendUserInput) input: SuspendUserInput, @Ctx() ctx: Context): Promise<User> {
    return suspendUser(ctx, input);
  }

  @Access(MODERATES)
  @Mutation(() => User, { description: 'Opens a closed account; tokens issued before stay dead.' })
  reinstateUser(@Arg('input', () => ReinstateUserInput) input: ReinstateUserInput, @Ctx() ctx: Context): Promise<User> {
    return reinstateUser(ctx, input);
  }

  @Access(MODERATES)
  @Query(() => UserModeration, { description: 'Whether an account may be used, and what was done to it.' })
  async userModeration(@Arg('userId', () => ID) userId: string, @Ctx() ctx: Context): Promise<UserModeration> {
    return moderationOf(ctx, await requireRow(ctx, User, { id: userId }));
  }

  @Access({ service: 'admin:identity', user: 'read:profile|read:account', staff: 'admin:identity:moderate' })
  @FieldResolver(() => UserModeration, { nullable: true, description: 'For moderators; the user sees status, end and reason.' })
  async moderation(@Root() user: User, @Ctx() ctx: Context): Promise<UserModeration | null> {
    const may = mayAccess(MODERATORS, ctx.caller) || ctx.caller.userId === user.id;
    return may ? moderationOf(ctx, user) : null;
  }
}

@Resolver(() => UserModeration)
export class ModerationHistoryResolver {
  @Access(MODERATES)
  @FieldResolver(() => [ModerationAction])
  history(@Root() moderation: UserModeration, @Ctx() ctx: Context): Promise<ModerationAction[]> {
    return historyOf(ctx, moderation.userId);
  }
}
