import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { CountryCode, CurrencyCode, Locale, MoneyInput, PhoneNumber } from '../../../runtime/schema/scalars.js';
import { CadenceUnit, CartItemMode } from '../entities/enums.js';
import { CommerceAddressInput } from './postal-address.js';

const TOKEN = '^[A-Za-z0-9_-]{43}$';
const SKU = '^[A-Za-z0-9._-]{1,64}$';
export const REF_CODE = '^[A-Za-z0-9_-]{1,64}$';
const PROMO = { minLength: 1, maxLength: 64 } as const;
const METHOD = { pattern: '^[a-z0-9_-]{1,40}$' } as const;
const TOKEN_FIELD = { nullable: true, description: 'Of a guest cart; in REST the header X-Platform-Cart-Token.' } as const;

@InputType()
export class CadenceInput {
  @Field(() => CadenceUnit)
  unit: CadenceUnit;

  @Rule({ min: 1, max: 26 })
  @Field(() => Int)
  count: number;
}

@InputType()
export class CartLineInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  variantId: string;

  @Rule({ min: 1, max: 999 })
  @Field(() => Int, { defaultValue: 1 })
  quantity: number = 1;
}

@InputType()
export class CreateCartInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'For services: without it a guest cart is made.' })
  userId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "Default: the token's brand, else the default brand." })
  brandId?: string | null;

  @Field(() => CurrencyCode, { nullable: true, description: "Default: the brand's." })
  currency?: string | null;

  @Field(() => CountryCode, { nullable: true, description: "Default: the brand's first." })
  country?: string | null;

  @Field(() => Locale, { nullable: true })
  locale?: string | null;

  @Rule({ pattern: REF_CODE })
  @Field(() => String, { nullable: true })
  affiliateCode?: string | null;

  @Rule({ maxItems: 100 })
  @Field(() => [CartLineInput], { nullable: true })
  items?: CartLineInput[] | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Guest cart that goes into the cart of the user.' })
  guestCartId?: string | null;

  @Rule({ pattern: TOKEN })
  @Field(() => String, { nullable: true })
  guestToken?: string | null;
}

@ArgsType()
export class CartArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ pattern: TOKEN })
  @Field(() => String, TOKEN_FIELD)
  guestToken?: string | null;
}

@InputType({ description: 'Exactly one of variantId and sku.' })
export class SetCartItemInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'The cart.' })
  id: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  variantId?: string | null;

  @Rule({ pattern: SKU })
  @Field(() => String, { nullable: true })
  sku?: string | null;

  @Rule({ min: 0, max: 999 })
  @Field(() => Int)
  quantity: number;

  @Field(() => CartItemMode, { defaultValue: CartItemMode.ADD, description: 'SET to 0 removes the line.' })
  mode: CartItemMode = CartItemMode.ADD;

  @Field(() => CadenceInput, { nullable: true, description: 'An offer of the product.' })
  cadence?: CadenceInput | null;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;

  @Rule({ pattern: TOKEN })
  @Field(() => String, TOKEN_FIELD)
  guestToken?: string | null;
}

@InputType()
export class RemoveCartItemInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'The cart.' })
  id: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  itemId: string;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;

  @Rule({ pattern: TOKEN })
  @Field(() => String, TOKEN_FIELD)
  guestToken?: string | null;
}

@InputType()
export class ClearCartInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'The cart.' })
  id: string;

  @Rule({ pattern: TOKEN })
  @Field(() => String, TOKEN_FIELD)
  guestToken?: string | null;
}

@InputType({ description: 'What is left out stays as it is; null removes it.' })
export class UpdateCartInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'The cart.' })
  id: string;

  @Rule(PROMO)
  @Field(() => String, { nullable: true })
  promoCode?: string | null;

  @Rule({ pattern: REF_CODE })
  @Field(() => String, { nullable: true })
  affiliateCode?: string | null;

  @Field(() => CountryCode, { nullable: true })
  country?: string | null;

  @Field(() => CommerceAddressInput, { nullable: true })
  shippingAddress?: CommerceAddressInput | null;

  @Field(() => CommerceAddressInput, { nullable: true })
  billingAddress?: CommerceAddressInput | null;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  recipientName?: string | null;

  @Field(() => PhoneNumber, { nullable: true })
  phone?: string | null;

  @Rule(METHOD)
  @Field(() => String, { nullable: true })
  shippingMethodCode?: string | null;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;

  @Rule({ pattern: TOKEN })
  @Field(() => String, TOKEN_FIELD)
  guestToken?: string | null;
}

@InputType()
export class CheckoutCartInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'The cart.' })
  id: string;

  @Field(() => CommerceAddressInput, { nullable: true, description: 'With recipientName; or addressId.' })
  shippingAddress?: CommerceAddressInput | null;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  recipientName?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "Of the buyer's address book." })
  addressId?: string | null;

  @Field(() => CommerceAddressInput, { nullable: true, description: 'Default: the shipping address.' })
  billingAddress?: CommerceAddressInput | null;

  @Field(() => PhoneNumber, { nullable: true })
  phone?: string | null;

  @Rule(METHOD)
  @Field(() => String, { nullable: true, description: 'Default: the cheapest.' })
  shippingMethodCode?: string | null;

  @Rule(PROMO)
  @Field(() => String, { nullable: true, description: "In the place of the cart's." })
  promoCode?: string | null;

  @Field(() => Boolean, { defaultValue: false, description: "Takes the buyer's cash before the card." })
  useCash: boolean = false;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Without one the payment is made on the page of the session.' })
  paymentMethodId?: string | null;

  @Rule({ maxLength: 2048 })
  @Field(() => String, { nullable: true, description: "On one of the brand's domains." })
  returnUrl?: string | null;

  @Rule({ maxLength: 2048 })
  @Field(() => String, { nullable: true, description: 'As returnUrl.' })
  cancelUrl?: string | null;

  @Field(() => MoneyInput, { nullable: true, description: 'What the buyer has seen; another total is a conflict.' })
  expectedTotal?: MoneyInput | null;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;
}

@InputType({ description: 'Exactly one of cartId and items.' })
export class ValidateCartPromoInput {
  @Rule(PROMO)
  @Field(() => String)
  code: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  cartId?: string | null;

  @Rule({ minItems: 1, maxItems: 100 })
  @Field(() => [CartLineInput], { nullable: true })
  items?: CartLineInput[] | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Rule({ pattern: TOKEN })
  @Field(() => String, TOKEN_FIELD)
  guestToken?: string | null;
}
