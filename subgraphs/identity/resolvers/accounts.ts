import { raw, type FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { connectionOf, page, type Connection } from '../../../runtime/request/paging.js';
import { User, UserEmail, UserProfile, UserStatus } from '../entities/user.js';
import { UserListArgs, UserLookupInput, type UserFilter } from '../inputs/user.js';
import { emailKey, seesProfile } from '../rules/visibility.js';
import { profileOf } from '../queries/batches.js';
import { knowsBrand, viewerOf } from '../queries/viewer.js';

const UserConnection = connectionOf(User, 'User');

/** Beginning of a text, for `like`. */
const beginning = (text: string): string => `${text.replace(/[\\%_]/g, '\\$&')}%`;

const hasEmail = (q: string): FilterQuery<User> => ({
  [raw(
    alias => `exists (select 1 from identity.user_email e where e.user_id = ${alias}.id and e.email_key like ?)`,
    [beginning(emailKey(q))],
  )]: [],
});

const hasName = (q: string): FilterQuery<User> => ({
  [raw(
    alias =>
      `exists (select 1 from identity.user_profile p where p.user_id = ${alias}.id and (p.handle like ? or lower(p.display_name) like ?))`,
    [beginning(q.toLowerCase()), beginning(q.toLowerCase())],
  )]: [],
});

function searched(q: string): FilterQuery<User> {
  return { $or: [...(isUuid(q) ? [{ id: q }] : []), hasEmail(q), hasName(q)] } as FilterQuery<User>;
}

function whereOf(filter: UserFilter): FilterQuery<User> {
  const { q, status, brandId, createdAfter, createdBefore } = filter;
  if (brandId && !isUuid(brandId)) return { id: [] };
  const conditions: FilterQuery<User>[] = [];
  if (q) conditions.push(searched(q));
  if (status?.length) conditions.push({ status: { $in: status } });
  if (brandId) conditions.push({ brandId });
  if (createdAfter) conditions.push({ createdAt: { $gt: createdAfter } });
  if (createdBefore) conditions.push({ createdAt: { $lt: createdBefore } });
  return { $and: conditions } as FilterQuery<User>;
}

/** Id of the account with this address, phone, handle or outside identity; the oldest where a phone is shared. */
async function lookUp(ctx: Context, by: UserLookupInput): Promise<string | null> {
  if (by.email) return (await ctx.em.findOne(UserEmail, { emailKey: emailKey(by.email) }))?.userId ?? null;
  if (by.handle) return (await ctx.em.findOne(UserProfile, { handle: by.handle.toLowerCase() }))?.userId ?? null;
  if (by.phone) return (await ctx.em.findOne(User, { phone: by.phone }, { orderBy: { createdAt: 'asc' } }))?.id ?? null;
  const [row] = await ctx.sql<{ user_id: string }>('select user_id from identity.external_identity where provider = $1 and subject = $2', [
    by.externalProvider,
    by.externalId,
  ]);
  return row?.user_id ?? null;
}

function checkLookup(by: UserLookupInput): void {
  const external = by.externalProvider != null || by.externalId != null;
  const given = [by.email, by.phone, by.handle].filter(one => one != null).length + (external ? 1 : 0);
  const message = 'give exactly one of email, phone, handle, or external_provider with external_id';
  if (given !== 1 || (external && (by.externalProvider == null || by.externalId == null)))
    fail('invalid_request', 'The input is invalid', { errors: [{ pointer: '/by', message }] });
}

@Resolver()
export class AccountResolver {
  @Access({ user: 'read:profile|read:account|read:preferences|manage:connected_apps' })
  @Query(() => User, { description: 'The account of the caller.' })
  async me(@Ctx() ctx: Context): Promise<User> {
    return (await ctx.em.findOne(User, ctx.caller.userId!)) ?? fail('not_found', 'Not found');
  }

  @Access({ service: '*', user: '*' })
  @Query(() => User, {
    nullable: true,
    description: 'An account, as far as the caller may know of it; null for one that the caller may know nothing of.',
  })
  async user(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<User | null> {
    const user = isUuid(id) ? await ctx.em.findOne(User, id) : null;
    if (!user || knowsBrand(ctx.caller, id)) return user;
    const profile = await profileOf(ctx, id);
    return profile && seesProfile(viewerOf(ctx.caller, id), user.status, profile.visibility) ? user : null;
  }

  @Access({ service: 'admin:identity', staff: 'admin:identity:read' })
  @Query(() => User, { nullable: true, description: 'An account as administrators see it, tombstones included.' })
  async adminUser(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<User | null> {
    return isUuid(id) ? ctx.em.findOne(User, id) : null;
  }

  @Access({ service: 'admin:identity', staff: 'admin:identity:read' })
  @Query(() => UserConnection, { description: 'Accounts, newest first.' })
  users(@Args(() => UserListArgs) args: UserListArgs, @Ctx() ctx: Context): Promise<Connection<User>> {
    return page(ctx.em, User, whereOf(args.filter ?? {}), args, { time: 'createdAt' });
  }

  @Access({ service: 'admin:identity', staff: 'admin:identity:read' })
  @Query(() => User, { nullable: true, description: 'The account that an address, phone, handle or outside identity belongs to.' })
  async userLookup(@Arg('by', () => UserLookupInput) by: UserLookupInput, @Ctx() ctx: Context): Promise<User | null> {
    checkLookup(by);
    const id = await lookUp(ctx, by);
    return id === null ? null : ctx.em.findOne(User, { id, status: { $ne: UserStatus.ERASED } });
  }

  @Access({ service: '*', user: '*' })
  @Query(() => User, {
    nullable: true,
    description: 'The user with this handle, in any case of letters; null where the profile may not be seen.',
  })
  async userByHandle(@Arg('handle', () => String) handle: string, @Ctx() ctx: Context): Promise<User | null> {
    const profile = await ctx.em.findOne(UserProfile, { handle: handle.toLowerCase() });
    return profile && this.user(profile.userId, ctx);
  }

  @Access({ internal: true })
  @Query(() => [User], {
    nullable: 'items',
    description: 'The users of handles, in their order; null for a handle that nobody active has. At most 50.',
  })
  async usersByHandles(
    @Rule({ maxItems: 50, maxLength: 30 }) @Arg('handles', () => [String]) handles: string[],
    @Ctx() ctx: Context,
  ): Promise<(User | null)[]> {
    const wanted = handles.map(handle => handle.toLowerCase());
    const profiles = await ctx.em.find(UserProfile, { handle: { $in: wanted } });
    const users = await ctx.em.find(User, { id: { $in: profiles.map(profile => profile.userId) }, status: UserStatus.ACTIVE });
    return wanted.map(handle => users.find(user => user.id === profiles.find(profile => profile.handle === handle)?.userId) ?? null);
  }
}
