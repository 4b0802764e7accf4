import type Stripe from 'stripe';
import type { Network } from '../../../../runtime/http/public-address.js';
import { PaymentProcessor } from '../../entities/enums-payment.js';
import { RESOURCE_MISSING } from '../../rules/decline.js';
import { toStripe } from '../../rules/stripe-amount.js';
import type {
  ChargeInput,
  HeaderReader,
  NoticeRefusal,
  Processor,
  ProcessorCall,
  ProcessorMoney,
  ProcessorNotice,
  ProcessorResult,
} from '../processor.js';
import { declinedAs, failed } from './errors.js';
import { GuardedStripeClient } from './http-client.js';
import { noticeOf, verifyNotice } from './notices.js';
import { chargeOf, disputeOf, KEY, methodOf, movementOf, outcomeOf, payoutOf, payoutOutcome, refundOutcome } from './shown.js';
import { stripePackage } from './package.js';

/** The version whose answers the adapter knows; a new one of the package does not change it. */
export const STRIPE_API_VERSION = '2026-10-28.endive';
/** Over everything; Stripe itself gives up after about this long. */
const DEADLINE_MS = 25_000;
const PAGE = 100;
/** Clocks of Stripe and ours differ by less, s. */
const SKEW_SECONDS = 300;
/** Longest text on a statement beside the account's own name. */
const MAX_DESCRIPTOR = 22;
const EXPANDED = ['latest_charge.balance_transaction'];

export interface StripeSetting {
  secretKey: string;
  deadlineMs?: number;
  /** Where Stripe's double is; tests only. */
  host?: string;
  port?: number;
  protocol?: 'http' | 'https';
  allowed?: readonly Network[];
}

type Amount = { readonly amount: number; readonly currency: string };

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/** An amount and currency as Stripe writes them; null where it cannot. */
function amountOf({ amount, currency }: ProcessorMoney): Amount | null {
  const value = toStripe(amount, currency);
  return value === null ? null : { amount: value, currency: currency.toLowerCase() };
}

const withKey = (metadata: Readonly<Record<string, string>>, { idempotencyKey }: ProcessorCall): Record<string, string> => ({
  ...metadata,
  [KEY]: idempotencyKey,
});

const once = ({ idempotencyKey }: ProcessorCall): Stripe.RequestOptions => ({ idempotencyKey });

/** A pageful is looked through for the object of a call: one customer or day has no more of them. */
const ofKey = <T extends { metadata: Record<string, string> | null }>(list: { data: T[] }, key: string): T | undefined =>
  list.data.find(one => one.metadata?.[KEY] === key);

/** Stripe by its own package: pinned version, no retries of its own (ours have the same key), no telemetry. Source: section 8. */
export class StripeProcessor implements Processor {
  readonly name = PaymentProcessor.STRIPE;
  readonly #stripe: Stripe;
  readonly #http: GuardedStripeClient;

  constructor({ secretKey, deadlineMs = DEADLINE_MS, allowed, host, port, protocol }: StripeSetting) {
    this.#http = new GuardedStripeClient({ deadlineMs, ...(allowed && { allowed }) });
    this.#stripe = new (stripePackage())(secretKey, {
      apiVersion: STRIPE_API_VERSION,
      maxNetworkRetries: 0,
      telemetry: false,
      timeout: deadlineMs,
      httpClient: this.#http,
      ...(host !== undefined && { host, port, protocol }),
    });
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  async #do<Data>(work: (stripe: Stripe) => Promise<ProcessorResult<Data>>): Promise<ProcessorResult<Data>> {
    try {
      return await work(this.#stripe);
    } catch (error) {
      return failed(error);
    }
  }

  /** As {@link #do}, with an amount that Stripe can express. */
  async #pay<Data>(
    money: ProcessorMoney,
    work: (stripe: Stripe, amount: Amount) => Promise<ProcessorResult<Data>>,
  ): Promise<ProcessorResult<Data>> {
    const amount = amountOf(money);
    return amount === null ? declinedAs('amount_not_supported') : this.#do(stripe => work(stripe, amount));
  }

  ensureCustomer: Processor['ensureCustomer'] = ({ userId, brandId, email }, call) =>
    this.#do(async stripe => {
      const metadata = withKey({ user_id: userId, brand_id: brandId }, call);
      const { id } = await stripe.customers.create({ metadata, ...(email !== null && { email }) }, once(call));
      return { status: 'succeeded', data: { id } };
    });

  deleteCustomer: Processor['deleteCustomer'] = ({ customerId }, call) =>
    this.#do(async stripe => {
      await stripe.customers.del(customerId, {}, once(call)).catch(error => (isMissing(error) ? null : Promise.reject(error as Error)));
      return { status: 'succeeded', data: { id: customerId } };
    });

  attachMethod: Processor['attachMethod'] = ({ customerId, token }, call) =>
    this.#do(async stripe => {
      const method = await stripe.paymentMethods.attach(token, { customer: customerId }, once(call));
      return { status: 'succeeded', data: methodOf(method) };
    });

  detachMethod: Processor['detachMethod'] = ({ methodId }, call) =>
    this.#do(async stripe => {
      const { id } = await stripe.paymentMethods.detach(methodId, {}, once(call));
      return { status: 'succeeded', data: { id } };
    });

  listMethods: Processor['listMethods'] = ({ customerId }) =>
    this.#do(async stripe => {
      const { data } = await stripe.customers.listPaymentMethods(customerId, { limit: PAGE });
      return { status: 'succeeded', data: data.map(methodOf) };
    });

  charge: Processor['charge'] = (input, call) =>
    this.#pay(input, async (stripe, amount) => {
      const asked = stripe.paymentIntents.create({ ...intentOf(input, call), ...amount }, once(call));
      return outcomeOf(await asked.catch(declinedIntent));
    });

  capture: Processor['capture'] = ({ chargeId, ...money }, call) =>
    this.#pay(money, async (stripe, { amount }) =>
      outcomeOf(await stripe.paymentIntents.capture(chargeId, { amount_to_capture: amount, expand: EXPANDED }, once(call))),
    );

  cancel: Processor['cancel'] = ({ chargeId }, call) =>
    this.#do(async stripe => {
      const intent = await stripe.paymentIntents.cancel(chargeId, { expand: EXPANDED }, once(call));
      return { status: 'succeeded', data: chargeOf(intent) };
    });

  retrieveCharge: Processor['retrieveCharge'] = reference =>
    this.#do(async stripe => {
      if ('id' in reference) return outcomeOf(await stripe.paymentIntents.retrieve(reference.id, { expand: EXPANDED }));
      const { key, customerId: customer, since } = reference;
      const created = { gte: seconds(since) - SKEW_SECONDS };
      const found = ofKey(
        await stripe.paymentIntents.list({ customer, created, limit: PAGE, expand: EXPANDED.map(path => `data.${path}`) }),
        key,
      );
      return found ? outcomeOf(found) : declinedAs(RESOURCE_MISSING);
    });

  refund: Processor['refund'] = ({ chargeId, ...money }, call) =>
    this.#pay(money, async (stripe, { amount }) =>
      refundOutcome(await stripe.refunds.create({ payment_intent: chargeId, amount, metadata: withKey({}, call) }, once(call))),
    );

  retrieveRefund: Processor['retrieveRefund'] = reference =>
    this.#do(async stripe => {
      if ('id' in reference) return refundOutcome(await stripe.refunds.retrieve(reference.id));
      const found = ofKey(await stripe.refunds.list({ payment_intent: reference.chargeId, limit: PAGE }), reference.key);
      return found ? refundOutcome(found) : declinedAs(RESOURCE_MISSING);
    });

  describeDestination: Processor['describeDestination'] = ({ token }) =>
    this.#do(async stripe => {
      const { id } = await stripe.accounts.retrieveCurrent();
      const account = await stripe.accounts.retrieveExternalAccount(id, token);
      return { status: 'succeeded', data: { summary: `${account.object === 'card' ? account.brand : 'bank'} •${account.last4}` } };
    });

  createPayout: Processor['createPayout'] = ({ destination, reference, ...money }, call) =>
    this.#pay(money, async (stripe, amount) =>
      payoutOutcome(await stripe.payouts.create({ ...amount, destination, metadata: withKey({ reference }, call) }, once(call))),
    );

  retrievePayout: Processor['retrievePayout'] = reference =>
    this.#do(async stripe => {
      if ('id' in reference) return payoutOutcome(await stripe.payouts.retrieve(reference.id));
      const created = { gte: seconds(reference.since) - SKEW_SECONDS };
      const found = ofKey(await stripe.payouts.list({ created, limit: PAGE }), reference.key);
      return found ? payoutOutcome(found) : declinedAs(RESOURCE_MISSING);
    });

  cancelPayout: Processor['cancelPayout'] = ({ payoutId }, call) =>
    this.#do(async stripe => ({ status: 'succeeded', data: payoutOf(await stripe.payouts.cancel(payoutId, {}, once(call))) }));

  submitEvidence: Processor['submitEvidence'] = ({ disputeId, evidence }, call) =>
    this.#do(async stripe => ({
      status: 'succeeded',
      data: disputeOf(await stripe.disputes.update(disputeId, { evidence, submit: true }, once(call))),
    }));

  acceptDispute: Processor['acceptDispute'] = ({ disputeId }, call) =>
    this.#do(async stripe => ({ status: 'succeeded', data: disputeOf(await stripe.disputes.close(disputeId, {}, once(call))) }));

  retrieveDispute: Processor['retrieveDispute'] = ({ id }) =>
    this.#do(async stripe => ({ status: 'succeeded', data: disputeOf(await stripe.disputes.retrieve(id)) }));

  createHostedCheckout: Processor['createHostedCheckout'] = (
    { customerId: customer, returnUrl, cancelUrl, mode, metadata, ...money },
    call,
  ) =>
    this.#pay(money, async (stripe, { amount, currency }) => {
      const line = { quantity: 1, price_data: { currency, unit_amount: amount, product_data: { name: 'Purchase' } } };
      const kept = withKey(metadata, call);
      const what = mode === 'setup' ? { mode, currency } : { mode, line_items: [line], payment_intent_data: { metadata: kept } };
      const urls = { success_url: returnUrl, ...(cancelUrl !== null && { cancel_url: cancelUrl }) };
      const { id, url, expires_at } = await stripe.checkout.sessions.create({ customer, ...what, ...urls, metadata: kept }, once(call));
      return url === null
        ? declinedAs('processor_error')
        : { status: 'succeeded', data: { id, url, expiresAt: new Date(expires_at * 1000) } };
    });

  createPortal: Processor['createPortal'] = ({ customerId: customer, returnUrl }, call) =>
    this.#do(async stripe => {
      const { id, url } = await stripe.billingPortal.sessions.create({ customer, return_url: returnUrl }, once(call));
      return { status: 'succeeded', data: { id, url, expiresAt: null } };
    });

  listBalanceTransactions: Processor['listBalanceTransactions'] = ({ from, to, cursor }) =>
    this.#do(async stripe => {
      const created = { gte: seconds(from), lt: seconds(to) };
      const page = { limit: PAGE, expand: ['data.source'], ...(cursor !== null && { starting_after: cursor }) };
      const { data, has_more } = await stripe.balanceTransactions.list({ created, ...page });
      return { status: 'succeeded', data: { items: data.map(movementOf), nextCursor: has_more ? data.at(-1)!.id : null } };
    });

  verifyWebhook(rawBody: Buffer, header: HeaderReader, secrets: readonly string[], now: Date): ProcessorNotice | NoticeRefusal {
    return verifyNotice(rawBody, header, secrets, now);
  }

  parseNotice(rawBody: Buffer): ProcessorNotice | null {
    return noticeOf(rawBody);
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof stripePackage().errors.StripeInvalidRequestError && error.statusCode === 404;

/** A decline bears the intent that it ended; what bears none is another error. */
function declinedIntent(error: unknown): Stripe.PaymentIntent {
  if (error instanceof stripePackage().errors.StripeCardError && error.payment_intent) return error.payment_intent;
  throw error;
}

function intentOf(input: ChargeInput, call: ProcessorCall): Omit<Stripe.PaymentIntentCreateParams, 'amount' | 'currency'> {
  const redirects = input.returnUrl !== null && !input.offSession;
  return {
    customer: input.customerId,
    payment_method: input.methodId,
    confirm: true,
    off_session: input.offSession,
    capture_method: input.capture,
    statement_descriptor_suffix: input.statementDescriptor.slice(0, MAX_DESCRIPTOR),
    automatic_payment_methods: { enabled: true, allow_redirects: redirects ? 'always' : 'never' },
    ...(redirects && { return_url: input.returnUrl! }),
    metadata: withKey(input.metadata, call),
    expand: EXPANDED,
  };
}
