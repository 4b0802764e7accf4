import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL, SECRET } from '../../../runtime/data/safe-views.js';
import { CountryCode, CurrencyCode, DateTime, Locale, Money, PostalAddress } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import { VIEWERS } from './access.js';
import { CartCheckoutStatus, CartProblemCode, CartPromoKind, CartPromoReason, CartStatus } from './enums.js';
import { Order } from './order.js';
import { Cadence, Product, ProductVariant } from './product.js';

/** Where to and to whom, as it was given; never follows the address book. */
export interface PersonalData {
  shippingAddress: PostalAddress | null;
  billingAddress: PostalAddress | null;
  recipientName: string | null;
  phone: string | null;
}

/** A problem that a merge has left, shown until the cart changes. */
export interface CartNote {
  code: CartProblemCode;
  itemId: string | null;
  message: string;
}

@ObjectType({ description: 'What keeps from checking out, or should be known before.' })
export class CartProblem {
  @Field(() => CartProblemCode)
  code: CartProblemCode;

  @Field(() => ID, { nullable: true })
  itemId: string | null;

  @Field(() => Boolean, { description: 'Whether it keeps from checking out.' })
  blocking: boolean;

  @Field(() => String)
  message: string;

  @Field(() => String, { nullable: true })
  expected: string | null;

  @Field(() => String, { nullable: true })
  actual: string | null;
}

@ObjectType({ description: 'A line of a cart: one for each variant and cadence.' })
export class CartItem {
  @Field(() => ID)
  id: string;

  @Field(() => Product)
  product: Product;

  @Field(() => ProductVariant)
  variant: ProductVariant;

  @Field(() => Int)
  quantity: number;

  @Field(() => Money, { nullable: true, description: 'Of now; null: it is not sold here any more.' })
  unitPrice: Money | null;

  @Field(() => Money, { nullable: true })
  compareAt: Money | null;

  @Field(() => Money)
  unitPriceWhenAdded: Money;

  @Field(() => Money)
  subtotal: Money;

  @Field(() => Money)
  discount: Money;

  @Field(() => Money)
  tax: Money;

  @Field(() => Money)
  total: Money;

  @Field(() => Cadence, { nullable: true, description: 'Null: bought once.' })
  cadence: Cadence | null;

  @Field(() => Int, { description: 'Units that are held for it.' })
  reserved: number;

  @Field(() => [CartProblem])
  problems: CartProblem[];
}

@ObjectType({ description: 'A way in which it can be shipped.' })
export class ShippingOption {
  @Field(() => String)
  code: string;

  @Field(() => String)
  name: string;

  @Field(() => Money)
  amount: Money;

  @Field(() => Int)
  minDays: number;

  @Field(() => Int)
  maxDays: number;
}

@ObjectType()
export class CartTotals {
  @Field(() => Money)
  subtotal: Money;

  @Field(() => Money)
  discount: Money;

  @Field(() => Money)
  shipping: Money;

  @Field(() => Money)
  tax: Money;

  @Field(() => Money)
  total: Money;

  @Field(() => Boolean, { description: 'Whether the prices hold the tax.' })
  taxIncluded: boolean;

  @Field(() => Boolean, { description: 'Tax or discount may still change at checkout.' })
  estimated: boolean;
}

/** What somebody wants to buy; while ACTIVE it stores no totals: every read prices it anew. Source: commerce 2. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'What somebody wants to buy, priced as of now.' })
@Entity({ tableName: 'cart' })
export class Cart {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID, { nullable: true, description: 'Null: a guest cart.' })
  @Property({ type: 'uuid', nullable: true, comment: PERSONAL })
  userId: string | null = null;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => CurrencyCode)
  @Property({ type: 'character', length: 3 })
  currency: string;

  @Field(() => CountryCode)
  @Property({ type: 'text' })
  country: string;

  @Field(() => Locale)
  @Property({ type: 'text' })
  locale: string;

  @Field(() => CartStatus)
  @Enum({ items: () => CartStatus })
  status: CartStatus = CartStatus.ACTIVE;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  promoCode: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  affiliateCode: string | null = null;

  @Property({ type: 'blob', nullable: true, comment: PERSONAL })
  personal: Buffer | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  shippingMethodCode: string | null = null;

  @Property({ type: 'blob', nullable: true, comment: SECRET })
  guestTokenHash: Buffer | null = null;

  @Property({ type: 'uuid', nullable: true })
  orderId: string | null = null;

  @Property({ type: 'json' })
  notes: CartNote[] = [];

  @Property({ type: 'json', nullable: true })
  mergeCounts: Record<string, unknown> | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Field(() => DateTime, { description: '30 days after the last change.' })
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => User, { nullable: true })
  get user(): User | null {
    return this.userId === null ? null : { id: this.userId };
  }
}

@ObjectType({ description: 'A cart that was found, made or merged into.' })
export class CartCreation {
  @Field(() => ID, { description: 'Of the cart.' })
  id: string;

  @Field(() => Cart)
  cart: Cart;

  @Field(() => String, { nullable: true, description: 'Of a new guest cart; shown once.' })
  guestToken: string | null;

  @Field(() => Boolean, { description: 'Whether a guest cart went into it just now.' })
  merged: boolean;
}

@ObjectType({ description: 'Where the buyer has to go on.' })
export class CheckoutNextAction {
  @Field(() => String)
  type: string;

  @Field(() => String)
  url: string;

  @Field(() => DateTime, { nullable: true })
  expiresAt: Date | null;
}

@ObjectType({ description: "What payments says of the order's checkout." })
export class CartCheckoutSession {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  status: string;

  @Field(() => String, { nullable: true, description: 'Page on which the payment is made.' })
  url: string | null;

  @Field(() => CheckoutNextAction, { nullable: true })
  nextAction: CheckoutNextAction | null;
}

@ObjectType({ description: 'What became of a checkout.' })
export class CartCheckout {
  @Field(() => CartCheckoutStatus)
  status: CartCheckoutStatus;

  @Field(() => Cart)
  cart: Cart;

  @Field(() => Order)
  order: Order;

  @Field(() => CartCheckoutSession, { nullable: true, description: 'Null: nothing had to be paid.' })
  checkoutSession: CartCheckoutSession | null;
}

@ObjectType({ description: 'What a code takes off a variant.' })
export class CartPromoAllocation {
  @Field(() => ID)
  variantId: string;

  @Field(() => Money)
  amount: Money;
}

@ObjectType({ description: 'What a code would do; nothing is reserved.' })
export class CartPromoValidation {
  @Field(() => Boolean)
  valid: boolean;

  @Field(() => String)
  code: string;

  @Field(() => CartPromoReason, { nullable: true })
  reason: CartPromoReason | null;

  @Field(() => CartPromoKind, { nullable: true })
  kind: CartPromoKind | null;

  @Field(() => Money)
  discount: Money;

  @Field(() => [CartPromoAllocation])
  allocations: CartPromoAllocation[];

  @Field(() => Money)
  newTotal: Money;
}
