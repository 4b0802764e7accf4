import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID, NOT_BLANK } from '../../../runtime/schema/constraints.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { EntitlementFailMode, EntitlementFeatureKind, EntitlementUsageReset } from '../entities/enums.js';

const FEATURE_KEY = '^[a-z0-9_.-]{2,64}$';
/** Longest text that may be asked for as a key; one that no feature can have is unknown. */
export const MAX_ASKED = 128;

@ArgsType()
export class EntitlementFeaturesArgs extends PageArgs {
  @Field(() => Boolean, { defaultValue: false, description: 'Archived features instead of those in use.' })
  archived: boolean = false;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Features that this product unlocks.' })
  productId?: string | null;
}

@InputType()
export class CreateEntitlementFeatureInput {
  @Rule({ pattern: FEATURE_KEY })
  @Field(() => String)
  key: string;

  @Rule({ maxLength: 100, pattern: NOT_BLANK })
  @Field(() => String, { description: 'Without a diagnosis.' })
  name: string;

  @Field(() => EntitlementFeatureKind)
  kind: EntitlementFeatureKind;

  @Rule({ maxLength: 32, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  unit?: string | null;

  @Field(() => EntitlementFailMode, { defaultValue: EntitlementFailMode.CLOSED })
  failMode: EntitlementFailMode = EntitlementFailMode.CLOSED;

  @Field(() => JSONObject, { nullable: true, description: 'What everybody has: true, a value, or a limit, by kind.' })
  defaultValue?: unknown;

  @Field(() => EntitlementUsageReset, { defaultValue: EntitlementUsageReset.NEVER })
  usageReset: EntitlementUsageReset = EntitlementUsageReset.NEVER;

  @Field(() => Boolean, { defaultValue: false })
  softLimit: boolean = false;

  @Rule({ maxItems: 100, pattern: UUID })
  @Field(() => [ID])
  productIds: string[] = [];
}

@InputType({ description: 'What is left out stays as it is; the kind cannot be changed.' })
export class UpdateEntitlementFeatureInput {
  @Rule({ maxLength: MAX_ASKED })
  @Field(() => String)
  key: string;

  @Rule({ maxLength: 100, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Rule({ maxLength: 32, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  unit?: string | null;

  @Field(() => EntitlementFailMode, { nullable: true })
  failMode?: EntitlementFailMode | null;

  @Field(() => JSONObject, { nullable: true, description: 'Null: nobody has it by default.' })
  defaultValue?: unknown;

  @Field(() => EntitlementUsageReset, { nullable: true, description: 'Another period counts anew.' })
  usageReset?: EntitlementUsageReset | null;

  @Field(() => Boolean, { nullable: true })
  softLimit?: boolean | null;

  @Rule({ maxItems: 100, pattern: UUID })
  @Field(() => [ID], { nullable: true })
  productIds?: string[] | null;

  @Field(() => Int, { nullable: true, description: 'Refused if it is not the current one.' })
  version?: number | null;
}
