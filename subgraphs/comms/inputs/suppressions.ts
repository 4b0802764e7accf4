import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { CommsChannel } from '../entities/enums.js';

@ArgsType()
export class CommsSuppressionsArgs extends PageArgs {
  @Field(() => CommsChannel, { nullable: true })
  channel?: CommsChannel | null;
}

@InputType()
export class CommsAddressInput {
  @Field(() => CommsChannel)
  channel: CommsChannel;

  @Rule({ minLength: 3, maxLength: 320 })
  @Field(() => String, { description: 'Is not stored.' })
  address: string;
}

@InputType()
export class AddCommsSuppressionInput extends CommsAddressInput {
  @Rule({ pattern: '^[a-z][a-z0-9_]{0,63}$' })
  @Field(() => String, { defaultValue: 'all', description: '`all`, `marketing` or the key of a topic.' })
  scope: string = 'all';

  @Field(() => DateTime, { nullable: true })
  expiresAt?: Date | null;
}

@InputType()
export class RemoveCommsSuppressionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 500 })
  @Field(() => String, { nullable: true, description: 'Required where somebody complained.' })
  reason?: string | null;
}
