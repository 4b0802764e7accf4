import { Arg, Args, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { PostalAddress } from '../../../runtime/schema/scalars.js';
import { createProductSubscription, subscriptionFacts } from '../commands/subscription-create.js';
import { orderNow, skipScheduledOrder, unskipScheduledOrder } from '../commands/subscription-orders.js';
import { schedulePriceChange, swapItem } from '../commands/subscription-swap.js';
import {
  cancelProductSubscription,
  changeCadence,
  methodFacts,
  pauseProductSubscription,
  resumeProductSubscription,
  updateProductSubscription,
} from '../commands/subscription.js';
import { BUYERS, ORDER_KEEPERS, ORDER_READERS, SUBSCRIPTION_READERS, VIEWERS } from '../entities/access.js';
import { Order } from '../entities/order.js';
import { ProductVariant } from '../entities/product.js';
import {
  ProductSubscription,
  ProductSubscriptionConnection,
  ProductSubscriptionItem,
  ScheduledOrder,
  ScheduledOrderItem,
} from '../entities/subscription.js';
import {
  CancelProductSubscriptionInput,
  ChangeProductSubscriptionCadenceInput,
  CreateProductSubscriptionInput,
  PauseProductSubscriptionInput,
  ProductSubscriptionsArgs,
  ResumeProductSubscriptionInput,
  SkipScheduledOrderInput,
  SubscriptionPriceChangeInput,
  SwapProductSubscriptionItemInput,
  UnskipScheduledOrderInput,
  UpdateProductSubscriptionInput,
} from '../inputs/subscription.js';
import { itemsOfSubscription, personalOfSubscription, subscriptionById, subscriptionsPage, upcomingOf } from '../queries/subscription.js';

/** Source: commerce 4.1, 4.2. */
@Resolver(() => ProductSubscription)
export class ProductSubscriptionResolver {
  @Access(SUBSCRIPTION_READERS)
  @Query(() => ProductSubscription, { nullable: true })
  productSubscription(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ProductSubscription | null> {
    return subscriptionById(ctx, id);
  }

  @Access(SUBSCRIPTION_READERS)
  @Query(() => ProductSubscriptionConnection, { description: 'Recurring orders of a user, newest first.' })
  productSubscriptions(
    @Args(() => ProductSubscriptionsArgs) args: ProductSubscriptionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<ProductSubscription>> {
    return subscriptionsPage(ctx, args);
  }

  @Access(BUYERS)
  @Prepare(subscriptionFacts)
  @Mutation(() => ProductSubscription, { description: 'Begins a recurring order; the first is made at 09:00 of its day.' })
  createProductSubscription(
    @Arg('input', () => CreateProductSubscriptionInput) input: CreateProductSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription> {
    return createProductSubscription(ctx, input);
  }

  @Access(BUYERS)
  @Mutation(() => ProductSubscription, { description: 'Orders come at another rhythm; prices stay.' })
  changeProductSubscriptionCadence(
    @Arg('input', () => ChangeProductSubscriptionCadenceInput) input: ChangeProductSubscriptionCadenceInput,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription> {
    return changeCadence(ctx, input);
  }

  @Access(BUYERS)
  @Mutation(() => ProductSubscription, { description: 'Ends it now, or after the next order.' })
  cancelProductSubscription(
    @Arg('input', () => CancelProductSubscriptionInput) input: CancelProductSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription> {
    return cancelProductSubscription(ctx, input);
  }

  @Access(BUYERS)
  @Mutation(() => ProductSubscription)
  pauseProductSubscription(
    @Arg('input', () => PauseProductSubscriptionInput) input: PauseProductSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription> {
    return pauseProductSubscription(ctx, input);
  }

  @Access(BUYERS)
  @Mutation(() => ProductSubscription)
  resumeProductSubscription(
    @Arg('input', () => ResumeProductSubscriptionInput) input: ResumeProductSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription> {
    return resumeProductSubscription(ctx, input);
  }

  @Access(BUYERS)
  @Mutation(() => ProductSubscription, { description: 'Leaves an order out; once each.' })
  skipScheduledOrder(
    @Arg('input', () => SkipScheduledOrderInput) input: SkipScheduledOrderInput,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription> {
    return skipScheduledOrder(ctx, input);
  }

  @Access(BUYERS)
  @Mutation(() => ProductSubscription, { description: 'Takes a skip back while there is time.' })
  unskipScheduledOrder(
    @Arg('input', () => UnskipScheduledOrderInput) input: UnskipScheduledOrderInput,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription> {
    return unskipScheduledOrder(ctx, input);
  }

  @Access(BUYERS)
  @Mutation(() => ProductSubscription, { description: 'Another variant from now on, or in the next order alone.' })
  swapProductSubscriptionItem(
    @Arg('input', () => SwapProductSubscriptionItemInput) input: SwapProductSubscriptionItemInput,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription> {
    return swapItem(ctx, input);
  }

  @Access(BUYERS)
  @Prepare(methodFacts)
  @Mutation(() => ProductSubscription, { description: 'Sets method, address, way of shipping, and what happens without stock.' })
  updateProductSubscription(
    @Arg('input', () => UpdateProductSubscriptionInput) input: UpdateProductSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription> {
    return updateProductSubscription(ctx, input);
  }

  @Access(BUYERS)
  @Mutation(() => ProductSubscription, { description: 'Orders now what would come next; the others follow from today.' })
  orderNow(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ProductSubscription> {
    return orderNow(ctx, id);
  }

  @Access(ORDER_KEEPERS)
  @Mutation(() => ProductSubscription, { description: 'Announces another price, at least 14 days ahead.' })
  scheduleSubscriptionPriceChange(
    @Arg('input', () => SubscriptionPriceChangeInput) input: SubscriptionPriceChangeInput,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription> {
    return schedulePriceChange(ctx, input);
  }

  @Access(VIEWERS)
  @FieldResolver(() => [ProductSubscriptionItem])
  items(@Root() subscription: ProductSubscription, @Ctx() ctx: Context): Promise<ProductSubscriptionItem[]> {
    return itemsOfSubscription(ctx, subscription);
  }

  @Access(VIEWERS)
  @FieldResolver(() => [ScheduledOrder], { description: 'Orders to come, and those that are left out.' })
  upcoming(
    @Root() subscription: ProductSubscription,
    @Rule({ min: 1, max: 12 }) @Arg('first', () => Int, { defaultValue: 6 }) first: number,
    @Ctx() ctx: Context,
  ): Promise<ScheduledOrder[]> {
    return upcomingOf(ctx, subscription, first);
  }

  @Access(VIEWERS)
  @FieldResolver(() => PostalAddress, { nullable: true })
  shippingAddress(@Root() subscription: ProductSubscription, @Ctx() ctx: Context): PostalAddress | null {
    return personalOfSubscription(ctx, subscription)?.shippingAddress ?? null;
  }

  @Access(VIEWERS)
  @FieldResolver(() => String, { nullable: true })
  recipientName(@Root() subscription: ProductSubscription, @Ctx() ctx: Context): string | null {
    return personalOfSubscription(ctx, subscription)?.recipientName ?? null;
  }
}

@Resolver(() => ProductSubscriptionItem)
export class ProductSubscriptionItemResolver {
  @Access(VIEWERS)
  @FieldResolver(() => ProductVariant, { nullable: true })
  variant(@Root() { variantId }: ProductSubscriptionItem, @Ctx() ctx: Context): Promise<ProductVariant | null> {
    return loadRow(ctx, ProductVariant, 'id', variantId);
  }
}

@Resolver(() => ScheduledOrderItem)
export class ScheduledOrderItemResolver {
  @Access(VIEWERS)
  @FieldResolver(() => ProductVariant, { nullable: true })
  variant(@Root() { variantId }: ScheduledOrderItem, @Ctx() ctx: Context): Promise<ProductVariant | null> {
    return loadRow(ctx, ProductVariant, 'id', variantId);
  }
}

@Resolver(() => ScheduledOrder)
export class ScheduledOrderResolver {
  @Access(ORDER_READERS)
  @FieldResolver(() => Order, { nullable: true, description: 'The order that was made of it.' })
  order(@Root() { orderId }: ScheduledOrder, @Ctx() ctx: Context): Promise<Order | null> | null {
    return orderId === null ? null : loadRow(ctx, Order, 'id', orderId);
  }
}
