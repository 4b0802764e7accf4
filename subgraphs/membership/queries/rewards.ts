import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { BonusRule, MilestoneRule, WinBack } from '../entities/rewards.js';
import type { RewardRulesArgs } from '../inputs/rewards.js';

const ofBrand = (brandId: string | null | undefined) => (brandId ? { brandId: brandId.toLowerCase() } : {});

export const bonusRulesPage = (ctx: Context, { brandId, ...paging }: RewardRulesArgs): Promise<Connection<BonusRule>> =>
  page(ctx.em, BonusRule, ofBrand(brandId), paging, { time: 'createdAt' });

export const milestoneRulesPage = (ctx: Context, { brandId, ...paging }: RewardRulesArgs): Promise<Connection<MilestoneRule>> =>
  page(ctx.em, MilestoneRule, ofBrand(brandId), paging, { time: 'createdAt' });

/** The campaigns of some memberships, in one statement. */
export async function winBacksOf(ctx: Context, membershipIds: readonly string[]): Promise<(WinBack | null)[]> {
  const rows = await ctx.em.find(WinBack, { membershipId: { $in: [...membershipIds] } });
  return membershipIds.map(id => rows.find(row => row.membershipId === id) ?? null);
}
