import type { Context } from '../../../../runtime/request/context.js';
import { newId } from '../../../../runtime/data/ids.js';
import { fail, invalid } from '../../../../runtime/request/errors.js';
import { after } from '../../../../runtime/time/durations.js';
import { CheckoutSession, type CheckoutLine } from '../../entities/checkout.js';
import type { BillingCustomer } from '../../entities/customer.js';
import { BillingSessionStatus, CheckoutMode, PaymentPurpose } from '../../entities/enums-payment.js';
import type { PaymentMethod } from '../../entities/payment-method.js';
import type { BillingPrice } from '../../entities/price.js';
import { Promo } from '../../entities/promo.js';
import { opened } from '../../entities/sealed.js';
import type { CreateCheckoutInput } from '../../inputs/checkout.js';
import { ABSENT_ORDER_MS, dueOf, lineAmount, SESSION_MS, STEP_LEASE_MS } from '../../rules/checkout.js';
import { taxOf, type Tax } from '../../rules/tax.js';
import type { BegunCharge } from '../charging.js';
import { lockCustomer } from '../customer.js';
import { hostedToken } from '../hosted.js';
import { chargeableMethod, draftMethod } from '../payment-method.js';
import { reserveForCheckout } from '../promo.js';
import { takeLimit } from '../rate-limit.js';
import { trialDaysFor } from '../subscription-opening.js';
import { beginAtOnce } from './begin.js';
import type { CheckoutFacts } from './facts.js';

const ENDED = [BillingSessionStatus.EXPIRED, BillingSessionStatus.CANCELLED];

/** The live session of an order: there is one at a time. Source: payments 4.3. */
export const sessionOfOrder = (ctx: Context, orderId: string): Promise<CheckoutSession | null> =>
  ctx.em.findOne(CheckoutSession, { orderId, status: { $nin: ENDED } });

const PURPOSES: Readonly<Record<CheckoutMode, PaymentPurpose>> = {
  [CheckoutMode.PAYMENT]: PaymentPurpose.OTHER,
  [CheckoutMode.SETUP]: PaymentPurpose.OTHER,
  [CheckoutMode.SUBSCRIPTION]: PaymentPurpose.SUBSCRIPTION,
};

/** Something bought, before promo and tax. */
interface Wanted {
  line: CheckoutLine;
  price: BillingPrice | null;
}

function wantedItems({ items, mode }: CreateCheckoutInput, { prices }: CheckoutFacts): Wanted[] {
  return (items ?? []).map(({ priceId, quantity }, index) => {
    const price = prices.get(priceId.toLowerCase())!;
    const isRecurring = price.interval !== null;
    if (isRecurring !== (mode === CheckoutMode.SUBSCRIPTION))
      invalid(`/input/items/${index}/priceId`, isRecurring ? 'is charged again and again' : 'is charged once');
    const subtotal = lineAmount({ unitAmount: price.unitAmountMinor, quantity });
    const { id, subjectKind, subjectId, key: description } = price;
    return { price, line: { priceId: id, subjectKind, subjectId, description, quantity, subtotal, discount: 0, tax: 0 } };
  });
}

const orderLines = ({ order }: CheckoutFacts): Wanted[] =>
  order!.lines.map(line => ({ price: null, line: { ...line, priceId: null, subjectKind: 'product_variant', description: 'order' } }));

function namedAmount({ amount, reference, description }: CreateCheckoutInput): Wanted[] {
  if (!amount) return [];
  const line = { priceId: null, subjectKind: 'service', subjectId: reference!.id.toLowerCase(), quantity: 1, discount: 0, tax: 0 };
  return [{ price: null, line: { ...line, description: description ?? reference!.type, subtotal: amount.amount } }];
}

const wantedOf = (input: CreateCheckoutInput, facts: CheckoutFacts): Wanted[] =>
  facts.order ? orderLines(facts) : input.items ? wantedItems(input, facts) : namedAmount(input);

/** One currency for all that is bought, the customer's once it is fixed. @throws Problem invalid_request. Source: payments 7.13. */
function currencyOf(input: CreateCheckoutInput, { order, prices, brand }: CheckoutFacts, customer: BillingCustomer): string {
  const all = new Set([...prices.values()].map(({ currency }) => currency));
  if (all.size > 1) invalid('/input/items', 'the prices have different currencies');
  const currency = order?.currency ?? input.amount?.currency ?? [...all][0] ?? brand.defaultCurrency;
  if (customer.currencyFixed && customer.currency !== currency && input.mode !== CheckoutMode.SETUP)
    invalid(
      input.amount ? '/input/amount/currency' : order ? '/input/orderId' : '/input/items',
      `the customer pays in ${customer.currency}`,
    );
  return currency;
}

type Address = { countryCode: string; region: string | null };

/** Discounts each line by the promo's allocation. */
const discounted = (wanted: readonly Wanted[], discounts: ReadonlyMap<number, number>): Wanted[] =>
  wanted.map(({ line, price }, index) => ({ price, line: { ...line, discount: discounts.get(index) ?? 0 } }));

/** The tax on what is left of each line; of a price that holds it the net is shown. A named amount holds all. */
function taxed(wanted: readonly Wanted[], { amounts }: Tax): CheckoutLine[] {
  return wanted.map(({ line, price }, index) => {
    const tax = price ? amounts[index]! : 0;
    return { ...line, tax, subtotal: price?.taxInclusive ? line.subtotal - tax : line.subtotal };
  });
}

const sum = (lines: readonly CheckoutLine[], part: 'subtotal' | 'discount' | 'tax'): number =>
  lines.reduce((total, line) => total + line[part], 0);

function setTotals(session: CheckoutSession, lines: CheckoutLine[], shipping: number): void {
  const totals = { subtotal: sum(lines, 'subtotal'), discount: sum(lines, 'discount'), tax: sum(lines, 'tax'), shipping };
  Object.assign(session, {
    lines,
    subtotalMinor: totals.subtotal,
    discountMinor: totals.discount,
    taxMinor: totals.tax,
    shippingMinor: shipping,
    totalMinor: dueOf(totals),
  });
}

/** Totals of an order are commerce's, its promo and tax among them. @throws Problem conflict for one that no longer waits for its payment. */
function takeOrder(session: CheckoutSession, { order }: CheckoutFacts): void {
  if (order!.status !== 'PENDING_PAYMENT')
    fail('conflict', `an order that is ${order!.status.toLowerCase().replace('_', ' ')} cannot be paid`);
  const { subtotal, discount, tax, shipping, promoCode, affiliateCode, taxRegion } = order!;
  Object.assign(session, {
    subtotalMinor: subtotal,
    discountMinor: discount,
    taxMinor: tax,
    shippingMinor: shipping,
    totalMinor: dueOf({ subtotal, discount, tax, shipping }),
    promoCode,
    taxRegion,
    affiliateCode: affiliateCode ?? session.affiliateCode,
  });
}

async function methodFor(ctx: Context, input: CreateCheckoutInput, customer: BillingCustomer): Promise<PaymentMethod | null> {
  if (input.paymentMethodToken != null) return draftMethod(ctx, customer, input.paymentMethodToken);
  if (input.paymentMethodId == null) return null;
  const { userId, id: customerId } = customer;
  const method = await chargeableMethod(ctx, { userId, customerId }, input.paymentMethodId.toLowerCase());
  return method ?? invalid('/input/paymentMethodId', 'is no method of the customer');
}

function draft(ctx: Context, input: CreateCheckoutInput, facts: CheckoutFacts, customer: BillingCustomer): CheckoutSession {
  const { order } = facts;
  const session = Object.assign(new CheckoutSession(), {
    userId: customer.userId,
    customerId: customer.id,
    brandId: customer.brandId,
    clientId: ctx.caller.clientId,
    mode: input.mode,
    purpose: order ? PaymentPurpose.ORDER : PURPOSES[input.mode],
    orderId: order?.id ?? null,
    invoiceId: input.mode === CheckoutMode.SUBSCRIPTION ? newId() : null, // known before it is made out: cash is spent for it
    referenceType: input.reference?.type ?? null,
    referenceId: input.reference?.id.toLowerCase() ?? null,
    description: input.description ?? null,
    affiliateCode: input.affiliateCode ?? null,
    useCash: input.useCash,
    capture: input.capture,
    offSession: input.offSession,
    returnUrl: input.returnUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    metadata: input.metadata ?? {},
    currency: currencyOf(input, facts, customer),
    cashAppliedMinor: 0,
    creditAppliedMinor: 0,
    expiresAt: after(ctx.now(), input.offSession && order ? ABSENT_ORDER_MS : SESSION_MS),
    createdAt: ctx.now(),
  });
  return Object.assign(session, hostedToken(ctx, session.id));
}

/** The address that decides about tax: that of the method, where it has one. */
const addressOf = (ctx: Context, method: PaymentMethod | null): Address | null =>
  method && opened<Address>(ctx, method.billingAddressSealed, 'payment_method', method.id);

/** Step 1 of the saga: the code is held; what it takes off each line. */
async function holdPromo(ctx: Context, session: CheckoutSession, code: string | null | undefined): Promise<ReadonlyMap<number, number>> {
  if (code == null) return new Map();
  await ctx.em.flush();
  const { promo, allocations } = await reserveForCheckout(ctx, session, code);
  Object.assign(session, { promoId: promo.id, promoCode: promo.code });
  return new Map(allocations.map(({ line, amount }) => [line, amount.amount]));
}

const nothing = (line: CheckoutLine): CheckoutLine => ({ ...line, subtotal: 0, discount: 0, tax: 0 });

/** A subscription that is tried first costs nothing now. */
async function isTrial(ctx: Context, { mode, userId, promoId, lines }: CheckoutSession, { prices }: CheckoutFacts): Promise<boolean> {
  if (mode !== CheckoutMode.SUBSCRIPTION) return false;
  const promo = promoId === null ? null : await ctx.em.findOne(Promo, { id: promoId });
  return (await trialDaysFor(ctx, { userId, price: prices.get(lines[0]!.priceId!)!, promo })) > 0;
}

export interface Opened {
  session: CheckoutSession;
  /** What the processor is to be asked after the transaction; null: the saga's first step comes before that, or nothing is due yet. */
  charge: BegunCharge | null;
}

/**
 * Transaction 1 of a checkout: the session with its amounts, its promo held. With a method it is confirmed at once: its first step is due.
 * @throws Problem invalid_request for what cannot be bought so, rate_limited for a user's 21st in a minute.
 */
export async function openCheckout(ctx: Context, input: CreateCheckoutInput, facts: CheckoutFacts): Promise<Opened> {
  await takeLimit(ctx, 'checkout', ctx.caller.kind === 'user' ? facts.account.id : null);
  const { account, brand } = facts;
  const buyer = { userId: account.id, brandId: brand.id, currency: brand.defaultCurrency, email: account.email };
  const customer = await lockCustomer(ctx, buyer);
  const session = draft(ctx, input, facts, customer);
  const method = await methodFor(ctx, input, customer);
  const wanted = wantedOf(input, facts);
  setTotals(
    session,
    wanted.map(({ line }) => line),
    0,
  );
  ctx.em.persist(session);
  if (facts.order) takeOrder(session, facts);
  else {
    const cut = discounted(wanted, await holdPromo(ctx, session, input.promoCode));
    const bases = cut.map(({ line, price }) => ({ amount: line.subtotal - line.discount, inclusive: price?.taxInclusive ?? false }));
    const tax = taxOf(facts.terms.taxRates, bases, addressOf(ctx, method));
    const isTried = await isTrial(ctx, session, facts);
    setTotals(session, isTried ? taxed(cut, tax).map(nothing) : taxed(cut, tax), 0);
    session.taxRegion = tax.region;
  }
  if (session.subtotalMinor > Number.MAX_SAFE_INTEGER) fail('invalid_request', 'The amounts are too large');
  if (method || isFree(session))
    Object.assign(session, { paymentMethodId: method?.id ?? null, stepDueAt: after(ctx.now(), STEP_LEASE_MS) });
  ctx.audit('checkout.created', session.id, { mode: session.mode, total: session.totalMinor, currency: session.currency });
  return { session, charge: await beginAtOnce(ctx, session, { customer, method, terms: facts.terms }) };
}

/** Nothing has to be paid, and nothing will have to be later. */
const isFree = ({ mode, totalMinor }: CheckoutSession): boolean => mode === CheckoutMode.PAYMENT && totalMinor === 0;
