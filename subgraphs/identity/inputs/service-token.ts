import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';

@InputType({ description: 'A token for a machine client, for some of its scopes.' })
export class IssueServiceTokenInput {
  @Field(() => ID)
  clientId: string;

  @Rule({ minLength: 1, maxLength: 80 })
  @Field(() => String)
  name: string;

  @Rule({ minItems: 1, maxItems: 30, maxLength: 64 })
  @Field(() => [String])
  scopes: string[];

  @Rule({ min: 300, max: 31_536_000 })
  @Field(() => Int, { description: 'Seconds.' })
  expiresIn: number;
}
