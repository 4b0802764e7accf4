import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { VIEWERS } from '../entities/access.js';
import { BillingCustomer } from '../entities/customer.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { defaultMethodOf } from '../queries/payment-method.js';

@Resolver(() => BillingCustomer)
export class BillingCustomerResolver {
  @Access(VIEWERS)
  @FieldResolver(() => PaymentMethod, { nullable: true, description: 'What is charged without being asked for.' })
  defaultPaymentMethod(@Root() { id }: BillingCustomer, @Ctx() ctx: Context): Promise<PaymentMethod | null> {
    return defaultMethodOf(ctx, id);
  }
}
