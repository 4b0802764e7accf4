import { Arg, Args, Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { isCommerce } from '../commands/cart-access.js';
import { ORDER_READERS, SUBSCRIPTION_READERS, VIEWERS } from '../entities/access.js';
import { Cart } from '../entities/cart.js';
import { CartStatus, ProductSubscriptionStatus } from '../entities/enums.js';
import { CommerceSummary, Order, OrderConnection } from '../entities/order.js';
import { ProductSubscription } from '../entities/subscription.js';
import { seesAll } from '../queries/order.js';
import { summaryOf } from '../queries/summary.js';
import { User } from '../stubs.js';

/** Whether what is this user's may be shown to the caller. */
const mayAskAbout = (ctx: Context, userId: string): boolean => seesAll(ctx) || ctx.caller.userId === userId;

@Resolver(() => User)
export class UserCommerceResolver {
  @Access({ ...VIEWERS, firstParty: true })
  @FieldResolver(() => Cart, { nullable: true, description: 'The open cart in the brand, the newest without one; null for another user.' })
  activeCart(
    @Root() { id }: User,
    @Rule({ pattern: UUID }) @Arg('brandId', () => ID, { nullable: true }) brandId: string | null,
    @Ctx() ctx: Context,
  ): Promise<Cart | null> | null {
    if (!isCommerce(ctx) && ctx.caller.userId !== id) return null;
    const where = {
      userId: id,
      status: CartStatus.ACTIVE,
      expiresAt: { $gt: ctx.now() },
      ...(brandId && { brandId: brandId.toLowerCase() }),
    };
    return ctx.em.findOne(Cart, where, { orderBy: { createdAt: 'desc' } });
  }

  @Access(ORDER_READERS)
  @FieldResolver(() => OrderConnection, { nullable: true, description: 'Newest first; null for another user.' })
  orders(@Root() { id }: User, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<Order>> | null {
    return mayAskAbout(ctx, id) ? page(ctx.em, Order, { userId: id }, args, { time: 'createdAt' }) : null;
  }

  @Access(SUBSCRIPTION_READERS)
  @FieldResolver(() => [ProductSubscription], { nullable: true, description: 'Newest first, at most 100; null for another user.' })
  productSubscriptions(
    @Root() { id }: User,
    @Arg('status', () => ProductSubscriptionStatus, { nullable: true }) status: ProductSubscriptionStatus | null,
    @Ctx() ctx: Context,
  ): Promise<ProductSubscription[]> | null {
    if (!mayAskAbout(ctx, id)) return null;
    return ctx.em.find(
      ProductSubscription,
      { userId: id, ...(status && { status }) },
      { orderBy: { createdAt: 'desc', id: 'desc' }, limit: 100 },
    );
  }

  @Access(ORDER_READERS)
  @FieldResolver(() => CommerceSummary, { nullable: true, description: 'Null for another user.' })
  commerceSummary(@Root() { id }: User, @Ctx() ctx: Context): Promise<CommerceSummary> | null {
    return mayAskAbout(ctx, id) ? summaryOf(ctx, id) : null;
  }
}
