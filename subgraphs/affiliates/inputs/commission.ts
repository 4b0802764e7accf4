import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { CommissionReversalCause, CommissionStatus } from '../entities/enums.js';

@ArgsType()
export class MyCommissionsArgs extends PageArgs {
  @Field(() => CommissionStatus, { nullable: true })
  status?: CommissionStatus | null;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Exclusive.' })
  to?: Date | null;
}

@ArgsType()
export class CommissionsArgs extends MyCommissionsArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  affiliateId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Checkout, invoice or order that they were earned by.' })
  obligationId?: string | null;
}

@InputType()
export class ReverseCommissionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ min: 1 })
  @Field(() => SafeInt, { nullable: true, description: 'Minor units; default: all that is left.' })
  amount?: number | null;

  @Field(() => CommissionReversalCause, { defaultValue: CommissionReversalCause.STAFF, description: 'STAFF or FRAUD.' })
  cause: CommissionReversalCause = CommissionReversalCause.STAFF;

  @Rule({ maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String)
  reason: string;
}

@ArgsType()
export class PostDueCommissionsArgs {
  @Field(() => DateTime, { nullable: true, description: 'Default: now; not later.' })
  asOf?: Date | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Only tells what would be posted.' })
  dryRun: boolean = false;
}

@InputType()
export class RunAffiliatePayoutsInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: all programs.' })
  programId?: string | null;
}
