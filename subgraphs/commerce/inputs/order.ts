import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { OrderCancelReason, OrderSource, OrderStatus } from '../entities/enums.js';

@InputType({ description: 'For staff and services: also userId, number and brandId.' })
export class OrderFilter {
  @Field(() => OrderStatus, { nullable: true })
  status?: OrderStatus | null;

  @Field(() => OrderSource, { nullable: true })
  source?: OrderSource | null;

  @Field(() => DateTime, { nullable: true, description: 'Placed then or later.' })
  placedFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Placed before.' })
  placedTo?: Date | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  sku?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Rule({ maxLength: 100 })
  @Field(() => String, { nullable: true })
  number?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;
}

@ArgsType()
export class OrdersArgs extends PageArgs {
  @Field(() => OrderFilter, { nullable: true })
  filter?: OrderFilter | null;
}

@InputType()
export class CancelOrderInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => OrderCancelReason, { defaultValue: OrderCancelReason.CUSTOMER })
  reason: OrderCancelReason = OrderCancelReason.CUSTOMER;
}

@InputType()
export class FulfillItemInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  itemId: string;

  @Rule({ min: 1, max: 999 })
  @Field(() => Int)
  quantity: number;
}

@InputType({ description: 'Without items: all that is left.' })
export class FulfillOrderInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ minItems: 1, maxItems: 100 })
  @Field(() => [FulfillItemInput], { nullable: true })
  items?: FulfillItemInput[] | null;

  @Rule({ maxLength: 60, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  carrier?: string | null;

  @Rule({ maxLength: 100, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  trackingNumber?: string | null;

  @Rule({ maxLength: 2048, pattern: '^https://' })
  @Field(() => String, { nullable: true })
  trackingUrl?: string | null;
}

@InputType()
export class ReturnItemInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  itemId: string;

  @Rule({ min: 1, max: 999 })
  @Field(() => Int)
  quantity: number;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Required where the line came from several lots.' })
  lotNumber?: string | null;

  @Field(() => Boolean, { description: 'Whether it is put back on the shelf.' })
  restock: boolean;
}

@InputType()
export class ReturnOrderItemsInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  orderId: string;

  @Rule({ minItems: 1, maxItems: 100 })
  @Field(() => [ReturnItemInput])
  items: ReturnItemInput[];

  @Field(() => Boolean, { defaultValue: false, description: 'Whether the units are paid back.' })
  refund: boolean = false;
}
