import { memberMilestoneUnlocked, membershipTierChanged } from '../../../events/catalogue/membership.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { UserBadgeSource } from '../entities/badge.js';
import { newId } from '../../../runtime/data/ids.js';

/** The lock waits for an erasure that is under way, so that no badge comes back to a tombstone. */
const BEARER = `select 1 as alive from identity."user" where id = $1 and status not in ('erasing', 'erased') for share`;

/** A badge that the user bears already, for whatever reason, stays as it is. */
const AWARD = `
insert into identity.user_badge (id, user_id, badge_key, awarded_at, source)
select $1, $2, b.key, $4, $5 from identity.badge b where b.key = $3 on conflict (user_id, badge_key) do nothing returning 1 as awarded`;

async function bearsBadges(ctx: Context, userId: string): Promise<boolean> {
  return (await ctx.sql(BEARER, [userId])).length > 0;
}

async function award(ctx: Context, userId: string, badge: string, at: string, source: UserBadgeSource): Promise<void> {
  const rows = await ctx.sql(AWARD, [newId(), userId, badge, at, source]);
  if (rows.length) ctx.audit('user_badge.awarded', userId, { badge, source });
}

/** A milestone gives the badge of its own name, where there is one. */
const milestone = handle(memberMilestoneUnlocked, async (ctx: Context, { user_id: userId, data }) => {
  if (await bearsBadges(ctx, userId!)) await award(ctx, userId!, data.milestone, data.unlocked_at, UserBadgeSource.MILESTONE);
});

/** One badge says which tier a member has: the new tier's, where it has one, in the place of the old one's. */
const tier = handle(membershipTierChanged, async (ctx: Context, { user_id: userId, data }) => {
  if (!(await bearsBadges(ctx, userId!))) return;
  const gone = await ctx.sql<{ badge_key: string }>(
    'delete from identity.user_badge where user_id = $1 and source = $2 and badge_key <> $3 returning badge_key',
    [userId, UserBadgeSource.MEMBERSHIP, data.to_tier],
  );
  for (const { badge_key: badge } of gone) ctx.audit('user_badge.revoked', userId, { badge, held: true });
  await award(ctx, userId!, data.to_tier, data.effective_at, UserBadgeSource.MEMBERSHIP);
});

/** Source: identity 5, what is consumed. */
export const consumers: readonly Consumer<Context>[] = [{ name: 'identity.badges', on: [milestone, tier], partitions: 1 }];
