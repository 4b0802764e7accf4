import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { BonusTrigger, MilestoneTrigger } from '../entities/enums.js';
import { BonusRule, MilestoneRule } from '../entities/rewards.js';
import type { CreateBonusRuleInput, CreateMilestoneRuleInput } from '../inputs/rewards.js';
import { bonusViolations } from '../rules/bonus.js';

/** What is reached by time is looked at for all members of the brand, by the timer. */
const LOOK_AT_ALL = "update membership.membership set due_at = least(due_at, $2) where brand_id = $1 and status = 'active'";

/** @throws Problem invalid_request naming what does not go together, conflict for a key that is taken. */
export async function createBonusRule(ctx: Context, input: CreateBonusRuleInput): Promise<BonusRule> {
  requireValid(bonusViolations(input));
  const { cashAmount, threshold = null, expiresDays = null, ...given } = input;
  const brandId = input.brandId.toLowerCase();
  if (await ctx.em.findOne(BonusRule, { brandId, key: input.key })) fail('conflict', 'A bonus rule with this key exists');
  const rule = Object.assign(new BonusRule(), given, { ...cashAmount, brandId, threshold, expiresDays, createdAt: ctx.now() });
  ctx.em.persist(rule);
  if (rule.trigger === BonusTrigger.TENURE_DAYS) await ctx.sql(LOOK_AT_ALL, [brandId, ctx.now().toISOString()]);
  ctx.audit('bonus_rule.created', rule.id, { key: rule.key, brand_id: brandId, trigger: rule.trigger });
  return rule;
}

/** Who has reached it already has it with the next change, or at once where days are counted. @throws Problem conflict for a key that is taken. */
export async function createMilestoneRule(ctx: Context, input: CreateMilestoneRuleInput): Promise<MilestoneRule> {
  const brandId = input.brandId.toLowerCase();
  if (await ctx.em.findOne(MilestoneRule, { brandId, key: input.key })) fail('conflict', 'A milestone rule with this key exists');
  const made = { brandId, rewardKey: input.rewardKey ?? null, createdAt: ctx.now() };
  const rule = Object.assign(new MilestoneRule(), input, made);
  ctx.em.persist(rule);
  if (rule.trigger !== MilestoneTrigger.ORDERS_PLACED) await ctx.sql(LOOK_AT_ALL, [brandId, ctx.now().toISOString()]);
  ctx.audit('milestone_rule.created', rule.id, { key: rule.key, brand_id: brandId, trigger: rule.trigger });
  return rule;
}
