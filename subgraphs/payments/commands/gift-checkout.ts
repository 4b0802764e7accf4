import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { after } from '../../../runtime/time/durations.js';
import type { BillingCustomer } from '../entities/customer.js';
import { BillingSessionStatus, PaymentAttemptStatus, PaymentPurpose, PaymentStatus } from '../entities/enums-payment.js';
import { Gift, GiftCheckoutSession } from '../entities/gift.js';
import type { PaymentMethod } from '../entities/payment-method.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import { BillingPrice } from '../entities/price.js';
import { sealed } from '../entities/sealed.js';
import type { CreateGiftCheckoutSessionInput } from '../inputs/gift.js';
import { processorOf } from '../ports/processors.js';
import { lineAmount, SESSION_MS, statementDescriptor } from '../rules/checkout.js';
import { giftViolations } from '../rules/gift-input.js';
import { giftExpiry } from '../rules/gift.js';
import { redirectFault } from '../rules/redirect.js';
import { buyerFacts, type BuyerFacts } from './buyer.js';
import { beginCharge, begunCharge, runCharge } from './charging.js';
import { ensureAtProcessor, lockCustomer } from './customer.js';
import { hostedToken } from './hosted.js';
import { chargeableMethod } from './payment-method.js';

/** What a gift must know before its transaction: who buys where, and what. */
export interface GiftFacts extends BuyerFacts {
  /** Of a membership. */
  price: BillingPrice | null;
}

/** The price of a membership that is given. @throws Problem invalid_request for one that is not sold. */
async function priceOf(ctx: Context, { priceId }: CreateGiftCheckoutSessionInput): Promise<BillingPrice | null> {
  if (priceId == null) return null;
  const where = { id: priceId.toLowerCase(), active: true, subjectKind: PriceSubjectKind.MEMBERSHIP_PLAN };
  const price = await ctx.em.findOne(BillingPrice, where);
  return price?.interval && price.unitAmountMinor > 0 ? price : invalid('/input/priceId', 'is no price of a membership that is sold');
}

function requireRedirect(ctx: Context, returnUrl: string, { brand, redirectUris }: BuyerFacts): void {
  const fault = redirectFault(returnUrl, { hosts: brand.hosts, redirectUris, production: ctx.host.config.production });
  if (fault) invalid('/input/returnUrl', fault);
}

/** @throws Problem invalid_request, not_found or unavailable. */
export const giftFacts = preparation(async (ctx: Context, { input }: { input: CreateGiftCheckoutSessionInput }): Promise<GiftFacts> => {
  const userId = ctx.subject(input.userId).toLowerCase();
  requireValid(giftViolations(input, ctx.now()));
  const price = await priceOf(ctx, input);
  const buyer = await buyerFacts(ctx, userId, price?.brandId ?? null);
  requireRedirect(ctx, input.returnUrl, buyer);
  return { ...buyer, price };
});

interface Value {
  price: BillingPrice | null;
  amount: number;
  currency: string;
}

/** What a gift is worth: its price so many times, or the credit. */
function valueOf({ value, periods }: CreateGiftCheckoutSessionInput, price: BillingPrice | null): Value {
  if (price === null) return { price, amount: value!.amount, currency: value!.currency };
  return { price, amount: lineAmount({ unitAmount: price.unitAmountMinor, quantity: periods! }), currency: price.currency };
}

function draftGift(ctx: Context, input: CreateGiftCheckoutSessionInput, userId: string, brandId: string, value: Value): Gift {
  const gift = new Gift();
  const seal = (text: string | null | undefined, field: string): Buffer | null =>
    text == null ? null : sealed(ctx, text, `gift_${field}`, gift.id);
  return Object.assign(gift, {
    kind: input.kind,
    brandId,
    purchaserId: userId,
    priceId: value.price?.id ?? null,
    periods: input.periods ?? null,
    valueMinor: value.amount,
    currency: value.currency,
    codeLast4: '',
    recipientNameSealed: seal(input.recipient.name, 'recipient_name'),
    recipientEmailSealed: seal(input.recipient.email, 'recipient_email'),
    messageSealed: seal(input.message, 'message'),
    deliverAt: input.deliverAt ?? null,
    expiresAt: giftExpiry(ctx.now()),
    createdAt: ctx.now(),
  });
}

function draftSession(ctx: Context, gift: Gift, customer: BillingCustomer, returnUrl: string): GiftCheckoutSession {
  const session = new GiftCheckoutSession();
  return Object.assign(session, hostedToken(ctx, session.id), {
    userId: customer.userId,
    customerId: customer.id,
    brandId: gift.brandId,
    clientId: ctx.caller.clientId,
    giftId: gift.id,
    currency: gift.currency,
    subtotalMinor: gift.valueMinor,
    totalMinor: gift.valueMinor,
    returnUrl,
    expiresAt: after(ctx.now(), SESSION_MS),
    createdAt: ctx.now(),
  });
}

const draftPayment = (ctx: Context, session: GiftCheckoutSession, descriptor: string): Payment =>
  Object.assign(new Payment(), {
    userId: session.userId,
    customerId: session.customerId,
    brandId: session.brandId,
    purpose: PaymentPurpose.GIFT,
    status: PaymentStatus.REQUIRES_PAYMENT_METHOD,
    amountMinor: session.totalMinor,
    currency: session.currency,
    processor: processorOf(ctx.host).name,
    giftSessionId: session.id,
    statementDescriptor: descriptor,
    createdAt: ctx.now(),
  });

/** The payment of a session, locked: the one that waits for another method, else a new one. */
async function paymentOf(ctx: Context, session: GiftCheckoutSession, descriptor: string): Promise<Payment> {
  if (session.paymentId) return lockRow(ctx, Payment, { id: session.paymentId });
  const payment = draftPayment(ctx, session, descriptor);
  session.paymentId = payment.id;
  await ctx.em.persist(payment).flush();
  return payment;
}

/** @throws Problem invalid_request: a customer pays in one currency. Source: payments 7.13. */
function requireCurrency({ currencyFixed, currency }: BillingCustomer, value: Value): void {
  if (currencyFixed && currency !== value.currency)
    invalid(value.price ? '/input/priceId' : '/input/value/currency', `the customer pays in ${currency}`);
}

/** Transaction 1: the gift, its session and, with a method, an attempt. @throws Problem invalid_request. */
export async function openGiftSession(ctx: Context, input: CreateGiftCheckoutSessionInput, facts: GiftFacts): Promise<GiftCheckoutSession> {
  const { account, brand, price } = facts;
  const value = valueOf(input, price);
  const customer = await lockCustomer(ctx, {
    userId: account.id,
    brandId: brand.id,
    currency: brand.defaultCurrency,
    email: account.email,
  });
  requireCurrency(customer, value);
  const gift = draftGift(ctx, input, account.id, brand.id, value);
  const session = draftSession(ctx, gift, customer, input.returnUrl);
  await ctx.em.persist(gift).flush(); // the session refers to it
  await ctx.em.persist(session).flush();
  ctx.audit('gift.ordered', gift.id, { kind: gift.kind, session_id: session.id });
  if (input.paymentMethodId != null) {
    const method = await chargeableMethod(ctx, { userId: account.id, customerId: customer.id }, input.paymentMethodId.toLowerCase());
    await confirmGift(
      ctx,
      session,
      method ?? invalid('/input/paymentMethodId', 'is no method of the customer'),
      statementDescriptor(brand.name),
    );
  }
  return session;
}

/** Begins to charge a session, which is locked. @throws Problem conflict unless it is open. */
export async function confirmGift(ctx: Context, session: GiftCheckoutSession, method: PaymentMethod, descriptor: string): Promise<void> {
  if (session.status !== BillingSessionStatus.OPEN || session.expiresAt <= ctx.now())
    fail('conflict', `a gift's checkout that is ${session.status.replaceAll('_', ' ')} cannot be paid`);
  const payment = await paymentOf(ctx, session, descriptor);
  await beginCharge(ctx, { payment, method, offSession: false });
  Object.assign(session, { status: BillingSessionStatus.PROCESSING, paymentMethodId: method.id, version: session.version + 1 });
}

/** Asks the processor for the attempt that is under way, if one is; a repeat has one effect. Outside transactions. */
export async function chargeGift(host: ServiceHost, sessionId: string): Promise<Payment | null> {
  const found = await host.read(async ctx => {
    const session = await requireRow(ctx, GiftCheckoutSession, { id: sessionId });
    const running = {
      paymentId: session.paymentId ?? sessionId,
      status: { $in: [PaymentAttemptStatus.PENDING, PaymentAttemptStatus.UNKNOWN] },
    };
    return { session, attempt: await ctx.em.findOne(PaymentAttempt, running) };
  });
  const { attempt } = found;
  if (!attempt) return null;
  await ensureAtProcessor(host, found.session.customerId);
  return (await runCharge(host, await host.read(ctx => begunCharge(ctx, attempt.id)))).payment;
}
