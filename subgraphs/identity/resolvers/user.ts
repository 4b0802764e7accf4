import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { importAccount } from '../commands/account.js';
import { User, UserConnection } from '../entities/user.js';
import { CreateUserInput, UserListArgs, UserLookupInput } from '../inputs/user.js';
import { administeredUser, findByHandle, findByHandles, listUsers, lookUpUser, visibleUser } from '../queries/user.js';

const ADMIN = { service: 'admin:identity', staff: 'admin:identity:read' } as const;

@Resolver()
export class UserResolver {
  @Access({ user: 'read:profile|read:account|read:preferences|manage:connected_apps' })
  @Query(() => User, { description: 'The account of the caller.' })
  me(@Ctx() ctx: Context): Promise<User> {
    return requireRow(ctx, User, { id: ctx.caller.userId! });
  }

  @Access({ service: '*', user: '*' })
  @Query(() => User, {
    nullable: true,
    description: 'An account, as far as the caller may know of it; null for one that the caller may know nothing of.',
  })
  user(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<User | null> {
    return visibleUser(ctx, id);
  }

  @Access(ADMIN)
  @Query(() => User, { nullable: true, description: 'An account as administrators see it, tombstones included.' })
  adminUser(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<User | null> {
    return administeredUser(ctx, id);
  }

  @Access(ADMIN)
  @Query(() => UserConnection, { description: 'Accounts, newest first.' })
  users(@Args(() => UserListArgs) args: UserListArgs, @Ctx() ctx: Context): Promise<Connection<User>> {
    return listUsers(ctx, args);
  }

  @Access(ADMIN)
  @Query(() => User, { nullable: true, description: 'The account that an address, phone, handle or outside identity belongs to.' })
  userLookup(@Arg('by', () => UserLookupInput) by: UserLookupInput, @Ctx() ctx: Context): Promise<User | null> {
    return lookUpUser(ctx, by);
  }

  @Access({ service: '*', user: '*' })
  @Query(() => User, {
    nullable: true,
    description: 'The user with this handle, in any case of letters; null where the profile may not be seen.',
  })
  userByHandle(@Arg('handle', () => String) handle: string, @Ctx() ctx: Context): Promise<User | null> {
    return findByHandle(ctx, handle);
  }

  @Access({ internal: true })
  @Query(() => [User], {
    nullable: 'items',
    description: 'The users of handles, in their order; null for a handle that nobody active has. At most 50.',
  })
  usersByHandles(
    @Rule({ maxItems: 50, maxLength: 30 }) @Arg('handles', () => [String]) handles: string[],
    @Ctx() ctx: Context,
  ): Promise<(User | null)[]> {
    return findByHandles(ctx, handles);
  }

  @Access({ service: 'admin:identity' })
  @Mutation(() => User, { description: 'Makes an account that is active at once.' })
  createUser(@Arg('input', () => CreateUserInput) input: CreateUserInput, @Ctx() ctx: Context): Promise<User> {
    return importAccount(ctx, input);
  }
}
