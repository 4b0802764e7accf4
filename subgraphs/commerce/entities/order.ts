import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { CountryCode, CurrencyCode, DateTime, Money } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import { ORDERS } from './access.js';
import { FulfillmentStatus, OrderAdjustmentKind, OrderCancelReason, OrderPaymentStatus, OrderSource, OrderStatus } from './enums.js';
import { OrderAdjustment, OrderTaxLine, OrderTotals } from './order-parts.js';

/** A discount as it is stored: units of the order's currency. */
export interface StoredAdjustment {
  kind: OrderAdjustmentKind;
  promoCode: string | null;
  amount: number;
  allocations: { itemId: string; amount: number }[];
}

export interface StoredTaxLine {
  jurisdiction: string;
  name: string;
  ratePpm: number;
  amount: number;
}

/** How the order is paid: what a repeat needs to go on with the same session. */
export interface PaymentIntent {
  paymentMethodId?: string | null;
  useCash?: boolean;
  returnUrl?: string | null;
  cancelUrl?: string | null;
  offSession?: boolean;
  /** Of the brand: what comes again is ordered in the morning there. */
  timeZone?: string;
}

const moneyOf = ({ currency }: { currency: string }, amount: number): Money => ({ amount, currency });

/** What was bought. Source: commerce 2 and 3. */
@Access(ORDERS)
@Directive('@key(fields: "id")')
@Directive('@key(fields: "number")')
@ObjectType({ description: 'What was bought, as it was then.' })
@Entity({ tableName: 'shop_order' })
export class Order {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { description: 'Slug of the brand and eight digits.' })
  @Property({ type: 'text' })
  number: string;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true, comment: PERSONAL })
  userId: string | null = null;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  cartId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  subscriptionId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  scheduledOrderId: string | null = null;

  @Field(() => OrderSource)
  @Enum({ items: () => OrderSource })
  source: OrderSource;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  channel: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  externalId: string | null = null;

  @Field(() => OrderStatus)
  @Enum({ items: () => OrderStatus })
  status: OrderStatus = OrderStatus.PENDING_PAYMENT;

  @Field(() => OrderPaymentStatus)
  @Enum({ items: () => OrderPaymentStatus })
  paymentStatus: OrderPaymentStatus = OrderPaymentStatus.PENDING;

  @Field(() => FulfillmentStatus)
  @Enum({ items: () => FulfillmentStatus })
  fulfillmentStatus: FulfillmentStatus = FulfillmentStatus.UNFULFILLED;

  @Field(() => CurrencyCode)
  @Property({ type: 'character', length: 3 })
  currency: string;

  @Property({ type: new BigIntType('number') })
  subtotal: number;

  @Property({ type: new BigIntType('number') })
  discount: number;

  @Property({ type: new BigIntType('number') })
  shipping: number;

  @Property({ type: new BigIntType('number') })
  tax: number;

  @Property({ type: new BigIntType('number') })
  total: number;

  @Property({ type: 'boolean' })
  taxIncluded: boolean = false;

  @Property({ type: new BigIntType('number') })
  refunded: number = 0;

  /** What has been paid: card, cash and credit. */
  @Property({ type: new BigIntType('number') })
  settled: number = 0;

  @Property({ type: 'json', fieldName: 'adjustments' })
  storedAdjustments: StoredAdjustment[] = [];

  @Property({ type: 'json', fieldName: 'tax_lines' })
  storedTaxLines: StoredTaxLine[] = [];

  @Property({ type: 'blob', nullable: true, comment: PERSONAL })
  personal: Buffer | null = null;

  @Field(() => CountryCode, { nullable: true, description: 'Where it is shipped to.' })
  @Property({ type: 'text', nullable: true })
  country: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  affiliateCode: string | null = null;

  @Property({ type: 'text', nullable: true })
  promoCode: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  promoId: string | null = null;

  @Property({ type: 'boolean' })
  promoHeld: boolean = false;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  shippingMethodCode: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  checkoutSessionId: string | null = null;

  @Property({ type: 'json' })
  payment: PaymentIntent = {};

  @Property({ type: 'blob', nullable: true })
  fingerprint: Buffer | null = null;

  @Field(() => Boolean, { description: 'Allocated beyond what is there, as only a channel can.' })
  @Property({ type: 'boolean' })
  isOversold: boolean = false;

  @Property({ type: 'boolean' })
  isErased: boolean = false;

  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  placedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  cancelledAt: Date | null = null;

  @Field(() => OrderCancelReason, { nullable: true })
  @Enum({ items: () => OrderCancelReason, nullable: true })
  cancelReason: OrderCancelReason | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => User, { nullable: true, description: 'Null: a channel order of nobody known.' })
  get user(): User | null {
    return this.userId === null || this.isErased ? null : { id: this.userId };
  }

  @Field(() => OrderTotals)
  get totals(): OrderTotals {
    const { subtotal, discount, shipping, tax, total, refunded } = this;
    return {
      subtotal: moneyOf(this, subtotal),
      discount: moneyOf(this, discount),
      shipping: moneyOf(this, shipping),
      tax: moneyOf(this, tax),
      total: moneyOf(this, total),
      refunded: moneyOf(this, refunded),
    };
  }

  @Field(() => [OrderAdjustment])
  get adjustments(): OrderAdjustment[] {
    return this.storedAdjustments.map(one => ({
      ...one,
      amount: moneyOf(this, one.amount),
      allocations: one.allocations.map(({ itemId, amount }) => ({ itemId, amount: moneyOf(this, amount) })),
    }));
  }

  @Field(() => [OrderTaxLine])
  get taxLines(): OrderTaxLine[] {
    return this.storedTaxLines.map(one => ({ ...one, amount: moneyOf(this, one.amount) }));
  }
}
export const OrderConnection = connectionOf<Order>(Order, 'Order');

@ObjectType({ description: 'What a member has ordered altogether.' })
export class CommerceSummary {
  @Field(() => Int)
  ordersPlaced: number;

  @Field(() => [Money], { description: 'One for each currency, less what went back.' })
  lifetimeSpend: Money[];

  @Field(() => DateTime, { nullable: true })
  lastOrderAt: Date | null;
}

/** What is still to be asked of payments, or of the pharmacy, for an order. Source: commerce 3. */
@Entity({ tableName: 'payment_task' })
export class PaymentTask {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  orderId: string;

  @Property({ type: 'text' })
  kind: 'refund' | 'cancel' | 'commit' | 'release' | 'submit';

  @Property({ type: 'text' })
  key: string;

  @Property({ type: new BigIntType('number'), nullable: true })
  amount: number | null = null;

  @Property({ type: 'character', length: 3, nullable: true })
  currency: string | null = null;

  @Property({ type: 'text', nullable: true })
  reason: string | null = null;

  @Property({ type: 'integer' })
  attempts: number = 0;

  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  doneAt: Date | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}
