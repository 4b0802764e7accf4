import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { Prepare, preparation } from '../../../runtime/request/operation.js';
import { TwoPhase, twoPhases } from '../../../runtime/request/two-phase.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { buyerFacts } from '../commands/buyer.js';
import { lockCustomer } from '../commands/customer.js';
import {
  attachRefusal,
  callAttach,
  callDetach,
  completeMethod,
  detachMethod,
  draftMethod,
  isDraft,
  makeDefault,
} from '../commands/payment-method.js';
import { BUYERS, PAYMENT_READERS, SERVICES_ONLY } from '../entities/access.js';
import { BillingCustomer } from '../entities/customer.js';
import { PaymentMethodStatus } from '../entities/enums-payment.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { AttachPaymentMethodInput } from '../inputs/payment-method.js';
import { ownRows } from '../queries/own-rows.js';
import { methodsOf, methodsOfCustomer, shareMethod } from '../queries/payment-method.js';

type Attach = { input: AttachPaymentMethodInput };

const buyer = preparation((ctx: Context, { input }: Attach) => buyerFacts(ctx, ctx.subject(input.userId), null));

const attaching = twoPhases({
  async intend(ctx, { input }: Attach) {
    const { account, brand } = buyer.of(ctx);
    const customer = await lockCustomer(ctx, {
      userId: account.id,
      brandId: brand.id,
      currency: brand.defaultCurrency,
      email: account.email,
    });
    return draftMethod(ctx, customer, input.token).id;
  },
  async call(ctx, { id }) {
    const method = await ctx.em.findOne(PaymentMethod, { id });
    return method && isDraft(method) ? callAttach(ctx.host, method) : null;
  },
});

const detaching = twoPhases({
  intend: async (ctx, { id }: { id: string }) => (await detachMethod(ctx, { id, ...ownRows(ctx) })).id,
  call: (ctx, { id }) => callDetach(ctx.host, id),
});

@Resolver(() => PaymentMethod)
export class PaymentMethodResolver {
  @Access(PAYMENT_READERS)
  @Query(() => [PaymentMethod], { description: 'What a user can pay with, the default first.' })
  userPaymentMethods(
    @Rule({ pattern: UUID })
    @Arg('userId', () => ID, { nullable: true, description: 'Required for service tokens.' })
    userId: string | null,
    @Ctx() ctx: Context,
  ): Promise<PaymentMethod[]> {
    return methodsOf(ctx, ctx.subject(userId));
  }

  @Access(PAYMENT_READERS)
  @Query(() => [PaymentMethod], { description: 'What a customer can pay with, the default first.' })
  customerPaymentMethods(@Arg('customerId', () => ID) customerId: string, @Ctx() ctx: Context): Promise<PaymentMethod[]> {
    return methodsOfCustomer(ctx, customerId);
  }

  @Access(SERVICES_ONLY)
  @Query(() => Boolean, { description: 'Whether two of these users have paid with the same card or account.' })
  sharesPaymentMethod(
    @Rule({ pattern: UUID, minItems: 2, maxItems: 100 }) @Arg('userIds', () => [ID]) userIds: string[],
    @Ctx() ctx: Context,
  ): Promise<boolean> {
    return shareMethod(ctx, userIds);
  }

  @Prepare(buyer)
  @TwoPhase(attaching)
  @Access(BUYERS)
  @Mutation(() => PaymentMethod, { description: 'Attaches a card or account; the same one again is the one that is there.' })
  async attachPaymentMethod(
    @Arg('input', () => AttachPaymentMethodInput) input: AttachPaymentMethodInput,
    @Ctx() ctx: Context,
  ): Promise<PaymentMethod | Problem> {
    const { intent, outcome } = attaching.of(ctx);
    if (outcome !== null && outcome.status !== 'succeeded') return attachRefusal(outcome);
    if (outcome === null) return lockRow(ctx, PaymentMethod, { id: intent.id });
    const { method, isKnown } = await completeMethod(ctx, intent.id, outcome.data, input.default);
    ctx.status(isKnown ? 200 : 201);
    return method;
  }

  @TwoPhase(detaching)
  @Access(BUYERS)
  @Mutation(() => PaymentMethod, { description: 'Takes a method away, here and at the processor.' })
  async detachPaymentMethod(@Arg('id', () => ID) _id: string, @Ctx() ctx: Context): Promise<PaymentMethod | Problem> {
    const { intent, outcome } = detaching.of(ctx);
    const method = await lockRow(ctx, PaymentMethod, { id: intent.id });
    if (!outcome) return new Problem('unavailable', 'The processor cannot be reached right now', { retryAfter: 5 });
    Object.assign(method, { tokenSealed: null });
    return method;
  }

  @Access(BUYERS)
  @Mutation(() => PaymentMethod, { description: 'Makes a method the one that is charged without being asked for.' })
  async setDefaultPaymentMethod(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<PaymentMethod> {
    const method = await lockRow(ctx, PaymentMethod, { id, ...ownRows(ctx) }, 'No such payment method');
    if (method.status === PaymentMethodStatus.DETACHED) fail('not_found', 'No such payment method');
    await lockRow(ctx, BillingCustomer, { id: method.customerId });
    await makeDefault(ctx, method);
    ctx.audit('payment_method.made_default', method.id);
    return method;
  }
}
