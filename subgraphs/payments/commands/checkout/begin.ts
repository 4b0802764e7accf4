import type { Context } from '../../../../runtime/request/context.js';
import type { CheckoutSession } from '../../entities/checkout.js';
import type { BillingCustomer } from '../../entities/customer.js';
import { BillingSessionStatus as Status, CheckoutMode, CheckoutStep as Step } from '../../entities/enums-payment.js';
import type { PaymentMethod } from '../../entities/payment-method.js';
import type { BrandTerms } from '../../ports/brand-terms.js';
import type { BegunCharge } from '../charging.js';
import { checkoutCharged } from '../checkout-settlement.js';
import { isDraft } from '../payment-method.js';
import { applyHolds } from './holds.js';
import { beginPayment } from './payment.js';

/** Begins the payment of a session that is locked. @returns the charge to be made next; null where what is held settles all. */
export async function beginIn(ctx: Context, session: CheckoutSession, terms: BrandTerms): Promise<BegunCharge | null> {
  const { charge, invoice } = await beginPayment.run(ctx, session, terms);
  if (!charge) await checkoutCharged(ctx, session, null, invoice);
  else Object.assign(session, { step: Step.CHARGING, status: Status.PROCESSING, lastError: null, stepDueAt: null, stepTries: 0 });
  if (charge) session.version += 1;
  return charge;
}

interface Opening {
  /** Locked. */
  customer: BillingCustomer;
  method: PaymentMethod | null;
  terms: BrandTerms;
}

/** Whether nobody has to be asked before a payment begins: no cash is wanted, and the processor knows customer and method. */
const needsNobody = ({ mode, useCash, totalMinor }: CheckoutSession, { customer, method }: Opening): boolean =>
  mode !== CheckoutMode.SETUP && !useCash && totalMinor > 0 && method !== null && !isDraft(method) && customer.processorRef !== null;

/** Takes the saga of a session to its charge in the transaction that opens it, where nobody has to be asked; else null, and the saga begins after it. */
export async function beginAtOnce(ctx: Context, session: CheckoutSession, opening: Opening): Promise<BegunCharge | null> {
  if (!needsNobody(session, opening)) return null;
  applyHolds(session, opening.customer, null);
  return beginIn(ctx, session, opening.terms);
}
