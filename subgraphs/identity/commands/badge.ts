import type { RequiredEntityData } from '@mikro-orm/postgresql';
import { newId } from '../../../runtime/data/ids.js';
import { FOR_UPDATE, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { Badge, UserBadge, UserBadgeSource } from '../entities/badge.js';
import { User, UserStatus } from '../entities/user.js';
import type { AwardBadgeInput, RevokeBadgeInput, UpsertBadgeInput } from '../inputs/badge.js';

/** Makes a badge, or changes how it is shown. */
export function upsertBadge(ctx: Context, { iconUrl, ...rest }: UpsertBadgeInput): Promise<Badge> {
  ctx.audit('badge.upserted', rest.key);
  return ctx.em.upsert(Badge, { ...rest, iconUrl: iconUrl == null ? null : String(iconUrl) });
}

const bearer = (ctx: Context, userId: string): Promise<User> =>
  requireRow(ctx, User, { id: userId, status: { $nin: [UserStatus.ERASED, UserStatus.ERASING] } }, 'There is no such user');

/** Gives a user a badge; one that is there already gets the new expiry. @throws Problem not_found. */
export async function awardBadge(ctx: Context, input: AwardBadgeInput): Promise<UserBadge> {
  const { id: userId } = await bearer(ctx, input.userId);
  const badge = await requireRow(ctx, Badge, { key: input.badge }, 'There is no such badge');
  const held = await ctx.em.findOne(UserBadge, { userId, badge }, { ...FOR_UPDATE, populate: ['badge'] });
  const row = { userId, badge, awardedAt: ctx.now(), source: input.source };
  const award = held ?? ctx.em.create(UserBadge, row as RequiredEntityData<UserBadge>, { partial: true });
  award.expiresAt = input.expiresAt ?? null;
  ctx.em.persist(award);
  ctx.audit('user_badge.awarded', userId, { badge: badge.key, source: award.source });
  return award;
}

/** Takes a badge back. @returns whether the user bore it. @throws Problem not_found. */
export async function revokeBadge(ctx: Context, input: RevokeBadgeInput): Promise<boolean> {
  const { id: userId } = await bearer(ctx, input.userId);
  const rows = await ctx.sql('delete from identity.user_badge where user_id = $1 and badge_key = $2 returning 1 as gone', [
    userId,
    input.badge,
  ]);
  ctx.audit('user_badge.revoked', userId, { badge: input.badge, held: rows.length > 0 });
  return rows.length > 0;
}

/** The lock waits for an erasure that is under way, so that no badge comes back to a tombstone. */
const BEARER = `select 1 as alive from identity."user" where id = $1 and status not in ('erasing', 'erased') for share`;

const bearsBadges = async (ctx: Context, userId: string): Promise<boolean> => (await ctx.sql(BEARER, [userId])).length > 0;

/** A badge that the user bears already, for whatever reason, stays as it is. */
const AWARD = `
insert into identity.user_badge (id, user_id, badge_key, awarded_at, source)
select $1, $2, b.key, $4, $5 from identity.badge b where b.key = $3 on conflict (user_id, badge_key) do nothing returning 1 as awarded`;

async function award(ctx: Context, userId: string, badge: string, at: string, source: UserBadgeSource): Promise<void> {
  const rows = await ctx.sql(AWARD, [newId(), userId, badge, at, source]);
  if (rows.length) ctx.audit('user_badge.awarded', userId, { badge, source });
}

/** A milestone gives the badge of its own name, where there is one. `at`: ISO 8601. */
export async function awardMilestone(ctx: Context, userId: string, milestone: string, at: string): Promise<void> {
  if (await bearsBadges(ctx, userId)) await award(ctx, userId, milestone, at, UserBadgeSource.MILESTONE);
}

/** One badge shows which tier a member has: the new tier's, where it has one, instead of the old one's. `at`: ISO 8601. */
export async function showTier(ctx: Context, userId: string, tier: string, at: string): Promise<void> {
  if (!(await bearsBadges(ctx, userId))) return;
  const gone = await ctx.sql<{ badge_key: string }>(
    'delete from identity.user_badge where user_id = $1 and source = $2 and badge_key <> $3 returning badge_key',
    [userId, UserBadgeSource.MEMBERSHIP, tier],
  );
  for (const { badge_key: badge } of gone) ctx.audit('user_badge.revoked', userId, { badge, held: true });
  await award(ctx, userId, tier, at, UserBadgeSource.MEMBERSHIP);
}
