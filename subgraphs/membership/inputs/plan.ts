import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { MembershipPlanStatus } from '../entities/enums.js';

const PLAN_KEY = '^[a-z0-9][a-z0-9_-]{1,63}$';
export const TIER_KEY = '^[a-z0-9][a-z0-9_-]{0,63}$';
const FEATURE_KEY = '^[a-z0-9_.-]{2,64}$';
const MAX_GRACE_DAYS = 90;

export enum MembershipPlanInclude {
  PRICES = 'prices',
}
registerEnums({ MembershipPlanInclude }, { MembershipPlanInclude: 'What of other services is shown with a plan.' });

@ArgsType()
export class MembershipPlansArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;
}

@ArgsType()
export class PublicPlansArgs extends MembershipPlansArgs {
  @Rule({ maxItems: 1 })
  @Field(() => [MembershipPlanInclude], { nullable: true, description: 'For REST; in GraphQL a plan has its prices.' })
  include?: MembershipPlanInclude[] | null;
}

@ArgsType()
export class AdminPlansArgs extends MembershipPlansArgs {
  @Field(() => MembershipPlanStatus, { nullable: true })
  status?: MembershipPlanStatus | null;
}

@InputType()
export class MembershipBenefitInput {
  @Rule({ pattern: TIER_KEY })
  @Field(() => String)
  key: string;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String)
  label: string;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  value?: string | null;
}

@InputType()
export class MembershipTierInput {
  @Rule({ pattern: TIER_KEY })
  @Field(() => String)
  key: string;

  @Rule({ maxLength: 100, pattern: NOT_BLANK })
  @Field(() => String)
  name: string;

  @Rule({ min: 0, max: 1000 })
  @Field(() => Int, { description: 'Unique in the plan; higher is more.' })
  rank: number;

  @Rule({ maxItems: 50 })
  @Field(() => [MembershipBenefitInput])
  benefits: MembershipBenefitInput[] = [];

  @Rule({ maxItems: 100, pattern: FEATURE_KEY })
  @Field(() => [String])
  featureKeys: string[] = [];
}

@InputType()
export class CreateMembershipPlanInput {
  @Rule({ pattern: PLAN_KEY })
  @Field(() => String)
  key: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  brandId: string;

  @Rule({ maxLength: 100, pattern: NOT_BLANK })
  @Field(() => String)
  name: string;

  @Rule({ maxLength: 2000, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  description?: string | null;

  @Rule({ min: 0, max: MAX_GRACE_DAYS })
  @Field(() => Int, { defaultValue: 7 })
  graceDays: number = 7;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [MembershipTierInput])
  tiers: MembershipTierInput[];
}

@InputType({ description: 'What is left out stays as it is.' })
export class UpdateMembershipPlanInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ maxLength: 100, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Rule({ maxLength: 2000, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true, description: 'Null: none.' })
  description?: string | null;

  @Rule({ min: 0, max: MAX_GRACE_DAYS })
  @Field(() => Int, { nullable: true, description: 'For what becomes overdue from now on.' })
  graceDays?: number | null;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [MembershipTierInput], { nullable: true, description: 'All of them; those of a published plan keep their keys.' })
  tiers?: MembershipTierInput[] | null;

  @Field(() => Int, { nullable: true, description: 'Refused if it is not the current one.' })
  version?: number | null;
}
