import { Field, ID, InputType, Int } from 'type-graphql';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { JSONObject, MoneyInput } from '../../../runtime/schema/scalars.js';
import { CaptureMethod, CheckoutMode } from '../entities/enums-payment.js';
import { METHOD_TOKEN } from './payment-method.js';

@InputType()
export class CheckoutItemInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  priceId: string;

  @Rule({ min: 1, max: 999 })
  @Field(() => Int, { defaultValue: 1, description: 'Of a subscription at most 100.' })
  quantity: number = 1;
}

@InputType({ description: 'What a service charges for, by its own type and id.' })
export class CheckoutReferenceInput {
  @Rule({ pattern: '^[a-z][a-z0-9_.]{0,63}$' })
  @Field(() => String)
  type: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;
}

@InputType({ description: 'Exactly one of items, orderId and amount.' })
export class CreateCheckoutInput {
  @Field(() => CheckoutMode)
  mode: CheckoutMode;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [CheckoutItemInput], { nullable: true, description: 'Of mode subscription exactly one recurring price.' })
  items?: CheckoutItemInput[] | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Amount and lines are those of the order. One session for each order.' })
  orderId?: string | null;

  @Field(() => MoneyInput, { nullable: true, description: 'For service tokens.' })
  amount?: MoneyInput | null;

  @Field(() => CheckoutReferenceInput, { nullable: true, description: 'With `amount`.' })
  reference?: CheckoutReferenceInput | null;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true, description: 'With `amount`; neutral, because invoices show it.' })
  description?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service tokens.' })
  userId?: string | null;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true })
  promoCode?: string | null;

  @Field(() => Boolean, { defaultValue: false, description: "Takes the user's cash before the card." })
  useCash: boolean = false;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'This or a token confirms at once; neither gives a page to pay on.' })
  paymentMethodId?: string | null;

  @Rule({ pattern: METHOD_TOKEN })
  @Field(() => String, { nullable: true })
  paymentMethodToken?: string | null;

  @Field(() => Boolean, { defaultValue: false, description: 'The customer is absent; for service tokens.' })
  offSession: boolean = false;

  @Rule({ maxLength: 2048 })
  @Field(() => String, { nullable: true, description: "Has an origin of the brand's or of the app's registered addresses." })
  returnUrl?: string | null;

  @Rule({ maxLength: 2048 })
  @Field(() => String, { nullable: true, description: 'As returnUrl.' })
  cancelUrl?: string | null;

  @Field(() => CaptureMethod, { defaultValue: CaptureMethod.AUTOMATIC })
  capture: CaptureMethod = CaptureMethod.AUTOMATIC;

  @Rule({ pattern: '^[A-Za-z0-9_-]{1,64}$' })
  @Field(() => String, { nullable: true })
  affiliateCode?: string | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true, description: 'At most 20 keys of at most 40 characters; texts of at most 500.' })
  metadata?: Record<string, unknown> | null;
}

@InputType({ description: 'One of the two methods, or neither for the default one.' })
export class ConfirmCheckoutInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  paymentMethodId?: string | null;

  @Rule({ pattern: METHOD_TOKEN })
  @Field(() => String, { nullable: true })
  paymentMethodToken?: string | null;
}
