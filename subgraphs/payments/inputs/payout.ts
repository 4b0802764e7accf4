import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { MoneyInput } from '../../../runtime/schema/scalars.js';
import { PayoutStatus } from '../entities/enums-operations.js';

@ArgsType()
export class PayoutsArgs extends PageArgs {
  @Field(() => PayoutStatus, { nullable: true })
  status?: PayoutStatus | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;
}

@InputType()
export class CreatePayoutInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Field(() => MoneyInput)
  amount: MoneyInput;

  @Rule({ pattern: '^[A-Za-z0-9:._-]{1,100}$' })
  @Field(() => String, { description: "The caller's own name of the payout; a repeat answers with the first one." })
  reference: string;
}

@InputType()
export class SetPayoutDestinationInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service tokens.' })
  userId?: string | null;

  @Rule({ pattern: '^[A-Za-z]{1,8}_[A-Za-z0-9_]{1,100}$' })
  @Field(() => String, { description: 'Token of the processor; an account number is none.' })
  token: string;
}
