import { ArgsType, Field } from 'type-graphql';
import { PageArgs } from '../../../runtime/page.js';
import { Rule } from '../../../runtime/rule.js';

@ArgsType()
export class WebhookDisclosuresArgs extends PageArgs {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Only what this app received.' })
  clientId?: string | null;
}
