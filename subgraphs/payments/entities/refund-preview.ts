import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { SERVICES_ONLY } from './access.js';

/** What a refund would do; nothing is written. Source: payments 9.2. */
@Access(SERVICES_ONLY)
@ObjectType({ description: 'What a refund would do.' })
export class RefundPreview {
  @Field(() => Money, { description: 'To the card.' })
  amount: Money;

  @Field(() => Money)
  cashReturned: Money;

  @Field(() => Money)
  creditReturned: Money;

  @Field(() => Money, { description: 'Tax in what goes back.' })
  tax: Money;

  @Field(() => Boolean, { description: 'Nothing of the obligation would be kept: a gift dies, and what depends on it ends.' })
  isFull: boolean;

  @Field(() => ID, { nullable: true, description: 'Subscription that was paid with it; it goes on until it is cancelled.' })
  subscriptionId: string | null;

  @Field(() => String, { description: 'Binds a refund within ten minutes to this.' })
  token: string;

  @Field(() => DateTime)
  expiresAt: Date;
}
