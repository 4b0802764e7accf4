import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';

/** A token of the processor; digits of a card are none, so that none get here. */
export const METHOD_TOKEN = '^(?!\\d+$)[A-Za-z0-9_-]{3,255}$';

@InputType()
export class AttachPaymentMethodInput {
  @Rule({ pattern: METHOD_TOKEN })
  @Field(() => String, { description: 'From the fields of the processor in the app.' })
  token: string;

  @Field(() => Boolean, { defaultValue: false, description: 'The first method is the default anyway.' })
  default: boolean = false;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service tokens.' })
  userId?: string | null;
}
