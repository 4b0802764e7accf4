import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { DisputeReason, DisputeStatus } from '../entities/enums-operations.js';

@ArgsType()
export class DisputesArgs extends PageArgs {
  @Field(() => DisputeStatus, { nullable: true })
  status?: DisputeStatus | null;

  @Field(() => DisputeReason, { nullable: true })
  reason?: DisputeReason | null;

  @Field(() => DateTime, { nullable: true, description: 'Evidence is due before.' })
  dueBefore?: Date | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;
}

@InputType()
export class SubmitDisputeEvidenceInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => JSONObject, { description: "Texts by the processor's names of evidence; kept sealed, and sent once." })
  evidence: Record<string, unknown>;
}
