import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow, loadRow, lockRow, requireRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { TwoPhase, twoPhases } from '../../../runtime/request/two-phase.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import type { BegunCharge } from '../commands/charging.js';
import { confirmed } from '../commands/checkout/answer.js';
import { cancelSession, confirmSession } from '../commands/checkout/confirm.js';
import { checkoutFacts } from '../commands/checkout/facts.js';
import { openCheckout, sessionOfOrder } from '../commands/checkout/open.js';
import { drive } from '../commands/checkout/steps.js';
import { undoCheckout } from '../commands/checkout-settlement.js';
import { BUYERS, SERVICES_ONLY, VIEWERS } from '../entities/access.js';
import { CheckoutSession } from '../entities/checkout.js';
import { BillingSessionStatus, CheckoutStep } from '../entities/enums-payment.js';
import { PaymentNextAction } from '../entities/money.js';
import { Payment } from '../entities/payment.js';
import { BillingSubscription } from '../entities/subscription.js';
import { ConfirmCheckoutInput, CreateCheckoutInput } from '../inputs/checkout.js';
import { ownRows } from '../queries/own-rows.js';
import { CashReservation } from '../stubs.js';

type Create = { input: CreateCheckoutInput };

/** The session that an order has already, which a repeat is answered with. */
const FIRST = ':first';

/** Charges that transaction 1 of a request has begun. */
const begun = new WeakMap<Context, BegunCharge>();

const creating = twoPhases({
  async intend(ctx, { input }: Create) {
    const facts = checkoutFacts.of(ctx);
    const first = facts.order && (await sessionOfOrder(ctx, facts.order.id));
    if (first) return `${first.id}${FIRST}`;
    const { session, charge } = await openCheckout(ctx, input, facts);
    if (charge) begun.set(ctx, charge);
    return session.id;
  },
  /** What is refused before anything was charged leaves no session behind. */
  async call(ctx, { id }) {
    if (id.endsWith(FIRST)) return null;
    const refusal = await drive(ctx.host, id, begun.get(ctx));
    if (refusal) await abandon(ctx, id);
    return refusal;
  },
});

/** A session of which nothing came is cancelled, with what it holds. */
async function abandon({ host }: Context, id: string): Promise<void> {
  await host.transaction(async ctx => {
    const session = await lockRow(ctx, CheckoutSession, { id });
    if (session.step !== CheckoutStep.DONE) undoCheckout(ctx, session, BillingSessionStatus.CANCELLED);
  });
  await drive(host, id);
}

/** The session with its turn, because it may be confirmed many times. */
const turnOf = ({ id, version }: CheckoutSession): string => `${id}:${version}`;
const sessionIn = (turn: string): string => turn.split(':')[0]!;

const confirming = twoPhases({
  intend: async (ctx, { input }: { input: ConfirmCheckoutInput }) => turnOf(await confirmSession(ctx, input)),
  call: async (ctx, { id }) => {
    const refusal = await drive(ctx.host, sessionIn(id));
    if (refusal) await reopen(ctx, sessionIn(id));
    return refusal;
  },
});

/** A method that was refused leaves the session as it was. */
const reopen = ({ host }: Context, id: string): Promise<void> =>
  host.transaction(async ctx => {
    const session = await lockRow(ctx, CheckoutSession, { id });
    if (session.step === CheckoutStep.NEW) Object.assign(session, { stepDueAt: null, paymentMethodId: null });
  });

const cancelling = twoPhases({
  intend: async (ctx, { id }: { id: string }) => (await cancelSession(ctx, id)).id,
  call: (ctx, { id }) => drive(ctx.host, id),
});

@Resolver(() => CheckoutSession)
export class CheckoutResolver {
  @Access(BUYERS)
  @Query(() => CheckoutSession, { nullable: true })
  checkoutSession(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CheckoutSession | null> {
    return findRow(ctx, CheckoutSession, { id, ...ownRows(ctx) });
  }

  @Prepare(checkoutFacts)
  @TwoPhase(creating)
  @Access(BUYERS)
  @Mutation(() => CheckoutSession, { description: 'Buys, with a method at once, else on the page of its `url`.' })
  async createCheckout(
    @Arg('input', () => CreateCheckoutInput) _input: CreateCheckoutInput,
    @Ctx() ctx: Context,
  ): Promise<CheckoutSession | Problem> {
    const { intent, outcome } = creating.of(ctx);
    if (outcome) return outcome;
    if (!intent.id.endsWith(FIRST)) return confirmed(ctx, intent.id);
    ctx.status(200);
    return requireRow(ctx, CheckoutSession, { id: intent.id.slice(0, -FIRST.length) });
  }

  @TwoPhase(confirming)
  @Access(BUYERS)
  @Mutation(() => CheckoutSession, { description: 'Charges a session that is open, for example with another method.' })
  async confirmCheckout(
    @Arg('input', () => ConfirmCheckoutInput) _input: ConfirmCheckoutInput,
    @Ctx() ctx: Context,
  ): Promise<CheckoutSession | Problem> {
    const { intent, outcome } = confirming.of(ctx);
    return outcome ?? confirmed(ctx, sessionIn(intent.id));
  }

  @TwoPhase(cancelling)
  @Access(BUYERS)
  @Mutation(() => CheckoutSession, { description: 'Gives a session up, and what it holds back; again: nothing.' })
  async cancelCheckout(@Rule({ pattern: UUID }) @Arg('id', () => ID) _id: string, @Ctx() ctx: Context): Promise<CheckoutSession | Problem> {
    const { intent, outcome } = cancelling.of(ctx);
    if (outcome) return outcome;
    const session = await requireRow(ctx, CheckoutSession, { id: intent.id });
    if (session.status === BillingSessionStatus.COMPLETE) fail('conflict', 'a checkout session that is complete cannot be cancelled');
    return session;
  }

  @Access(VIEWERS)
  @FieldResolver(() => Payment, { nullable: true })
  payment(@Root() { paymentId }: CheckoutSession, @Ctx() ctx: Context): Promise<Payment | null> | null {
    return paymentId === null ? null : loadRow(ctx, Payment, 'id', paymentId);
  }

  @Access(SERVICES_ONLY)
  @FieldResolver(() => CashReservation, { nullable: true, description: 'Cash that is held for it, or that it has spent.' })
  cashReservation(@Root() { cashReservationId }: CheckoutSession): CashReservation | null {
    return cashReservationId === null ? null : { id: cashReservationId };
  }

  @Access(VIEWERS)
  @FieldResolver(() => BillingSubscription, { nullable: true })
  subscription(@Root() { subscriptionId }: CheckoutSession, @Ctx() ctx: Context): Promise<BillingSubscription | null> | null {
    return subscriptionId === null ? null : loadRow(ctx, BillingSubscription, 'id', subscriptionId);
  }

  @Access(VIEWERS)
  @FieldResolver(() => PaymentNextAction, { nullable: true })
  async nextAction(@Root() { paymentId }: CheckoutSession, @Ctx() ctx: Context): Promise<PaymentNextAction | null> {
    return paymentId === null ? null : ((await loadRow(ctx, Payment, 'id', paymentId))?.nextAction ?? null);
  }
}
