import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { createPrice, updatePrice } from '../commands/price.js';
import { staffWith } from '../entities/access.js';
import { BillingPrice, BillingPriceConnection } from '../entities/price.js';
import { BillingPricesArgs, CreateBillingPriceInput, UpdateBillingPriceInput } from '../inputs/price.js';

@Resolver(() => BillingPrice)
export class PriceResolver {
  @Access(staffWith('price:read'))
  @Query(() => BillingPriceConnection, { description: 'Prices, newest first.' })
  billingPrices(@Args(() => BillingPricesArgs) args: BillingPricesArgs, @Ctx() ctx: Context): Promise<Connection<BillingPrice>> {
    const { brandId, subjectId, active, ...paging } = args;
    const where = { ...(brandId && { brandId }), ...(subjectId && { subjectId }), ...(active != null && { active }) };
    return page(ctx.em, BillingPrice, where, paging, { time: 'createdAt' });
  }

  @Access(staffWith('price:write'))
  @Mutation(() => BillingPrice, { description: 'Makes a price; it is sold at once.' })
  createBillingPrice(
    @Arg('input', () => CreateBillingPriceInput) input: CreateBillingPriceInput,
    @Ctx() ctx: Context,
  ): Promise<BillingPrice> {
    return createPrice(ctx, input);
  }

  @Access(staffWith('price:write'))
  @Mutation(() => BillingPrice, { description: 'Takes a price out of the shop, or back in, or changes its trial.' })
  updateBillingPrice(
    @Arg('input', () => UpdateBillingPriceInput) input: UpdateBillingPriceInput,
    @Ctx() ctx: Context,
  ): Promise<BillingPrice> {
    return updatePrice(ctx, input);
  }
}
