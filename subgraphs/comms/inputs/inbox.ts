import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { CommsInboxAction, CommsInboxItemStatus } from '../entities/enums.js';

const CODE = '^[a-z][a-z0-9_]{0,63}$';

@ArgsType()
export class CommsInboxArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service tokens.' })
  userId?: string | null;

  @Field(() => CommsInboxItemStatus, { nullable: true, description: 'Default: all but archived.' })
  status?: CommsInboxItemStatus | null;

  @Rule({ pattern: CODE })
  @Field(() => String, { nullable: true })
  topic?: string | null;
}

@InputType()
export class UpdateCommsInboxItemInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => CommsInboxAction)
  action: CommsInboxAction;
}

@InputType()
export class MarkCommsInboxInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'Items that are newer stay as they are.' })
  upTo: string;

  @Rule({ pattern: CODE })
  @Field(() => String, { nullable: true })
  topic?: string | null;

  @Field(() => CommsInboxItemStatus, { description: 'SEEN or READ.' })
  as: CommsInboxItemStatus;
}
