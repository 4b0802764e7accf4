import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { MoneyInput } from '../../../runtime/schema/scalars.js';
import { BonusTrigger, MilestoneTrigger } from '../entities/enums.js';
import { TIER_KEY } from './plan.js';

/** As events carry it. */
const CODE = '^[a-z0-9][a-z0-9_.:-]{0,63}$';
/** Some hundred years. */
const MAX_DAYS = 36_500;

@ArgsType()
export class RewardRulesArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;
}

@InputType()
export class CreateBonusRuleInput {
  @Rule({ pattern: CODE })
  @Field(() => String)
  key: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  brandId: string;

  @Field(() => BonusTrigger)
  trigger: BonusTrigger;

  @Rule({ min: 1, max: MAX_DAYS })
  @Field(() => Int, { nullable: true, description: 'Days, of TENURE_DAYS; it counts from when the rule was made.' })
  threshold?: number | null;

  @Rule({ maxItems: 50, pattern: TIER_KEY })
  @Field(() => [String], { description: 'Empty: all.' })
  tierKeys: string[] = [];

  @Field(() => MoneyInput)
  cashAmount: MoneyInput;

  @Rule({ min: 1, max: MAX_DAYS })
  @Field(() => Int, { nullable: true })
  expiresDays?: number | null;

  @Field(() => Boolean, { defaultValue: false })
  revokeOnLapse: boolean = false;
}

@InputType()
export class CreateMilestoneRuleInput {
  @Rule({ pattern: CODE })
  @Field(() => String, { description: 'Never tells a health fact.' })
  key: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  brandId: string;

  @Field(() => MilestoneTrigger)
  trigger: MilestoneTrigger;

  @Rule({ min: 1, max: MAX_DAYS })
  @Field(() => Int, { description: 'Days, orders, or returns.' })
  threshold: number;

  @Rule({ pattern: CODE })
  @Field(() => String, { nullable: true })
  rewardKey?: string | null;
}
