import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { PRICE_VIEWERS } from '../entities/access.js';
import { BillingPrice } from '../entities/price.js';
import { pricesOfPlans } from '../queries/price.js';
import { MembershipPlan } from '../stubs.js';

@Resolver(() => MembershipPlan)
export class PlanPricesResolver {
  @Access(PRICE_VIEWERS)
  @FieldResolver(() => [BillingPrice], { description: 'What it can be bought for, oldest first.' })
  async prices(@Root() { id }: MembershipPlan, @Ctx() ctx: Context): Promise<BillingPrice[]> {
    return (await ctx.load('payments.plan-prices', id.toLowerCase(), ids => pricesOfPlans(ctx, ids)))!;
  }
}
