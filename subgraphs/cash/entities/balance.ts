import { Field, Int, ObjectType } from 'type-graphql';
import { CurrencyCode, DateTime, Money } from '../../../runtime/schema/scalars.js';
import { CashLot } from './lot.js';

@ObjectType({ description: 'Cash that ends at one instant.' })
export class CashExpiry {
  @Field(() => Money)
  amount: Money;

  @Field(() => DateTime)
  at: Date;
}

@ObjectType({ description: "A user's cash in one currency at the instant of reading." })
export class CashBalance {
  userId: string;

  @Field(() => CurrencyCode)
  currency: string;

  @Field(() => Money, { description: 'What can be spent now.' })
  available: Money;

  @Field(() => Money, { description: 'What checkouts hold.' })
  reserved: Money;

  @Field(() => Money, { description: 'Available and reserved.' })
  total: Money;

  @Field(() => CashExpiry, { nullable: true, description: 'What can be spent and ends first.' })
  expiringNext: CashExpiry | null;

  @Field(() => Int, { description: 'Grows with every change.' })
  version: number;
}

@ObjectType({ description: 'What a purchase would take, and what would be left to expire.' })
export class CashUsePreview {
  @Field(() => Money, { description: 'What the purchase would take now.' })
  amount: Money;

  @Field(() => [CashLot], { description: 'In the order of spending.' })
  lots: CashLot[];

  @Field(() => [CashExpiry], { description: 'What would expire unused in the next 30 days, soonest first.' })
  expiringUnused: CashExpiry[];
}

@ObjectType({ description: 'What a sweep has expired.' })
export class CashExpiryRun {
  @Field(() => Int)
  expiredGrants: number;

  @Field(() => [Money], { description: 'One for each currency.' })
  amount: Money[];
}
