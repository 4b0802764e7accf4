import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { PAYMENT_READERS } from '../entities/access.js';
import { Payment } from '../entities/payment.js';
import { Refund } from '../entities/refund.js';
import { ownRows } from '../queries/own-rows.js';
import { Order } from '../stubs.js';

/** What was paid for an order of commerce, and what of it went back. Source: commerce 6. */
@Resolver(() => Order)
export class OrderPaymentsResolver {
  @Access(PAYMENT_READERS)
  @FieldResolver(() => [Payment], { description: 'Own ones only, newest first.' })
  async payments(@Root() { id }: Order, @Ctx() ctx: Context): Promise<Payment[]> {
    const found = await ctx.load('payments.ofOrder', id.toLowerCase(), async ids => {
      const rows = await ctx.em.find(
        Payment,
        { orderId: { $in: ids as string[] }, ...ownRows(ctx) },
        { orderBy: { createdAt: 'desc', id: 'desc' } },
      );
      return ids.map(one => rows.filter(row => row.orderId === one));
    });
    return found ?? [];
  }

  @Access(PAYMENT_READERS)
  @FieldResolver(() => [Refund], { description: 'Own ones only, newest first.' })
  async refunds(@Root() { id }: Order, @Ctx() ctx: Context): Promise<Refund[]> {
    const found = await ctx.load('payments.refundsOfOrder', id.toLowerCase(), async ids => {
      const rows = await ctx.em.find(
        Refund,
        { orderId: { $in: ids as string[] }, ...ownRows(ctx) },
        { orderBy: { createdAt: 'desc', id: 'desc' } },
      );
      return ids.map(one => rows.filter(row => row.orderId === one));
    });
    return found ?? [];
  }
}
