import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime, JSONObject, SafeInt } from '../../../runtime/schema/scalars.js';
import { EntitlementFeature } from './feature.js';
import { EntitlementOverride } from './override.js';
import { MembershipTier } from '../stubs.js';
import { ASKERS } from './access.js';
import { EntitlementAccess, EntitlementDenialReason, EntitlementSource } from './enums.js';

@ObjectType({ description: 'What a user has of one feature.' })
export class Entitlement {
  @Field(() => String)
  key: string;

  @Field(() => EntitlementAccess)
  access: EntitlementAccess;

  @Field(() => EntitlementDenialReason, { nullable: true, description: 'Why access is not granted.' })
  reason: EntitlementDenialReason | null;

  @Field(() => JSONObject, { nullable: true })
  value: unknown;

  @Field(() => SafeInt, { nullable: true, description: 'Of a metered feature; null: none.' })
  limit: number | null;

  @Field(() => SafeInt, { nullable: true, description: 'In this period, of a metered feature.' })
  used: number | null;

  @Field(() => SafeInt, { nullable: true, description: 'Null: not limited, or not metered.' })
  remaining: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When counting begins anew.' })
  resetsAt: Date | null;

  @Field(() => EntitlementSource)
  source: EntitlementSource;

  @Field(() => DateTime, { nullable: true, description: 'When what grants or denies it ends.' })
  endsAt: Date | null;
}

@Access(ASKERS)
@Directive('@key(fields: "userId")')
@ObjectType({ description: 'What a user may use now.' })
export class UserEntitlements {
  @Field(() => ID)
  userId: string;

  @Field(() => [Entitlement], { description: 'By key.' })
  features: Entitlement[];

  @Field(() => SafeInt, { description: 'Grows by one whenever the answer differs from the one before.' })
  version: number;

  @Field(() => DateTime, { description: 'When the answer became as it is, or was first seen so.' })
  computedAt: Date;

  @Field(() => DateTime, { nullable: true, description: 'The next instant at which time alone may change the answer.' })
  validUntil: Date | null;
}

@ObjectType({ description: 'Whether a user may use a feature now.' })
export class EntitlementCheck {
  @Field(() => String)
  key: string;

  @Field(() => Boolean)
  allowed: boolean;

  @Field(() => EntitlementDenialReason, { nullable: true })
  reason: EntitlementDenialReason | null;

  @Field(() => SafeInt, { nullable: true })
  remaining: number | null;

  @Field(() => DateTime, { nullable: true })
  resetsAt: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'The next instant at which time alone may change the answer.' })
  validUntil: Date | null;

  @Field(() => Boolean, { description: 'The facts could not be had: an older answer, or that of the fail mode.' })
  isFallback: boolean;

  /** Whom it is about, and the tiers that give the feature: for what would help. */
  userId: string;
  givingTiers: readonly string[];
}

@ObjectType({ description: 'Answers about one user, in the order of the keys.' })
export class UserEntitlementChecks {
  @Field(() => ID)
  userId: string;

  @Field(() => [EntitlementCheck])
  checks: EntitlementCheck[];
}

@ObjectType({ description: 'A rule that was tried, and its outcome.' })
export class EntitlementRuleTried {
  @Field(() => EntitlementSource)
  rule: EntitlementSource;

  @Field(() => [MembershipTier], {
    description: "The tiers that the rule looked at: those of the user's memberships, also where they give nothing.",
  })
  tiers: MembershipTier[];

  @Field(() => EntitlementAccess, { nullable: true, description: 'Null: it does not apply.' })
  access: EntitlementAccess | null;

  @Field(() => Boolean, { description: 'The answer comes from this rule.' })
  decisive: boolean;

  @Field(() => [EntitlementOverride], { description: 'Facts of the rule, newest first, also those that do not hold now.' })
  overrides: EntitlementOverride[];
}

@ObjectType({ description: 'Why a user may use a feature, or may not.' })
export class EntitlementExplanation {
  @Field(() => ID)
  userId: string;

  @Field(() => String)
  key: string;

  @Field(() => DateTime, { description: 'The instant that it is about.' })
  at: Date;

  @Field(() => EntitlementCheck)
  check: EntitlementCheck;

  @Field(() => EntitlementFeature, { nullable: true, description: 'Null: there is none. One that is archived counts as none.' })
  feature: EntitlementFeature | null;

  @Field(() => Entitlement, { nullable: true })
  entitlement: Entitlement | null;

  @Field(() => [EntitlementRuleTried], { description: 'In the order in which they are tried.' })
  rules: EntitlementRuleTried[];

  @Field(() => SafeInt, { nullable: true, description: "Version of the user's last answer; null: none was given yet." })
  snapshotVersion: number | null;
}
