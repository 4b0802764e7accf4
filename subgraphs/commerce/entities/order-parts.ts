import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime, LocalDate, Money } from '../../../runtime/schema/scalars.js';
import { VIEWERS } from './access.js';
import { OrderAdjustmentKind, OrderFulfillmentProvider, OrderFulfillmentStatus } from './enums.js';

@Directive('@key(fields: "sku lotNumber")')
@ObjectType({ description: 'Units of one lot in a line.' })
export class OrderItemLot {
  @Access(VIEWERS)
  @Field(() => String)
  sku: string;

  @Access(VIEWERS)
  @Field(() => String)
  lotNumber: string;

  @Access(VIEWERS)
  @Field(() => LocalDate, { nullable: true })
  expiresOn: string | null;

  @Access(VIEWERS)
  @Field(() => Int, { nullable: true })
  quantity: number | null;
}

@ObjectType({ description: 'A line of an order, as it was sold.' })
export class OrderItem {
  @Field(() => ID)
  id: string;

  @Field(() => ID)
  productId: string;

  @Field(() => ID)
  variantId: string;

  @Field(() => String)
  sku: string;

  @Field(() => String)
  title: string;

  @Field(() => String, { nullable: true })
  optionText: string | null;

  @Field(() => Int)
  quantity: number;

  @Field(() => Money)
  unitPrice: Money;

  @Field(() => Money)
  subtotal: Money;

  @Field(() => Money)
  discount: Money;

  @Field(() => Money)
  tax: Money;

  @Field(() => Money)
  total: Money;

  @Field(() => [OrderItemLot])
  lots: OrderItemLot[];

  @Field(() => Int)
  fulfilledQuantity: number;

  @Field(() => Int)
  cancelledQuantity: number;

  @Field(() => Int)
  returnedQuantity: number;

  @Field(() => Int)
  refundedQuantity: number;
}

@ObjectType()
export class OrderAdjustmentAllocation {
  @Field(() => ID)
  itemId: string;

  @Field(() => Money)
  amount: Money;
}

@ObjectType({ description: 'What was taken off an order.' })
export class OrderAdjustment {
  @Field(() => OrderAdjustmentKind)
  kind: OrderAdjustmentKind;

  @Field(() => String, { nullable: true })
  promoCode: string | null;

  @Field(() => Money)
  amount: Money;

  @Field(() => [OrderAdjustmentAllocation])
  allocations: OrderAdjustmentAllocation[];
}

@ObjectType()
export class OrderTaxLine {
  @Field(() => String, { description: 'Country and region, `us-ca`.' })
  jurisdiction: string;

  @Field(() => String)
  name: string;

  @Field(() => Int, { description: 'Parts per million.' })
  ratePpm: number;

  @Field(() => Money)
  amount: Money;
}

@ObjectType({ description: 'Sum of subtotal, shipping and, where not included, tax, less the discount.' })
export class OrderTotals {
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

  @Field(() => Money)
  refunded: Money;
}

@ObjectType()
export class FulfilledItem {
  @Field(() => ID)
  itemId: string;

  @Field(() => Int)
  quantity: number;
}

@ObjectType({ description: 'A parcel, or an order at the pharmacy.' })
export class OrderFulfillment {
  @Field(() => ID)
  id: string;

  @Field(() => OrderFulfillmentStatus)
  status: OrderFulfillmentStatus;

  @Field(() => OrderFulfillmentProvider)
  provider: OrderFulfillmentProvider;

  @Field(() => String, { nullable: true })
  carrier: string | null;

  @Field(() => String, { nullable: true })
  trackingNumber: string | null;

  @Field(() => String, { nullable: true })
  trackingUrl: string | null;

  @Field(() => [FulfilledItem])
  items: FulfilledItem[];

  @Field(() => String, { nullable: true })
  externalRef: string | null;

  @Field(() => DateTime)
  createdAt: Date;
}
