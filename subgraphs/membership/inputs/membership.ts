import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, Url } from '../../../runtime/schema/scalars.js';
import { MembershipStatus } from '../entities/enums.js';
import { TIER_KEY } from './plan.js';

export enum MembershipInterval {
  DAY = 'day',
  WEEK = 'week',
  MONTH = 'month',
  YEAR = 'year',
}

export enum MembershipChangeTime {
  NOW = 'now',
  PERIOD_END = 'period_end',
}
registerEnums({ MembershipInterval, MembershipChangeTime });

@ArgsType()
export class MembershipsArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => MembershipStatus, { nullable: true })
  status?: MembershipStatus | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  planId?: string | null;

  @Rule({ pattern: TIER_KEY })
  @Field(() => String, { nullable: true })
  tierKey?: string | null;
}

@InputType()
export class JoinMembershipInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  planId: string;

  @Rule({ pattern: TIER_KEY })
  @Field(() => String)
  tierKey: string;

  @Field(() => MembershipInterval)
  interval: MembershipInterval;

  @Rule({ min: 1, max: 24 })
  @Field(() => Int, { defaultValue: 1, description: 'Charged each so many intervals.' })
  intervalCount: number = 1;

  @Rule({ maxLength: 64, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  promoCode?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Charged at once; left out: the session has a page to pay on.' })
  paymentMethodId?: string | null;

  @Rule({ maxLength: 2048 })
  @Field(() => Url)
  returnUrl: URL | string;
}

@InputType()
export class ChangeMyTierInput {
  @Rule({ pattern: TIER_KEY })
  @Field(() => String)
  tierKey: string;

  @Field(() => MembershipChangeTime)
  effective: MembershipChangeTime;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "Default: the token's, or the only one that one is a member of." })
  brandId?: string | null;
}

@InputType()
export class GrantMembershipInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  planId: string;

  @Rule({ pattern: TIER_KEY })
  @Field(() => String)
  tierKey: string;

  @Field(() => DateTime, { nullable: true, description: 'At most two years ahead; left out: it lasts until it is ended.' })
  endsAt?: Date | null;

  @Rule({ maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String)
  reason: string;
}

@InputType()
export class SuspendMembershipInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String)
  reason: string;
}

@InputType()
export class UnsuspendMembershipInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  reason?: string | null;
}

@InputType()
export class LapseMembershipInput extends SuspendMembershipInput {}

@InputType()
export class ChangeMembershipTierInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ pattern: TIER_KEY })
  @Field(() => String)
  tierKey: string;

  @Rule({ maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String)
  reason: string;
}
