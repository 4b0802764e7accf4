import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';

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
