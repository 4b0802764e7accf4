import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID, NOT_BLANK } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject, SafeInt } from '../../../runtime/schema/scalars.js';
import { EntitlementOverrideState, EntitlementSource } from '../entities/enums.js';
import { MAX_ASKED } from './feature.js';

@ArgsType()
export class EntitlementOverridesArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Rule({ maxLength: MAX_ASKED })
  @Field(() => String, { nullable: true })
  featureKey?: string | null;

  @Rule({ maxLength: 200 })
  @Field(() => String, { nullable: true })
  reference?: string | null;

  @Field(() => EntitlementOverrideState, { nullable: true })
  state?: EntitlementOverrideState | null;
}

@InputType()
export class CreateEntitlementOverrideInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Rule({ maxLength: MAX_ASKED })
  @Field(() => String)
  featureKey: string;

  @Field(() => Boolean)
  allow: boolean;

  @Field(() => JSONObject, { nullable: true, description: 'Of a config feature.' })
  value?: unknown;

  @Rule({ min: 0 })
  @Field(() => SafeInt, { nullable: true, description: 'Of a metered feature; left out: no limit.' })
  limit?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  startsAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: never.' })
  endsAt?: Date | null;

  @Field(() => EntitlementSource, { defaultValue: EntitlementSource.OVERRIDE, description: 'OVERRIDE, or PURCHASE of a service.' })
  source: EntitlementSource = EntitlementSource.OVERRIDE;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true, description: 'What it goes back to; a purchase is made once for each.' })
  reference?: string | null;

  @Rule({ maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String)
  reason: string;
}
