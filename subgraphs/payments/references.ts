import type { FilterQuery } from '@mikro-orm/postgresql';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { BACK_OFFICE, PROMO_VIEWERS, VIEWERS } from './entities/access.js';
import { CheckoutSession } from './entities/checkout.js';
import { BillingCustomer } from './entities/customer.js';
import { Dispute } from './entities/dispute.js';
import { Gift, GiftCheckoutSession } from './entities/gift.js';
import { CreditNote, Invoice } from './entities/invoice.js';
import { PaymentMethod } from './entities/payment-method.js';
import { Payment } from './entities/payment.js';
import { Payout } from './entities/payout.js';
import { BillingPrice } from './entities/price.js';
import { ProcessorEvent } from './entities/processor-event.js';
import { Promo } from './entities/promo.js';
import { ReconciliationRun } from './entities/reconciliation.js';
import { Refund } from './entities/refund.js';
import { BillingSubscription } from './entities/subscription.js';
import { ownRows } from './queries/own-rows.js';

const gifts = (ctx: Context): FilterQuery<Gift> => {
  const { userId } = ownRows(ctx, VIEWERS);
  return userId === undefined ? {} : { $or: [{ purchaserId: userId }, { redeemedById: userId }] };
};
/** Rows of a user: a user token finds its own, services and staff anybody's. */
const mine = { readers: VIEWERS, where: (ctx: Context) => ownRows(ctx, VIEWERS) };

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  BillingCustomer: rowReferences(BillingCustomer, mine),
  BillingPrice: rowReferences(BillingPrice),
  BillingSubscription: rowReferences(BillingSubscription, mine),
  CheckoutSession: rowReferences(CheckoutSession, mine),
  CreditNote: rowReferences(CreditNote, mine),
  Dispute: rowReferences(Dispute, mine),
  Gift: rowReferences(Gift, { readers: VIEWERS, where: gifts }),
  GiftCheckoutSession: rowReferences(GiftCheckoutSession, mine),
  Invoice: rowReferences(Invoice, mine),
  MembershipPlan: stubReferences,
  Payment: rowReferences(Payment, mine),
  PaymentMethod: rowReferences(PaymentMethod, mine),
  Payout: rowReferences(Payout, mine),
  ProcessorEvent: rowReferences(ProcessorEvent, { readers: BACK_OFFICE }),
  Promo: rowReferences(Promo, { readers: PROMO_VIEWERS }),
  ReconciliationRun: rowReferences(ReconciliationRun, { readers: BACK_OFFICE }),
  Refund: rowReferences(Refund, mine),
  User: stubReferences,
};
