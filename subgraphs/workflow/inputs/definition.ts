import { Field, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';

@InputType()
export class SetWorkflowEnabledInput {
  @Rule({ maxLength: 64 })
  @Field(() => String)
  key: string;

  @Field(() => Boolean)
  enabled: boolean;
}
