import { sha256 } from '../../../runtime/data/crypto.js';
import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { CheckoutSession } from '../entities/checkout.js';
import { BillingCustomer } from '../entities/customer.js';
import { BillingSessionStatus as Status, CheckoutStep, PaymentAttemptStatus, PaymentStatus } from '../entities/enums-payment.js';
import { GiftCheckoutSession } from '../entities/gift.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import { sandboxOf } from '../ports/processors.js';
import { statementDescriptor } from '../rules/checkout.js';
import { resolveAttempt } from './attempt-resolution.js';
import { confirmSession } from './checkout/confirm.js';
import { drive } from './checkout/steps.js';
import { chargeGift, confirmGift } from './gift-checkout.js';
import { attachRefusal, callAttach, chargeableMethod, completeMethod, draftMethod, isDraft } from './payment-method.js';

/** What a token opens: a purchase, the purchase of a gift, or a payment that its customer has to confirm. */
export type Hosted =
  | { kind: 'checkout'; session: CheckoutSession; payment: Payment | null }
  | { kind: 'gift'; session: GiftCheckoutSession; payment: Payment | null }
  | { kind: 'payment'; session: null; payment: Payment };

const paymentOf = (ctx: Context, id: string | null): Promise<Payment | null> | null =>
  id === null ? null : ctx.em.findOne(Payment, { id }, { refresh: true });

/** What a token opens; null where it ended, or never was. Source: payments 4.2. */
export async function hostedOf(ctx: Context, token: string): Promise<Hosted | null> {
  const tokenHash = sha256(token);
  const checkout = await ctx.em.findOne(CheckoutSession, { tokenHash });
  if (checkout) return { kind: 'checkout', session: checkout, payment: await paymentOf(ctx, checkout.paymentId) };
  const gift = await ctx.em.findOne(GiftCheckoutSession, { tokenHash });
  if (gift) return { kind: 'gift', session: gift, payment: await paymentOf(ctx, gift.paymentId) };
  const payment = await ctx.em.findOne(Payment, { tokenHash });
  return payment && { kind: 'payment', session: null, payment };
}

/** What was chosen on the page: a method that the customer has, or a named one of the sandbox. */
export type Chosen = { methodId: string } | { token: string };

const inputOf = (chosen: Chosen) => ('token' in chosen ? { paymentMethodToken: chosen.token } : { paymentMethodId: chosen.methodId });

/** A method that was refused leaves the session as it was. */
const reopen = (host: ServiceHost, id: string): Promise<void> =>
  host.transaction(async ctx => {
    const session = await lockRow(ctx, CheckoutSession, { id });
    if (session.step === CheckoutStep.NEW) Object.assign(session, { stepDueAt: null, paymentMethodId: null });
  });

async function payCheckout(host: ServiceHost, id: string, chosen: Chosen): Promise<Problem | null> {
  await host.transaction(ctx => confirmSession(ctx, { id, ...inputOf(chosen) }));
  const refusal = await drive(host, id);
  if (refusal) await reopen(host, id);
  return refusal;
}

/** The chosen method of a gift's buyer, a new one drafted. @throws Problem invalid_request. */
async function draftChosen(ctx: Context, { userId, customerId }: GiftCheckoutSession, chosen: Chosen): Promise<PaymentMethod> {
  const customer = await lockRow(ctx, BillingCustomer, { id: customerId });
  if ('token' in chosen) return draftMethod(ctx, customer, chosen.token);
  return (await chargeableMethod(ctx, { userId, customerId }, chosen.methodId)) ?? fail('invalid_request', 'This method is not yours');
}

/** A drafted method is attached first. @returns its id, or why it was refused. */
async function attached(host: ServiceHost, method: PaymentMethod): Promise<string | Problem> {
  if (!isDraft(method)) return method.id;
  const result = await callAttach(host, method);
  if (result.status !== 'succeeded') return attachRefusal(result);
  return (await host.transaction(ctx => completeMethod(ctx, method.id, result.data, false))).method.id;
}

async function payGift(host: ServiceHost, session: GiftCheckoutSession, chosen: Chosen, seller: string): Promise<Problem | null> {
  const methodId = await attached(host, await host.transaction(ctx => draftChosen(ctx, session, chosen)));
  if (methodId instanceof Problem) return methodId;
  await host.transaction(async ctx => {
    const row = await lockRow(ctx, GiftCheckoutSession, { id: session.id });
    await confirmGift(ctx, row, await requireRow(ctx, PaymentMethod, { id: methodId }), statementDescriptor(seller));
  });
  await chargeGift(host, session.id);
  return null;
}

/** Pays with what was chosen; outside transactions. @returns why the method was refused; a charge that was declined stands on the session. */
export async function payHosted(host: ServiceHost, hosted: Hosted, chosen: Chosen, seller: string): Promise<Problem | null> {
  if (hosted.kind === 'checkout') return payCheckout(host, hosted.session.id, chosen);
  return hosted.kind === 'gift' ? payGift(host, hosted.session, chosen, seller) : null;
}

/** The attempt of a payment that waits for its customer. */
const waiting = (ctx: Context, paymentId: string): Promise<PaymentAttempt | null> =>
  ctx.em.findOne(PaymentAttempt, { paymentId, status: PaymentAttemptStatus.REQUIRES_ACTION });

/** Plays the bank of the sandbox, and applies what it says; outside transactions. Whoever applies it second finds it done. */
export async function answerAuthentication(host: ServiceHost, payment: Payment, isConfirmed: boolean): Promise<void> {
  const sandbox = sandboxOf(host) ?? fail('not_found', 'Not found');
  await sandbox.act({ action: isConfirmed ? 'complete_3ds' : 'fail_3ds', id: payment.processorRef, amount: null });
  const attempt = await host.read(ctx => waiting(ctx, payment.id));
  if (attempt) await host.read(ctx => resolveAttempt(ctx, attempt.id));
}

/** What its customer can do now. */
export type HostedState = 'open' | 'requires_action' | 'processing' | 'complete' | 'over';

const BY_SESSION: Readonly<Record<Status, HostedState>> = {
  open: 'open',
  requires_action: 'requires_action',
  processing: 'processing',
  complete: 'complete',
  expired: 'over',
  cancelled: 'over',
};

/** Where a session's token still opens something at an instant; a payment of its own only while it waits for its customer. */
export function stateOf({ session, payment }: Hosted, now: Date): HostedState {
  if (!session)
    return payment.status === PaymentStatus.REQUIRES_ACTION
      ? 'requires_action'
      : payment.status === PaymentStatus.PROCESSING
        ? 'processing'
        : 'over';
  return session.status === Status.OPEN && session.expiresAt <= now ? 'over' : BY_SESSION[session.status];
}

/** The session or payment by its id, read anew: its token may be gone when it ends. */
export async function readAgain(ctx: Context, { kind, session, payment }: Hosted): Promise<Hosted> {
  if (kind === 'payment') return { kind, session: null, payment: await requireRow(ctx, Payment, { id: payment.id }) };
  if (kind === 'gift') {
    const row = await requireRow(ctx, GiftCheckoutSession, { id: session.id });
    return { kind, session: row, payment: await paymentOf(ctx, row.paymentId) };
  }
  const row = await requireRow(ctx, CheckoutSession, { id: session.id });
  return { kind, session: row, payment: await paymentOf(ctx, row.paymentId) };
}
