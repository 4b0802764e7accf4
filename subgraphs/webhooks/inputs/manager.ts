import { Field, ID, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';

@InputType()
export class SetWebhookManagerInput {
  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => ID, { description: 'A machine client.' })
  managerClientId: string;

  @Rule({ maxItems: 100, maxLength: 64 })
  @Field(() => [String], { description: 'Connect clients; empty: it sees nothing.' })
  clientIds: string[];
}

@InputType()
export class DeleteWebhookManagerInput {
  @Field(() => ID)
  managerClientId: string;
}
