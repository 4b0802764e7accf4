import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { ReferralStage } from '../entities/enums.js';

@InputType({ description: 'A token of a click, or a code.' })
export class ClaimAttributionInput {
  @Rule({ maxLength: 2_000 })
  @Field(() => String, { nullable: true })
  token?: string | null;

  @Rule({ maxLength: 100 })
  @Field(() => String, { nullable: true })
  code?: string | null;
}

@InputType()
export class AttributeCustomerInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  affiliateId: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'The customer.' })
  userId: string;
}

@ArgsType()
export class MyReferredCustomersArgs extends PageArgs {
  @Field(() => ReferralStage, { nullable: true })
  stage?: ReferralStage | null;
}
