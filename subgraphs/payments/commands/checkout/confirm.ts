import { lockRow } from '../../../../runtime/data/rows.js';
import type { Context } from '../../../../runtime/request/context.js';
import { fail, invalid } from '../../../../runtime/request/errors.js';
import { after } from '../../../../runtime/time/durations.js';
import { CheckoutSession } from '../../entities/checkout.js';
import { BillingCustomer } from '../../entities/customer.js';
import { BillingSessionStatus as Status, CheckoutStep as Step, PaymentMethodStatus } from '../../entities/enums-payment.js';
import { PaymentMethod } from '../../entities/payment-method.js';
import type { ConfirmCheckoutInput } from '../../inputs/checkout.js';
import { ownRows } from '../../queries/own-rows.js';
import { STEP_LEASE_MS } from '../../rules/checkout.js';
import { undoCheckout } from '../checkout-settlement.js';
import { chargeableMethod, draftMethod } from '../payment-method.js';

const inWords = (status: Status): string => status.replaceAll('_', ' ');
const NO_SESSION = 'No such checkout session';

/** The named method, a new one by its token, else the session's, else the customer's default. @throws Problem invalid_request. */
async function methodFor(ctx: Context, session: CheckoutSession, input: Omit<ConfirmCheckoutInput, 'id'>): Promise<string> {
  const { userId, customerId } = session;
  const customer = await lockRow(ctx, BillingCustomer, { id: customerId });
  if (input.paymentMethodToken != null) return draftMethod(ctx, customer, input.paymentMethodToken).id;
  if (input.paymentMethodId != null) {
    const named = await chargeableMethod(ctx, { userId, customerId }, input.paymentMethodId.toLowerCase());
    return (named ?? invalid('/input/paymentMethodId', 'is no method of the customer')).id;
  }
  const status = PaymentMethodStatus.ACTIVE;
  const usual = await ctx.em.findOne(
    PaymentMethod,
    session.paymentMethodId ? { id: session.paymentMethodId, status } : { customerId, isDefault: true, status },
  );
  return (usual ?? invalid('/input/paymentMethodId', 'is required: the customer has no default method')).id;
}

/** Where two steps meet, the second one waits for the first. @throws Problem conflict. */
function requireOpen(ctx: Context, session: CheckoutSession): void {
  if (session.status !== Status.OPEN) fail('conflict', `a checkout session that is ${inWords(session.status)} cannot be confirmed`);
  if (session.expiresAt <= ctx.now()) fail('conflict', 'a checkout session that is expired cannot be confirmed');
  const isBusy = session.stepDueAt !== null && session.step !== Step.NEW;
  if (isBusy || session.step === Step.UNDOING) fail('conflict', 'the checkout session is being worked on', { reason: 'attempt_running' });
}

/** Transaction 1 of a confirmation: the session's saga begins again with what is held, then charges. @throws Problem not_found, conflict. */
export async function confirmSession(ctx: Context, input: ConfirmCheckoutInput): Promise<CheckoutSession> {
  const session = await lockRow(ctx, CheckoutSession, { id: input.id, ...ownRows(ctx) }, NO_SESSION);
  requireOpen(ctx, session);
  const paymentMethodId = await methodFor(ctx, session, input);
  Object.assign(session, { step: Step.NEW, stepDueAt: after(ctx.now(), STEP_LEASE_MS), stepTries: 0, lastError: null, paymentMethodId });
  session.version += 1;
  ctx.audit('checkout.confirmed', session.id);
  return session;
}

/** Transaction 1 of a cancellation; again: nothing. @throws Problem not_found, conflict for what is complete, or while money may arrive. */
export async function cancelSession(ctx: Context, id: string): Promise<CheckoutSession> {
  const session = await lockRow(ctx, CheckoutSession, { id, ...ownRows(ctx) }, NO_SESSION);
  if (session.status === Status.CANCELLED || session.step === Step.UNDOING) return session;
  if (session.status === Status.COMPLETE || session.status === Status.EXPIRED || session.status === Status.PROCESSING)
    fail('conflict', `a checkout session that is ${inWords(session.status)} cannot be cancelled`);
  undoCheckout(ctx, session, Status.CANCELLED);
  ctx.audit('checkout.cancelled', session.id);
  return session;
}
