import { Field, ObjectType } from 'type-graphql';
import { DateTime, Money, Url } from '../../../runtime/schema/scalars.js';
import { DeclineCategory, PaymentNextActionType } from './enums-payment.js';

@ObjectType({ description: 'What a purchase costs and what pays it: subtotal - discount + tax + shipping - cash - credit = total.' })
export class CheckoutAmounts {
  @Field(() => Money)
  subtotal: Money;

  @Field(() => Money)
  discount: Money;

  @Field(() => Money)
  tax: Money;

  @Field(() => Money)
  shipping: Money;

  @Field(() => Money)
  cashApplied: Money;

  @Field(() => Money)
  creditApplied: Money;

  @Field(() => Money, { description: 'What the card pays.' })
  total: Money;
}

@ObjectType({ description: 'What the customer has to do before the payment can go on.' })
export class PaymentNextAction {
  @Field(() => PaymentNextActionType)
  type: PaymentNextActionType;

  @Field(() => Url, { nullable: true })
  url: string | null;

  @Field(() => DateTime, { nullable: true })
  expiresAt: Date | null;
}

@ObjectType({ description: 'Why the last attempt failed.' })
export class PaymentError {
  @Field(() => String)
  code: string;

  @Field(() => String, { nullable: true })
  declineCode: string | null;

  @Field(() => DeclineCategory)
  category: DeclineCategory;

  @Field(() => String, { description: 'For the customer.' })
  message: string;

  @Field(() => Boolean, { description: 'Another attempt may succeed.' })
  retryable: boolean;
}

/** A redirect that a row waits for; null where it waits for none. */
export const redirectTo = (url: string | null, expiresAt: Date | null): PaymentNextAction | null =>
  url === null ? null : { type: PaymentNextActionType.REDIRECT_TO_URL, url, expiresAt };

/** Amounts in minor units, as rows with a `currency` have them. */
interface AmountColumns {
  currency: string;
  subtotalMinor: number;
  discountMinor: number;
  taxMinor: number;
  shippingMinor: number;
  cashAppliedMinor: number;
  creditAppliedMinor: number;
  totalMinor: number;
}

/** Amounts of a row as they are shown. */
export function amountsOf(row: AmountColumns): CheckoutAmounts {
  const money = (amount: number): Money => ({ amount, currency: row.currency });
  return {
    subtotal: money(row.subtotalMinor),
    discount: money(row.discountMinor),
    tax: money(row.taxMinor),
    shipping: money(row.shippingMinor),
    cashApplied: money(row.cashAppliedMinor),
    creditApplied: money(row.creditAppliedMinor),
    total: money(row.totalMinor),
  };
}
