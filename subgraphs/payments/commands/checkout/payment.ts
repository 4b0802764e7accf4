import { FOR_UPDATE, lockOnce } from '../../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../../runtime/request/context.js';
import { fail } from '../../../../runtime/request/errors.js';
import type { CheckoutSession } from '../../entities/checkout.js';
import { BillingCustomer } from '../../entities/customer.js';
import { CheckoutMode, CheckoutStep, PaymentMethodStatus, PaymentStatus } from '../../entities/enums-payment.js';
import type { Invoice } from '../../entities/invoice.js';
import { PaymentMethod } from '../../entities/payment-method.js';
import { Payment } from '../../entities/payment.js';
import { brandTerms, type BrandTerms } from '../../ports/brand-terms.js';
import { processorOf } from '../../ports/processors.js';
import { statementDescriptor } from '../../rules/checkout.js';
import { beginCharge, type BegunCharge } from '../charging.js';
import { openForCheckout } from './subscription.js';

const ENDED = [PaymentStatus.FAILED, PaymentStatus.CANCELLED];

/** The payment of a session that may still be charged, locked; else a new one. One that this transaction opens has none. */
async function paymentOf(ctx: Context, session: CheckoutSession, seller: string): Promise<Payment> {
  const where = { checkoutSessionId: session.id, status: { $nin: ENDED } };
  const known = session.step === CheckoutStep.NEW ? null : await ctx.em.findOne(Payment, where, { ...FOR_UPDATE, refresh: true });
  const { userId, customerId, brandId, purpose, orderId, currency, capture, metadata } = session;
  const payment = known ?? Object.assign(new Payment(), { userId, customerId, brandId, purpose, orderId, currency, capture, metadata });
  return Object.assign(payment, {
    amountMinor: session.totalMinor,
    checkoutSessionId: session.id,
    subscriptionId: session.subscriptionId,
    invoiceId: session.mode === CheckoutMode.SUBSCRIPTION ? session.invoiceId : null,
    ...(known ? {} : { status: PaymentStatus.REQUIRES_PAYMENT_METHOD, processor: processorOf(ctx.host).name, createdAt: ctx.now() }),
    statementDescriptor: statementDescriptor(seller),
  });
}

interface Begun {
  /** What the processor is to be asked; null: what is held settles all. */
  charge: BegunCharge | null;
  invoice: Invoice | null;
}

/** Step 3 of the saga, transaction 1: the payment with its attempt, and of a subscription the subscription with its invoice. The session is locked. */
async function run(ctx: Context, session: CheckoutSession, terms: BrandTerms): Promise<Begun> {
  const invoice = session.mode === CheckoutMode.SUBSCRIPTION ? await openForCheckout(ctx, session, terms) : null;
  if (session.totalMinor === 0) return { charge: null, invoice };
  const method = session.paymentMethodId === null ? null : await ctx.em.findOne(PaymentMethod, { id: session.paymentMethodId });
  if (!method || method.status === PaymentMethodStatus.DETACHED) fail('conflict', 'The method was detached meanwhile');
  const payment = await paymentOf(ctx, session, terms.legalName);
  const customer = await lockOnce(ctx, BillingCustomer, session.customerId);
  const attempt = await beginCharge(ctx, { payment, method, offSession: session.offSession });
  session.paymentId = payment.id;
  return { charge: { attempt, payment, method, customer, session }, invoice };
}

/** What the brand's invoices and statements say is asked before; the rest happens in one transaction. */
export const beginPayment = {
  facts: (host: ServiceHost, { brandId }: CheckoutSession): Promise<BrandTerms> => brandTerms(host, brandId),
  run,
};
