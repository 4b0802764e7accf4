import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';

@ArgsType()
export class InboundReceiptsArgs extends PageArgs {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  source?: string | null;

  @Rule({ maxLength: 200 })
  @Field(() => String, { nullable: true })
  topic?: string | null;

  @Rule({ maxLength: 128 })
  @Field(() => String, { nullable: true })
  externalId?: string | null;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;
}

@InputType()
export class ReplayInboundReceiptInput {
  @Field(() => ID)
  id: string;
}
