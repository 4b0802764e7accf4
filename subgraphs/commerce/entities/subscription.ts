import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT, HEALTH, PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { CurrencyCode, DateTime, LocalDate, Money, TimeZone } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import { SUBSCRIPTION_READERS } from './access.js';
import { CadenceUnit, OutOfStockPolicy, ProductSubscriptionStatus, ScheduledOrderStatus } from './enums.js';
import { Cadence } from './product.js';

/** Who may see a subscription: whoever was let into one of its operations. */
const VIEWERS = { ...SUBSCRIPTION_READERS, user: 'read:subscriptions|manage:subscriptions', staff: 'admin:commerce:order' };

@ObjectType({ description: 'A price that was announced.' })
export class PendingPrice {
  @Field(() => Money)
  amount: Money;

  @Field(() => LocalDate)
  effectiveOn: string;
}

@ObjectType({ description: 'What comes with each order.' })
export class ProductSubscriptionItem {
  @Field(() => ID)
  id: string;

  variantId: string;

  @Field(() => Int)
  quantity: number;

  @Field(() => Money, { description: 'Stays until an announced change.' })
  unitPrice: Money;

  @Field(() => Int, { description: 'Taken off each order, of 10000.' })
  discountBps: number;

  @Field(() => PendingPrice, { nullable: true })
  pendingPrice: PendingPrice | null;
}

@ObjectType()
export class ScheduledOrderItem {
  variantId: string;

  @Field(() => Int)
  quantity: number;

  @Field(() => Money)
  unitPrice: Money;
}

@ObjectType({ description: 'An order to come of a subscription.' })
export class ScheduledOrder {
  @Field(() => ID)
  id: string;

  @Field(() => Int)
  cycleIndex: number;

  @Field(() => LocalDate)
  orderOn: string;

  @Field(() => ScheduledOrderStatus)
  status: ScheduledOrderStatus;

  @Field(() => [ScheduledOrderItem])
  items: ScheduledOrderItem[];

  @Field(() => Money, { description: 'Before tax and shipping.' })
  estimatedTotal: Money;

  orderId: string | null;

  @Field(() => Int)
  attempts: number;

  @Field(() => DateTime, { nullable: true })
  nextAttemptAt: Date | null;

  @Field(() => String, { nullable: true })
  failureCode: string | null;

  @Field(() => DateTime)
  editableUntil: Date;
}

@ObjectType({ description: 'The order that was left out.' })
export class SkippedOrder {
  @Field(() => Int)
  cycleIndex: number;

  @Field(() => LocalDate)
  orderOn: string;
}

/** A recurring order of products. Source: commerce 2 and 3. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A recurring order of products.' })
@Entity({ tableName: 'product_subscription' })
export class ProductSubscription {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid', comment: PERSONAL })
  userId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => CurrencyCode)
  @Property({ type: 'character', length: 3 })
  currency: string;

  @Property({ type: 'text' })
  country: string;

  @Field(() => ProductSubscriptionStatus)
  @Enum({ items: () => ProductSubscriptionStatus })
  status: ProductSubscriptionStatus = ProductSubscriptionStatus.ACTIVE;

  @Enum({ items: () => CadenceUnit })
  cadenceUnit: CadenceUnit;

  @Property({ type: 'integer' })
  cadenceCount: number;

  @Field(() => Int, { nullable: true, description: 'Day of the month, 1 to 31; the last where a month is shorter.' })
  @Property({ type: 'integer', nullable: true })
  anchorDay: number | null = null;

  @Field(() => TimeZone)
  @Property({ type: 'text' })
  timeZone: string;

  @Field(() => LocalDate, { nullable: true, description: 'Null while paused or cancelled.' })
  @Property({ type: 'date', nullable: true })
  nextOrderOn: string | null = null;

  @Field(() => Int)
  @Property({ type: 'integer' })
  cycleIndex: number = 0;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  paymentMethodId: string;

  @Property({ type: 'blob', nullable: true, comment: PERSONAL })
  personal: Buffer | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  shippingMethodCode: string | null = null;

  @Field(() => OutOfStockPolicy)
  @Enum({ items: () => OutOfStockPolicy })
  outOfStock: OutOfStockPolicy = OutOfStockPolicy.WAIT;

  @Field(() => LocalDate, { nullable: true })
  @Property({ type: 'date', nullable: true })
  pausedUntil: string | null = null;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  cancelAfterCycle: number | null = null;

  @Property({ type: 'blob', nullable: true, comment: HEALTH })
  cancelReason: Buffer | null = null;

  @Property({ type: 'blob', nullable: true, comment: FREE_TEXT })
  cancelComment: Buffer | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  pastDueSince: Date | null = null;

  @Field(() => Boolean, { description: 'Something of it was used up or lost.' })
  @Property({ type: 'boolean' })
  refillSuggested: boolean = false;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => SkippedOrder, { nullable: true, description: 'In the answer of a skip.' })
  get skipped(): SkippedOrder | null {
    return SKIPPED.get(this) ?? null;
  }

  @Field(() => User)
  get user(): User {
    return { id: this.userId };
  }

  @Field(() => Cadence)
  get cadence(): Cadence {
    return { unit: this.cadenceUnit, count: this.cadenceCount };
  }
}
export const ProductSubscriptionConnection = connectionOf<ProductSubscription>(ProductSubscription, 'ProductSubscription');

/** What the running operation has skipped. */
export const SKIPPED = new WeakMap<ProductSubscription, SkippedOrder>();
