import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { PhoneNumber, PostalAddress } from '../../../runtime/schema/scalars.js';
import { cancelOrder, fulfillOrder, markDelivered, returnOrderItems } from '../commands/order.js';
import { ORDER_CANCELLERS, ORDER_KEEPERS, ORDER_READERS, VIEWERS } from '../entities/access.js';
import { Order, OrderConnection } from '../entities/order.js';
import { OrderFulfillment, OrderItem } from '../entities/order-parts.js';
import { ProductVariant } from '../entities/product.js';
import { CancelOrderInput, FulfillOrderInput, OrdersArgs, ReturnOrderItemsInput } from '../inputs/order.js';
import { loadFulfillments, loadItems, orderById, orderByNumber, ordersPage } from '../queries/order.js';
import { personalOf } from '../queries/priced-cart.js';

@Resolver(() => Order)
export class OrderResolver {
  @Access(ORDER_READERS)
  @Query(() => Order, { nullable: true })
  order(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Order | null> {
    return orderById(ctx, id);
  }

  @Access(ORDER_READERS)
  @Query(() => Order, { nullable: true })
  orderByNumber(
    @Rule({ maxLength: 100, pattern: NOT_BLANK }) @Arg('number', () => String) number: string,
    @Ctx() ctx: Context,
  ): Promise<Order | null> {
    return orderByNumber(ctx, number);
  }

  @Access(ORDER_READERS)
  @Query(() => OrderConnection, { description: 'Orders, newest first; a member sees the own ones.' })
  orders(@Args(() => OrdersArgs) args: OrdersArgs, @Ctx() ctx: Context): Promise<Connection<Order>> {
    return ordersPage(ctx, args);
  }

  @Access(ORDER_CANCELLERS)
  @Mutation(() => Order, { description: 'Cancels an order of which nothing was shipped; all that was paid goes back.' })
  cancelOrder(@Arg('input', () => CancelOrderInput) input: CancelOrderInput, @Ctx() ctx: Context): Promise<Order> {
    return cancelOrder(ctx, input);
  }

  @Access(ORDER_KEEPERS)
  @Mutation(() => Order, { description: 'Ships lines of an order, or all that is left.' })
  fulfillOrder(@Arg('input', () => FulfillOrderInput) input: FulfillOrderInput, @Ctx() ctx: Context): Promise<Order> {
    return fulfillOrder(ctx, input);
  }

  @Access(ORDER_KEEPERS)
  @Mutation(() => Order, { description: 'A parcel has arrived.' })
  markFulfillmentDelivered(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Order> {
    return markDelivered(ctx, id);
  }

  @Access(ORDER_KEEPERS)
  @Mutation(() => Order, { description: 'Takes units back, to the shelf or not, and pays them back when asked.' })
  returnOrderItems(@Arg('input', () => ReturnOrderItemsInput) input: ReturnOrderItemsInput, @Ctx() ctx: Context): Promise<Order> {
    return returnOrderItems(ctx, input);
  }

  @Access(ORDER_READERS)
  @FieldResolver(() => [OrderItem])
  items(@Root() order: Order, @Ctx() ctx: Context): Promise<OrderItem[]> {
    return loadItems(ctx, order);
  }

  @Access(ORDER_READERS)
  @FieldResolver(() => [OrderFulfillment])
  fulfillments(@Root() { id }: Order, @Ctx() ctx: Context): Promise<OrderFulfillment[]> {
    return loadFulfillments(ctx, id);
  }

  @Access(ORDER_READERS)
  @FieldResolver(() => PostalAddress, { nullable: true })
  shippingAddress(@Root() order: Order, @Ctx() ctx: Context): PostalAddress | null {
    return personalOf(ctx, order, 'shop_order')?.shippingAddress ?? null;
  }

  @Access(ORDER_READERS)
  @FieldResolver(() => PostalAddress, { nullable: true })
  billingAddress(@Root() order: Order, @Ctx() ctx: Context): PostalAddress | null {
    return personalOf(ctx, order, 'shop_order')?.billingAddress ?? null;
  }

  @Access(ORDER_READERS)
  @FieldResolver(() => String, { nullable: true })
  recipientName(@Root() order: Order, @Ctx() ctx: Context): string | null {
    return personalOf(ctx, order, 'shop_order')?.recipientName ?? null;
  }

  @Access(ORDER_READERS)
  @FieldResolver(() => PhoneNumber, { nullable: true })
  phone(@Root() order: Order, @Ctx() ctx: Context): string | null {
    return personalOf(ctx, order, 'shop_order')?.phone ?? null;
  }
}

@Resolver(() => OrderItem)
export class OrderItemResolver {
  @Access(VIEWERS)
  @FieldResolver(() => ProductVariant, { nullable: true })
  variant(@Root() { variantId }: OrderItem, @Ctx() ctx: Context): Promise<ProductVariant | null> {
    return loadRow(ctx, ProductVariant, 'id', variantId);
  }
}
