import { Field, ID, ObjectType } from 'type-graphql';
import { EmailAddress } from '../../../runtime/schema/scalars.js';
import { Gift } from './gift.js';
import { BillingSubscription } from './subscription.js';

@ObjectType({ description: 'What came of a code.' })
export class GiftRedemption {
  @Field(() => Gift)
  gift: Gift;

  @Field(() => BillingSubscription, { nullable: true, description: 'Of a membership.' })
  subscription: BillingSubscription | null;

  @Field(() => ID, { nullable: true, description: 'Of credit: the grant of the cash service.' })
  cashGrantId: string | null;
}

/** For the message that brings a gift; never stored anywhere else. Source: payments 4.2. */
@ObjectType({ description: 'For the message that brings a gift.' })
export class GiftDelivery {
  @Field(() => EmailAddress)
  email: string;

  @Field(() => String, { nullable: true })
  name: string | null;

  @Field(() => String)
  code: string;

  @Field(() => String, { nullable: true })
  message: string | null;
}
