import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { createBonusRule, createMilestoneRule } from '../commands/rules.js';
import { READERS, REWARD_WRITERS } from '../entities/access.js';
import { BonusRule, BonusRuleConnection, MilestoneRule, MilestoneRuleConnection, MilestoneUnlock } from '../entities/rewards.js';
import { CreateBonusRuleInput, CreateMilestoneRuleInput, RewardRulesArgs } from '../inputs/rewards.js';
import { milestonesOf } from '../queries/membership.js';
import { bonusRulesPage, milestoneRulesPage } from '../queries/rewards.js';

@Resolver()
export class RewardResolver {
  @Access(REWARD_WRITERS)
  @Query(() => BonusRuleConnection, { description: 'Newest first.' })
  bonusRules(@Args(() => RewardRulesArgs) args: RewardRulesArgs, @Ctx() ctx: Context): Promise<Connection<BonusRule>> {
    return bonusRulesPage(ctx, args);
  }

  @Access(REWARD_WRITERS)
  @Mutation(() => BonusRule)
  createBonusRule(@Arg('input', () => CreateBonusRuleInput) input: CreateBonusRuleInput, @Ctx() ctx: Context): Promise<BonusRule> {
    return createBonusRule(ctx, input);
  }

  @Access({ ...READERS, self: true })
  @Query(() => [MilestoneUnlock], { description: 'Newest first.' })
  memberMilestones(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID, { nullable: true, description: 'Default: the caller.' }) userId: string | null,
    @Ctx() ctx: Context,
  ): Promise<MilestoneUnlock[]> {
    return milestonesOf(ctx, ctx.subject(userId, '/userId'));
  }

  @Access(REWARD_WRITERS)
  @Query(() => MilestoneRuleConnection, { description: 'Newest first.' })
  milestoneRules(@Args(() => RewardRulesArgs) args: RewardRulesArgs, @Ctx() ctx: Context): Promise<Connection<MilestoneRule>> {
    return milestoneRulesPage(ctx, args);
  }

  @Access(REWARD_WRITERS)
  @Mutation(() => MilestoneRule)
  createMilestoneRule(
    @Arg('input', () => CreateMilestoneRuleInput) input: CreateMilestoneRuleInput,
    @Ctx() ctx: Context,
  ): Promise<MilestoneRule> {
    return createMilestoneRule(ctx, input);
  }
}
