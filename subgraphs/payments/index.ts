import { service } from '../../runtime/service.js';
import { consults, treatments } from './consumers/treatments.js';
import { visits } from './consumers/visits.js';
import { CheckoutSession } from './entities/checkout.js';
import { documentPaths, serveDocuments } from './native/documents.js';
import { BillingCustomer } from './entities/customer.js';
import { Dispute } from './entities/dispute.js';
import { FailureAlert } from './entities/failure-alert.js';
import { Gift, GiftCheckoutSession } from './entities/gift.js';
import { CreditNote, Invoice, InvoiceCounter, InvoiceLine } from './entities/invoice.js';
import { PaymentMethod } from './entities/payment-method.js';
import { Payment, PaymentAttempt } from './entities/payment.js';
import { Payout, PayoutDestination } from './entities/payout.js';
import { PortalSession } from './entities/portal-session.js';
import { BillingPrice } from './entities/price.js';
import { ProcessorEvent, ProcessorObject } from './entities/processor-event.js';
import { Promo, PromoRedemption } from './entities/promo.js';
import { RateLimitWindow } from './entities/rate-limit.js';
import { ReconciliationDiscrepancy, ReconciliationRun } from './entities/reconciliation.js';
import { Refund } from './entities/refund.js';
import { BillingSubscription, SubscriptionChange } from './entities/subscription.js';
import { partnerCharges } from './consumers/partner-charges.js';
import { erase } from './erase.js';
import { mountWebhook, webhookPaths } from './native/webhook.js';
import { mountPayPage } from './native/pay-page.js';
import { mountPortalPage } from './native/portal-page.js';
import { references } from './references.js';
import { CheckoutResolver } from './resolvers/checkout.js';
import { BillingCustomerResolver } from './resolvers/customer.js';
import { GiftCheckoutSessionResolver, GiftResolver } from './resolvers/gift.js';
import { CreditNoteResolver, InvoiceLineResolver, InvoiceResolver } from './resolvers/invoice.js';
import { OrderPaymentsResolver } from './resolvers/order.js';
import { PaymentMethodResolver } from './resolvers/payment-method.js';
import { PaymentResolver } from './resolvers/payment.js';
import { PortalResolver } from './resolvers/portal.js';
import { PlanPricesResolver } from './resolvers/plan.js';
import { PriceResolver } from './resolvers/price.js';
import { DisputeResolver } from './resolvers/dispute.js';
import { PayoutDestinationResolver } from './resolvers/payout-destination.js';
import { PayoutResolver } from './resolvers/payout.js';
import { ProcessorEventResolver } from './resolvers/processor-event.js';
import { PromoResolver } from './resolvers/promo.js';
import { RefundResolver } from './resolvers/refund.js';
import { ReconciliationResolver } from './resolvers/reconciliation.js';
import { StaffSubscriptionResolver } from './resolvers/staff-subscription.js';
import { SubscriptionResolver } from './resolvers/subscription.js';
import { BillingFieldsResolver, SummaryResolver, UserBillingResolver } from './resolvers/summary.js';
import { TelehealthResolver } from './resolvers/telehealth.js';
import { seed } from './seed.js';
import { TimelineResolver } from './resolvers/timeline.js';
import { MembershipPlan, Order, User } from './stubs.js';
import { charges } from './timers/charges.js';
import { checkouts } from './timers/checkouts.js';
import { erasureTimers } from './timers/erasure.js';
import { giftTimers } from './timers/gift.js';
import { processorTimers } from './timers/processor-side.js';
import { promoTimers } from './timers/promo.js';
import { refundTimers } from './timers/refunds.js';
import { billingTimer, billingWorker } from './workers/billing.js';
import { eventWorker } from './workers/processor-events.js';
import { sandboxWorkers } from './workers/sandbox.js';

export default service({
  slug: 'payments',
  purpose: 'Takes money, gives it back, pays it out, and bills for subscriptions, through an exchangeable processor',
  entities: [
    BillingCustomer,
    BillingPrice,
    BillingSubscription,
    CheckoutSession,
    CreditNote,
    Dispute,
    FailureAlert,
    Gift,
    GiftCheckoutSession,
    Invoice,
    InvoiceCounter,
    InvoiceLine,
    Payment,
    PaymentAttempt,
    PaymentMethod,
    Payout,
    PayoutDestination,
    PortalSession,
    ProcessorEvent,
    ProcessorObject,
    Promo,
    PromoRedemption,
    RateLimitWindow,
    ReconciliationDiscrepancy,
    ReconciliationRun,
    Refund,
    SubscriptionChange,
  ],
  resolvers: [
    BillingCustomerResolver,
    BillingFieldsResolver,
    CheckoutResolver,
    CreditNoteResolver,
    DisputeResolver,
    GiftCheckoutSessionResolver,
    GiftResolver,
    InvoiceLineResolver,
    InvoiceResolver,
    OrderPaymentsResolver,
    PaymentMethodResolver,
    PaymentResolver,
    PayoutDestinationResolver,
    PayoutResolver,
    PortalResolver,
    PlanPricesResolver,
    PriceResolver,
    ProcessorEventResolver,
    PromoResolver,
    ReconciliationResolver,
    RefundResolver,
    StaffSubscriptionResolver,
    SubscriptionResolver,
    SummaryResolver,
    TelehealthResolver,
    TimelineResolver,
    UserBillingResolver,
  ],
  types: [User, MembershipPlan, Order],
  references,
  timers: [billingTimer, ...charges, ...checkouts, ...erasureTimers, ...giftTimers, ...processorTimers, ...promoTimers, ...refundTimers],
  consumers: [consults, partnerCharges, treatments, visits],
  workers: [...sandboxWorkers, billingWorker, eventWorker],
  nativePaths: [...webhookPaths, ...documentPaths],
  seed,
  erase,
  native: async (app, host, authenticate) => {
    await serveDocuments(app, host, authenticate);
    await mountWebhook(app, host);
    await mountPayPage(app, host);
    await mountPortalPage(app, host);
  },
});
