import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { JSONObject, SafeInt } from '../../../runtime/schema/scalars.js';
import { EntitlementUsageReset } from '../entities/enums.js';
import { MAX_ASKED } from './feature.js';

@InputType()
export class SetTierFeatureInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  tierId: string;

  @Rule({ maxLength: MAX_ASKED })
  @Field(() => String)
  key: string;

  @Field(() => JSONObject, { nullable: true, description: 'Of a config feature; of a boolean one false: not given.' })
  value?: unknown;

  @Rule({ min: 0 })
  @Field(() => SafeInt, { nullable: true, description: 'Of a metered feature; left out: no limit.' })
  limit?: number | null;

  @Field(() => Boolean, { defaultValue: false })
  softLimit: boolean = false;

  @Field(() => EntitlementUsageReset, { defaultValue: EntitlementUsageReset.NEVER })
  reset: EntitlementUsageReset = EntitlementUsageReset.NEVER;

  @Field(() => Boolean, { defaultValue: false })
  keepWhileSuspended: boolean = false;
}

@InputType({ description: 'Exactly one of the four.' })
export class InvalidateEntitlementsInput {
  @Rule({ minItems: 1, maxItems: 1000, pattern: UUID })
  @Field(() => [ID], { nullable: true })
  userIds?: string[] | null;

  @Rule({ maxLength: MAX_ASKED })
  @Field(() => String, { nullable: true })
  featureKey?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  tierId?: string | null;

  @Field(() => Boolean, { nullable: true })
  all?: boolean | null;
}

@InputType()
export class WarmEntitlementsInput {
  @Rule({ minItems: 1, maxItems: 100, pattern: UUID })
  @Field(() => [ID])
  userIds: string[];
}
