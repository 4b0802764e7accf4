import { ArgsType, Field } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';

@ArgsType()
export class WebhookEventTypesArgs extends PageArgs {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Says what this client may subscribe to; needs admin:webhooks.' })
  clientId?: string | null;

  @Field(() => String, { nullable: true })
  scope?: string | null;

  @Rule({ maxLength: 100 })
  @Field(() => String, { nullable: true, description: 'Part of the name or description.' })
  q?: string | null;
}
