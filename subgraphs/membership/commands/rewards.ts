import { memberMilestoneUnlocked, membershipBonusEligible, winBackStarted } from '../../../events/catalogue/membership.js';
import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import { BonusTrigger, MilestoneTrigger, WinBackStatus } from '../entities/enums.js';
import type { Membership } from '../entities/membership.js';
import { BonusGrant, BonusRule, MilestoneRule, WinBack } from '../entities/rewards.js';
import type { Catalogue } from '../rules/catalogue.js';
import { isMilestone, metBy, nextTenure, winBackOf, winBackStatus, type Occasion } from '../rules/rewards.js';
import type { Timeline } from '../rules/timeline.js';
import { commonOf } from './announcement.js';

/** Of the campaign for those who have left; affiliates and comms know what it offers. */
const OFFER = 'come_back';

/** A member whose rewards are due. */
export interface Member {
  /** The newest membership. */
  row: Membership;
  timeline: Timeline;
  catalogue: Catalogue;
  occasions: readonly Occasion[];
}

const GRANT = `
  insert into membership.bonus_grant (id, membership_id, user_id, brand_id, bonus_key, period_key, granted_at)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict (membership_id, bonus_key, period_key) do nothing returning 1 as granted`;

async function grant(ctx: Context, { row, catalogue }: Member, rule: BonusRule, periodKey: string): Promise<void> {
  const { id, userId, brandId } = row;
  const granted = await ctx.sql(GRANT, [newId(), id, userId, brandId, rule.key, periodKey, ctx.now().toISOString()]);
  if (granted.length === 0) return;
  const money = { cash_amount: rule.amount, currency: rule.currency, expires_days: rule.expiresDays, revoke_on_lapse: rule.revokeOnLapse };
  ctx.emit(
    membershipBonusEligible,
    { ...commonOf(row, catalogue), bonus_key: rule.key, period_key: periodKey, ...money },
    { userId, brandId },
  );
}

/** Days as a member are counted over all memberships, so such a bonus comes once for all of them. */
async function grantBonuses(ctx: Context, member: Member, rules: readonly BonusRule[]): Promise<void> {
  const { row, timeline, catalogue, occasions } = member;
  const met = metBy(rules, timeline, catalogue.tier(row.tierId).key, occasions, ctx.now());
  if (met.length === 0) return;
  const granted = await ctx.em.find(BonusGrant, { userId: row.userId, brandId: row.brandId });
  for (const { rule, periodKey } of met) {
    const known = granted.some(one => one.bonusKey === rule.key && one.periodKey === periodKey);
    if (rule.trigger !== BonusTrigger.TENURE_DAYS || !known) await grant(ctx, member, rule, periodKey);
  }
}

const UNLOCK = `
  insert into membership.milestone_unlock (id, user_id, brand_id, milestone, unlocked_at, reward_key)
  values ($1, $2, $3, $4, $5, $6) on conflict (user_id, brand_id, milestone) do nothing returning 1 as unlocked`;

async function unlock(ctx: Context, userId: string, { key, brandId, rewardKey }: MilestoneRule): Promise<void> {
  const at = ctx.now().toISOString();
  if ((await ctx.sql(UNLOCK, [newId(), userId, brandId, key, at, rewardKey])).length === 0) return;
  ctx.emit(memberMilestoneUnlocked, { milestone: key, unlocked_at: at, reward_key: rewardKey }, { userId, brandId });
}

async function unlockMilestones(ctx: Context, { row, timeline }: Member, rules: readonly MilestoneRule[]): Promise<void> {
  for (const rule of rules) if (isMilestone(rule, timeline, ctx.now())) await unlock(ctx, row.userId, rule);
}

const ORDERS = `
  select count(distinct subject_id)::int as orders from membership.membership_fact where user_id = $1 and brand_id = $2 and kind = 'ordered'`;

/** Unlocks what the orders of a user in a brand have reached. */
export async function unlockByOrders(ctx: Context, userId: string, brandId: string): Promise<void> {
  const rules = await ctx.em.find(MilestoneRule, { brandId, trigger: MilestoneTrigger.ORDERS_PLACED, active: true });
  if (rules.length === 0) return;
  const [counted] = await ctx.sql<{ orders: number }>(ORDERS, [userId, brandId]);
  for (const rule of rules) if (counted!.orders >= rule.threshold) await unlock(ctx, userId, rule);
}

/** Grants and unlocks what is reached. @returns the next instant at which days as a member reach something. */
export async function reward(ctx: Context, member: Member): Promise<Date | null> {
  const { brandId } = member.row;
  const [bonuses, milestones] = [
    await ctx.em.find(BonusRule, { brandId }),
    await ctx.em.find(MilestoneRule, { brandId, active: true, trigger: { $ne: MilestoneTrigger.ORDERS_PLACED } }),
  ];
  if (!member.timeline.erased) {
    await grantBonuses(ctx, member, bonuses);
    await unlockMilestones(ctx, member, milestones);
  }
  const days = [...bonuses, ...milestones].filter(
    rule => rule.trigger === BonusTrigger.TENURE_DAYS || rule.trigger === MilestoneTrigger.TENURE_DAYS,
  );
  return nextTenure(
    member.timeline,
    days.map(rule => rule.threshold!),
    ctx.now(),
  );
}

function begin(ctx: Context, { row, catalogue }: Member, { startsAt, endsAt }: { startsAt: Date; endsAt: Date }): void {
  const { id: membershipId, userId, brandId, lapsedAt } = row;
  ctx.em.persist(Object.assign(new WinBack(), { membershipId, userId, brandId, offerKey: OFFER, startedAt: startsAt, endsAt }));
  const common = commonOf(row, catalogue);
  const campaign = { offer_key: OFFER, ends_at: endsAt.toISOString(), lapsed_at: lapsedAt!.toISOString(), last_tier: common.tier_key };
  ctx.emit(winBackStarted, { ...common, ...campaign }, { userId, brandId });
}

/** When the member of a campaign came back; null: not yet. */
function returnOf({ timeline }: Member, campaign: WinBack, rows: readonly Membership[]): Date | null {
  const index = rows.findIndex(({ id }) => id === campaign.membershipId);
  return (timeline.memberships[index]?.lapsedAt ? rows[index + 1]?.startedAt : rows[index]?.activeSince) ?? null;
}

/** Begins, turns and ends campaigns. `rows`: all memberships in their order. @returns when the next one begins or ends. */
export async function winBack(ctx: Context, member: Member, rows: readonly Membership[]): Promise<Date | null> {
  const { row, timeline } = member;
  const campaigns = await ctx.em.find(WinBack, { userId: row.userId, brandId: row.brandId });
  for (const one of campaigns) one.status = winBackStatus(one, timeline, returnOf(member, one, rows), ctx.now());
  const open = campaigns.find(one => one.status === WinBackStatus.OPEN);
  if (open) return open.endsAt;
  const coming = campaigns.some(one => one.membershipId === row.id) ? null : winBackOf(timeline);
  if (!coming || coming.endsAt <= ctx.now()) return null;
  if (coming.startsAt > ctx.now()) return coming.startsAt;
  begin(ctx, member, coming);
  return coming.endsAt;
}
