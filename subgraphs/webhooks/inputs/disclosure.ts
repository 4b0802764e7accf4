import { ArgsType, Field } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';

@ArgsType()
export class WebhookDisclosuresArgs extends PageArgs {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Only what this app received.' })
  clientId?: string | null;
}
