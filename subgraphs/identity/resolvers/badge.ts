import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { Badge, UserBadge } from '../entities/badge.js';
import { User, UserStatus } from '../entities/user.js';
import { AwardBadgeInput, RevokeBadgeInput, UpsertBadgeInput } from '../inputs/profile.js';

async function badgesOf(ctx: Context, userIds: readonly string[]): Promise<UserBadge[][]> {
  const unexpired = { $or: [{ expiresAt: null }, { expiresAt: { $gt: ctx.now() } }] };
  const where = { userId: { $in: userIds.filter(isUuid) }, ...unexpired };
  const rows = await ctx.em.find(UserBadge, where, { populate: ['badge'], orderBy: { awardedAt: 'desc', id: 'desc' } });
  return userIds.map(userId => rows.filter(row => row.userId === userId));
}

/** Badges are no secret. */
export async function loadBadges(ctx: Context, references: readonly { key: string }[]): Promise<(Badge | null)[]> {
  const keys = references.map(one => String(one.key));
  return inOrder(keys, await ctx.em.find(Badge, { key: { $in: keys } }), row => row.key);
}

async function bearer(ctx: Context, userId: string): Promise<string> {
  const user = isUuid(userId)
    ? await ctx.em.findOne(User, { id: userId, status: { $nin: [UserStatus.ERASED, UserStatus.ERASING] } })
    : null;
  return user?.id ?? fail('not_found', 'There is no such user');
}

@Resolver(() => User)
export class BadgeResolver {
  @Access({ service: '*', user: '*' })
  @FieldResolver(() => [UserBadge], { description: 'Badges that have not expired, newest first.' })
  async badges(@Root() user: User, @Ctx() ctx: Context): Promise<UserBadge[]> {
    return (await ctx.load('identity.badges', user.id, ids => badgesOf(ctx, ids))) ?? [];
  }

  @Access({ service: 'admin:identity' })
  @Mutation(() => Badge, { description: 'Makes a badge, or changes how it is shown.' })
  async upsertBadge(@Arg('input', () => UpsertBadgeInput) { iconUrl, ...rest }: UpsertBadgeInput, @Ctx() ctx: Context): Promise<Badge> {
    const values = { ...rest, iconUrl: iconUrl == null ? null : String(iconUrl) };
    ctx.audit('badge.upserted', rest.key);
    return ctx.em.upsert(Badge, values);
  }

  @Access({ service: 'admin:identity' })
  @Mutation(() => UserBadge, { description: 'Gives a user a badge; one that is there already gets the new expiry.' })
  async awardBadge(@Arg('input', () => AwardBadgeInput) input: AwardBadgeInput, @Ctx() ctx: Context): Promise<UserBadge> {
    const userId = await bearer(ctx, input.userId);
    const badge = (await ctx.em.findOne(Badge, { key: input.badge })) ?? fail('not_found', 'There is no such badge');
    const held = await ctx.em.findOne(UserBadge, { userId, badge }, { lockMode: LockMode.PESSIMISTIC_WRITE, populate: ['badge'] }); // PESSIMISTIC_WRITE
    const { source } = input;
    const award = held ?? ctx.em.create(UserBadge, { userId, badge, awardedAt: ctx.now(), source } as never, { partial: true });
    award.expiresAt = input.expiresAt ?? null;
    ctx.em.persist(award);
    ctx.audit('user_badge.awarded', userId, { badge: badge.key, source: award.source });
    return award;
  }

  @Access({ service: 'admin:identity' })
  @Mutation(() => Boolean, { description: 'Takes a badge back; whether the user bore it.' })
  async revokeBadge(@Arg('input', () => RevokeBadgeInput) input: RevokeBadgeInput, @Ctx() ctx: Context): Promise<boolean> {
    const userId = await bearer(ctx, input.userId);
    const rows = await ctx.sql('delete from identity.user_badge where user_id = $1 and badge_key = $2 returning 1 as gone', [
      userId,
      input.badge,
    ]);
    ctx.audit('user_badge.revoked', userId, { badge: input.badge, held: rows.length > 0 });
    return rows.length > 0;
  }
}
