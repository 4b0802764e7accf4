import { Field, Int, ObjectType } from 'type-graphql';
import { Membership } from './membership.js';
import { MembershipTier } from './plan.js';

@ObjectType()
export class MembershipTierCount {
  @Field(() => MembershipTier)
  tier: MembershipTier;

  @Field(() => Int)
  active: number;
}

@ObjectType({ description: 'Members at the end of a time, and what happened in it.' })
export class MembershipStats {
  @Field(() => Int, { description: 'Active at the end.' })
  active: number;

  @Field(() => Int, { description: 'Suspended at the end.' })
  suspended: number;

  @Field(() => Int, { description: 'Lapsed in the time.' })
  lapsed: number;

  @Field(() => Int, { description: 'Became members for the first time.' })
  activated: number;

  @Field(() => Int, { description: 'Came back, after a lapse or a suspension.' })
  reactivated: number;

  @Field(() => Int, { description: 'Lapsed, of those who were members at the beginning, in hundredths of a percent.' })
  churnRateBps: number;

  @Field(() => [MembershipTierCount], { description: 'Active at the end, the most first.' })
  byTier: MembershipTierCount[];
}

@ObjectType({ description: 'Something that payments knows otherwise than this service did.' })
export class MembershipDifference {
  @Field(() => String)
  field: string;

  @Field(() => String, { nullable: true, description: 'What payments says.' })
  expected: string | null;

  @Field(() => String, { nullable: true, description: 'What was here.' })
  actual: string | null;
}

@ObjectType({ description: 'A comparison with payments, after which both agree.' })
export class MembershipResync {
  @Field(() => [Membership], { description: 'One for each brand, the newest.' })
  memberships: Membership[];

  @Field(() => [MembershipDifference], { description: 'What was put right; empty: nothing.' })
  differences: MembershipDifference[];
}
