import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Money } from '../../../runtime/schema/scalars.js';
import { PromoDuration, PromoHoldStatus, PromoKind, PromoRefusal } from './enums-offers.js';
import { CheckoutAmounts } from './money.js';
import { PromoAllocation } from './promo.js';

@ObjectType({ description: 'What a good code promises.' })
export class PromoOffer {
  @Field(() => PromoKind)
  kind: PromoKind;

  @Field(() => Int, { nullable: true, description: 'Of 10000.' })
  percentBps: number | null;

  @Field(() => Money, { nullable: true })
  amountOff: Money | null;

  @Field(() => Int, { nullable: true })
  trialDays: number | null;

  @Field(() => PromoDuration)
  duration: PromoDuration;

  @Field(() => Int, { nullable: true })
  durationPeriods: number | null;
}

/** What a code would do. Nothing is reserved. Source: payments 4.3. */
@ObjectType({ description: 'What a code would do; nothing is reserved.' })
export class PromoValidation {
  @Field(() => Boolean)
  valid: boolean;

  @Field(() => String, { description: 'In capitals.' })
  code: string;

  @Field(() => PromoRefusal, { nullable: true, description: 'Why it is refused.' })
  reason: PromoRefusal | null;

  @Field(() => PromoOffer, { nullable: true })
  promo: PromoOffer | null;

  @Field(() => CheckoutAmounts, { nullable: true, description: 'Before tax, shipping, cash and credit, which the checkout adds.' })
  amounts: CheckoutAmounts | null;

  @Field(() => [PromoAllocation], { description: 'Sum to the discount.' })
  allocations: PromoAllocation[];
}

/** A code that an order of commerce holds. Source: payments 4.2. */
@ObjectType({ description: 'A code that an order holds.' })
export class PromoHold {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  code: string;

  @Field(() => ID)
  orderId: string;

  @Field(() => PromoHoldStatus)
  status: PromoHoldStatus;

  @Field(() => Money)
  discount: Money;

  @Field(() => [PromoAllocation], { description: 'Sum to the discount.' })
  allocations: PromoAllocation[];
}
