import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject, LocalDate } from '../../../runtime/schema/scalars.js';
import { FeatureFlagKind, FeatureFlagValueType, FlagConditionAttribute, FlagConditionOperator } from '../entities/flag.js';
import { FLAG_KEY, SERVICE_SLUG, VARIANT } from './patterns.js';

const REASON = { minLength: 10, maxLength: 500 };

@InputType()
export class FlagVariantInput {
  @Rule({ pattern: VARIANT })
  @Field(() => String)
  name: string;

  @Field(() => JSONObject, { description: 'Boolean or string, as the flag declares.' })
  value: boolean | string;
}

@InputType()
export class FlagRolloutInput {
  @Rule({ pattern: VARIANT })
  @Field(() => String)
  variant: string;

  @Rule({ min: 0, max: 10_000 })
  @Field(() => Int)
  basisPoints: number;
}

@InputType({ description: 'A variant or a rollout.' })
export class FlagServeInput {
  @Rule({ pattern: VARIANT })
  @Field(() => String, { nullable: true })
  variant?: string | null;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [FlagRolloutInput], { nullable: true })
  rollout?: FlagRolloutInput[] | null;
}

@InputType()
export class FlagConditionInput {
  @Field(() => FlagConditionAttribute)
  attribute: FlagConditionAttribute;

  @Field(() => FlagConditionOperator)
  operator: FlagConditionOperator;

  @Rule({ minItems: 1, maxItems: 1000, minLength: 1, maxLength: 128 })
  @Field(() => [String])
  values: string[];
}

@InputType()
export class FlagVariantServeInput {
  @Rule({ pattern: VARIANT })
  @Field(() => String)
  variant: string;
}

@InputType({ description: 'Holds when all its conditions do, and then serves a variant or a rollout.' })
export class FlagRuleInput {
  @Rule({ maxItems: 20 })
  @Field(() => [FlagConditionInput])
  conditions: FlagConditionInput[];

  @Field(() => FlagVariantServeInput, { nullable: true })
  serve?: FlagVariantServeInput | null;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [FlagRolloutInput], { nullable: true })
  rollout?: FlagRolloutInput[] | null;
}

@InputType()
export class FlagPrerequisiteInput {
  @Rule({ maxLength: 128, pattern: FLAG_KEY })
  @Field(() => String)
  key: string;

  @Rule({ pattern: VARIANT })
  @Field(() => String)
  variant: string;
}

@InputType()
export class CreateFeatureFlagInput {
  @Rule({ maxLength: 128, pattern: FLAG_KEY })
  @Field(() => String, { description: 'Never used again for another flag.' })
  key: string;

  @Rule({ minLength: 1, maxLength: 500 })
  @Field(() => String)
  description: string;

  @Field(() => FeatureFlagKind)
  kind: FeatureFlagKind;

  @Field(() => FeatureFlagValueType)
  valueType: FeatureFlagValueType;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [FlagVariantInput])
  variants: FlagVariantInput[];

  @Rule({ pattern: VARIANT })
  @Field(() => String)
  offVariant: string;

  @Field(() => FlagServeInput)
  defaultRule: FlagServeInput;

  @Rule({ maxItems: 50 })
  @Field(() => [FlagRuleInput], { defaultValue: [] })
  rules: FlagRuleInput[];

  @Rule({ maxItems: 10 })
  @Field(() => [FlagPrerequisiteInput], { defaultValue: [] })
  prerequisites: FlagPrerequisiteInput[];

  @Field(() => Boolean, { defaultValue: false })
  enabled: boolean = false;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Serves the off variant where its state cannot be known; else the last value stays.',
  })
  failClosed: boolean = true;

  @Field(() => Boolean, { defaultValue: false, description: 'Changes only with two different staff members, killing excepted.' })
  protected: boolean = false;

  @Field(() => Boolean, { defaultValue: false })
  permanent: boolean = false;

  @Field(() => LocalDate, { nullable: true })
  expiresOn?: string | null;

  @Rule({ pattern: SERVICE_SLUG })
  @Field(() => String, { description: 'Slug of the service whose behaviour it switches.' })
  owner: string;

  @Rule({ maxItems: 28, pattern: SERVICE_SLUG })
  @Field(() => [String], { defaultValue: [], description: 'Slugs of further services that read it.' })
  readers: string[];

  @Rule({ minLength: 1, maxLength: 128 })
  @Field(() => String, { nullable: true, description: 'Never changes. Default: the key.' })
  salt?: string | null;

  @Rule(REASON)
  @Field(() => String)
  reason: string;
}

@InputType({ description: 'What changes; an absent field stays as it is.' })
export class FeatureFlagPatch {
  @Rule({ minLength: 1, maxLength: 500 })
  @Field(() => String, { nullable: true })
  description?: string;

  @Field(() => FeatureFlagKind, { nullable: true })
  kind?: FeatureFlagKind;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [FlagVariantInput], { nullable: true })
  variants?: FlagVariantInput[];

  @Rule({ pattern: VARIANT })
  @Field(() => String, { nullable: true })
  offVariant?: string;

  @Field(() => FlagServeInput, { nullable: true })
  defaultRule?: FlagServeInput;

  @Rule({ maxItems: 50 })
  @Field(() => [FlagRuleInput], { nullable: true })
  rules?: FlagRuleInput[];

  @Rule({ maxItems: 10 })
  @Field(() => [FlagPrerequisiteInput], { nullable: true })
  prerequisites?: FlagPrerequisiteInput[];

  @Field(() => Boolean, { nullable: true })
  enabled?: boolean;

  @Field(() => Boolean, { nullable: true })
  failClosed?: boolean;

  @Field(() => Boolean, { nullable: true })
  protected?: boolean;

  @Field(() => Boolean, { nullable: true })
  permanent?: boolean;

  @Field(() => LocalDate, { nullable: true, description: 'Null: no end.' })
  expiresOn?: string | null;

  @Rule({ pattern: SERVICE_SLUG })
  @Field(() => String, { nullable: true })
  owner?: string;

  @Rule({ maxItems: 28, pattern: SERVICE_SLUG })
  @Field(() => [String], { nullable: true })
  readers?: string[];
}

@InputType()
export class ChangeFeatureFlagInput {
  @Rule({ maxLength: 128 })
  @Field(() => String)
  key: string;

  @Field(() => FeatureFlagPatch)
  patch: FeatureFlagPatch;

  @Rule({ min: 1 })
  @Field(() => Int)
  expectedRevision: number;

  @Rule(REASON)
  @Field(() => String)
  reason: string;

  @Field(() => DateTime, { nullable: true, description: 'When it takes effect; null for at once.' })
  applyAt?: Date | null;
}

@InputType()
export class KillFeatureFlagInput {
  @Rule({ maxLength: 128 })
  @Field(() => String)
  key: string;

  @Rule(REASON)
  @Field(() => String)
  reason: string;
}

@InputType()
export class UnkillFeatureFlagInput extends KillFeatureFlagInput {}

@InputType()
export class ArchiveFeatureFlagInput extends KillFeatureFlagInput {}

@InputType()
export class RejectFlagChangeInput {
  @Field(() => ID)
  id: string;

  @Rule(REASON)
  @Field(() => String, { nullable: true })
  reason?: string | null;
}
