import { newId } from '../../../runtime/data/ids.js';
import { findRow, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, type Problem, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { twoPhases } from '../../../runtime/request/two-phase.js';
import type { BillingCustomer } from '../entities/customer.js';
import { BillingSubscriptionSource as Source, BillingSubscriptionStatus as Status } from '../entities/enums-billing.js';
import { PaymentMethodStatus } from '../entities/enums-payment.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { BillingPrice } from '../entities/price.js';
import type { Promo } from '../entities/promo.js';
import { BillingSubscription } from '../entities/subscription.js';
import { PaymentBehavior, type CreateBillingSubscriptionInput } from '../inputs/subscription.js';
import type { BrandTerms } from '../ports/brand-terms.js';
import { times } from '../rules/proration.js';
import { buyerTerms, type BuyerFacts } from './buyer.js';
import { lockCustomer } from './customer.js';
import { applyCharged, callInvoice, declineOf } from './invoice-charging.js';
import { collect } from './invoice-payment.js';
import { reserve } from './promo.js';
import { abandonSubscription } from './subscription-end.js';
import { openSubscription, trialDaysFor } from './subscription-opening.js';

interface Facts {
  buyer: BuyerFacts;
  price: BillingPrice;
  terms: BrandTerms;
}

type Asked = { input: CreateBillingSubscriptionInput };

/** Terms that only services may set. */
const SERVICE_FIELDS = ['trialDays', 'anchorAt', 'source'] as const;

function requirePlain(ctx: Context, input: CreateBillingSubscriptionInput): void {
  if (ctx.caller.kind === 'service') {
    if (input.source === Source.GIFT) invalid('/input/source', 'is redeemed, not bought');
    return;
  }
  const given = SERVICE_FIELDS.filter(name => input[name] != null);
  requireValid(given.map(name => ({ pointer: `/input/${name}`, message: 'is for services' })));
}

/** @throws Problem invalid_request for a price that is not sold again and again. */
async function recurringPrice(ctx: Context, id: string): Promise<BillingPrice> {
  const price = await findRow(ctx, BillingPrice, { id: id.toLowerCase(), active: true });
  return price?.interval ? price : invalid('/input/priceId', 'is no price that is sold and charged again and again');
}

/** What a subscription must know before its transaction: who buys, what, and how the brand bills. */
export const subscriptionFacts = preparation(async (ctx: Context, { input }: Asked): Promise<Facts> => {
  const userId = ctx.subject(input.userId).toLowerCase();
  requirePlain(ctx, input);
  if (input.anchorAt && input.anchorAt <= ctx.now()) invalid('/input/anchorAt', 'must be later than now');
  const price = await recurringPrice(ctx, input.priceId);
  const { terms, ...buyer } = await buyerTerms(ctx, { userId, brandId: price.brandId, places: false });
  return { buyer, price, terms };
});

async function methodOf(ctx: Context, customer: BillingCustomer, id: string | null): Promise<PaymentMethod | null> {
  const where = id === null ? { customerId: customer.id, isDefault: true } : { customerId: customer.id, id };
  const method = await findRow(ctx, PaymentMethod, { ...where, status: PaymentMethodStatus.ACTIVE });
  return id !== null && !method ? invalid('/input/paymentMethodId', 'is no method of the customer') : method;
}

/** The code, held for the subscription. @throws Problem invalid_request at /promo_code. */
async function promoFor(
  ctx: Context,
  customer: BillingCustomer,
  price: BillingPrice,
  { promoCode, quantity }: CreateBillingSubscriptionInput,
  subscriptionId: string,
): Promise<Promo | null> {
  if (promoCode == null) return null;
  const { userId, brandId } = customer;
  const { id: priceId, subjectKind, subjectId, currency } = price;
  const lines = [{ priceId, subjectKind, subjectId, subtotal: Number(times(price.unitAmountMinor, quantity)), recurring: true }];
  return (await reserve(ctx, { subscriptionId }, { userId, brandId, currency, lines }, promoCode, '/input/promoCode')).promo;
}

async function open(ctx: Context, { input }: Asked): Promise<string> {
  const { buyer, price, terms } = subscriptionFacts.of(ctx);
  const { account, brand } = buyer;
  const customer = await lockCustomer(ctx, { userId: account.id, brandId: brand.id, currency: price.currency, email: account.email });
  if (customer.currencyFixed && customer.currency !== price.currency)
    invalid('/input/priceId', `the customer pays in ${customer.currency}`);
  const method = await methodOf(ctx, customer, input.paymentMethodId?.toLowerCase() ?? null);
  const id = newId();
  const promo = await promoFor(ctx, customer, price, input, id);
  const trialDays = await trialDaysFor(ctx, { userId: account.id, price, promo, asked: input.trialDays });
  const { subscription, invoice } = await openSubscription(ctx, {
    id,
    customer,
    price,
    quantity: input.quantity,
    paymentMethodId: input.paymentMethodId == null ? null : method!.id,
    promo,
    trialDays,
    brand: terms,
    source: input.source ?? Source.PURCHASE,
    anchorAt: input.anchorAt ?? null,
    metadata: input.metadata ?? {},
  });
  await ctx.em.flush();
  if (invoice) await collect(ctx, invoice, { offSession: false, method });
  return subscription.id;
}

/** Opens a subscription and charges its first invoice. */
export const opening = twoPhases({
  intend: open,
  call: async (ctx, { id }) => callInvoice(ctx, (await ctx.em.findOneOrFail(BillingSubscription, { id })).latestInvoiceId),
});

/** Transaction 2. @returns the subscription, or the problem that the first payment was declined where the caller wants that. */
export async function opened(ctx: Context, { paymentBehavior }: CreateBillingSubscriptionInput): Promise<BillingSubscription | Problem> {
  const { intent, outcome } = opening.of(ctx);
  const payment = await applyCharged(ctx, outcome);
  const subscription = await lockRow(ctx, BillingSubscription, { id: intent.id });
  const isOpen = subscription.status === Status.INCOMPLETE;
  if (!isOpen || paymentBehavior === PaymentBehavior.DEFAULT_INCOMPLETE) return subscription;
  const declined = declineOf(payment);
  if (payment && !declined) return subscription; // its outcome is not known yet
  await abandonSubscription(ctx, subscription, 'cancel');
  return declined ?? fail('conflict', 'the customer has no method to charge', { reason: 'no_payment_method' });
}
