import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { FLAG_KEY, VARIANT } from './patterns.js';

@InputType({ description: 'Attributes for the conditions of rules. A user token may set locale and appVersion only.' })
export class FlagAttributesInput {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2 code.' })
  country?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'BCP 47 tag.' })
  locale?: string | null;

  @Rule({ maxItems: 50, maxLength: 64 })
  @Field(() => [String], { nullable: true })
  role?: string[] | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  tier?: string | null;

  @Rule({ maxLength: 128 })
  @Field(() => String, { nullable: true, description: 'OAuth client id.' })
  client?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Semantic version, for example 2.10.0.' })
  appVersion?: string | null;
}

@InputType()
export class EvaluateFlagsInput {
  @Rule({ minItems: 1, maxItems: 100, maxLength: 128 })
  @Field(() => [String], { description: 'Every key is answered, unknown ones with an error code.' })
  keys: string[];

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "Default: the brand of the user token's app." })
  brandId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Of a user token only its own user.' })
  userId?: string | null;

  @Field(() => FlagAttributesInput, { nullable: true })
  attributes?: FlagAttributesInput | null;
}

@InputType()
export class FlagUsageInput {
  @Rule({ maxLength: 128, pattern: FLAG_KEY })
  @Field(() => String)
  flag: string;

  @Rule({ pattern: VARIANT })
  @Field(() => String, { nullable: true })
  variant?: string | null;

  @Rule({ pattern: '^[A-Z_]{1,32}$' })
  @Field(() => String, { description: 'Reason of the evaluations, in the terms of OpenFeature.' })
  reason: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Rule({ min: 1, max: 2_000_000_000 })
  @Field(() => Int)
  count: number;
}

@InputType({ description: 'Counts of evaluations; never users.' })
export class ReportFlagUsageInput {
  @Rule({ minItems: 1, maxItems: 1000 })
  @Field(() => [FlagUsageInput])
  counts: FlagUsageInput[];
}
