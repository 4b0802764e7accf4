import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID, NOT_BLANK } from '../../../runtime/schema/constraints.js';
import { SafeInt } from '../../../runtime/schema/scalars.js';
import { MAX_ASKED } from './feature.js';

/** Most that one use may count, so that sums stay far below 2^53. */
const MAX_AMOUNT = 1_000_000_000;

@InputType()
export class CheckEntitlementsInput {
  @Rule({ minItems: 1, maxItems: 100, pattern: UUID })
  @Field(() => [ID])
  userIds: string[];

  @Rule({ minItems: 1, maxItems: 50, maxLength: MAX_ASKED })
  @Field(() => [String], { description: 'Each is answered, one that is no feature as unknown.' })
  keys: string[];
}

@InputType()
export class ConsumeEntitlementInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Rule({ maxLength: MAX_ASKED })
  @Field(() => String)
  key: string;

  @Rule({ min: 1, max: MAX_AMOUNT })
  @Field(() => SafeInt, { defaultValue: 1 })
  amount: number = 1;

  @Rule({ maxLength: 255, pattern: NOT_BLANK })
  @Field(() => String, { description: 'Names this use: again it counts nothing. Kept for the period of the counter.' })
  idempotencyKey: string;
}

@InputType()
export class ReturnEntitlementInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Rule({ maxLength: MAX_ASKED })
  @Field(() => String)
  key: string;

  @Rule({ maxLength: 255, pattern: NOT_BLANK })
  @Field(() => String, { description: 'Of the use that is taken back.' })
  idempotencyKey: string;
}
