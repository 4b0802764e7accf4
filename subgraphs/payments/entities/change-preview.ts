import { Field, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { VIEWERS } from './access.js';
import { InvoicePreview } from './billing-views.js';

/** What a change would do, reckoned as the change itself. Source: payments 9.2. */
@Access(VIEWERS)
@ObjectType({ description: 'What a change would do. With its token the change is made exactly so within ten minutes, or not at all.' })
export class SubscriptionChangePreview {
  @Field(() => String)
  token: string;

  @Field(() => DateTime, { description: 'Until when the token binds.' })
  expiresAt: Date;

  @Field(() => DateTime)
  effectiveAt: Date;

  @Field(() => String, { nullable: true, description: 'upgrade or downgrade; null where nothing changes, or it ends.' })
  direction: string | null;

  @Field(() => InvoicePreview, { nullable: true, description: 'What is charged for the change itself.' })
  invoice: InvoicePreview | null;

  @Field(() => Money, { description: 'What goes to the credit of the customer.' })
  toCredit: Money;

  @Field(() => String, { nullable: true })
  fromTier: string | null;

  @Field(() => String, { nullable: true, description: 'Null: none after it.' })
  toTier: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When access ends, where it does.' })
  accessEndsAt: Date | null;
}
