import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { ErasureRequestScope, ErasureRequestStatus, ErasureTaskOutcome } from '../entities/erasure.js';
import { FILLED_LINE } from './text.js';

@InputType({ description: 'A request that data be erased.' })
export class RequestErasureInput {
  @Field(() => ID, { nullable: true, description: 'Required for a service token.' })
  userId?: string | null;

  @Field(() => ErasureRequestScope, { defaultValue: ErasureRequestScope.FULL })
  scope: ErasureRequestScope = ErasureRequestScope.FULL;

  @Rule({ maxLength: 500, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true })
  reason?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Without the 72 hours; services and staff only.' })
  immediate?: boolean | null;
}

@InputType({ description: 'What a service did about an erasure.' })
export class ErasureConfirmationInput {
  @Rule({ maxLength: 40 })
  @Field(() => String, { description: 'Slug.' })
  service: string;

  @Field(() => ErasureTaskOutcome)
  outcome: ErasureTaskOutcome;

  @Rule({ min: 0 })
  @Field(() => Int, { nullable: true })
  records?: number | null;

  @Rule({ maxLength: 300, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true, description: 'Law or contract; required for RETAINED.' })
  retainedBasis?: string | null;
}

@InputType({ description: 'One step of a request: a new status, or confirmations.' })
export class UpdateErasureRequestInput {
  @Field(() => ID)
  id: string;

  @Field(() => Int, { nullable: true, description: 'The version that the change is based on.' })
  version?: number | null;

  @Field(() => ErasureRequestStatus, { nullable: true })
  status?: ErasureRequestStatus | null;

  @Rule({ maxLength: 500, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true, description: 'Required for ON_HOLD.' })
  holdReason?: string | null;

  @Rule({ maxLength: 500, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true, description: 'Required for REJECTED.' })
  reason?: string | null;

  @Rule({ minItems: 1, maxItems: 28 })
  @Field(() => [ErasureConfirmationInput], { nullable: true })
  confirmations?: ErasureConfirmationInput[] | null;
}
