import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';

type Params = { [name: string]: string | Params };
type Row = Record<string, any>;

/** An error as Stripe answers it. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: Row,
  ) {
    super(String(body.message));
  }
}

const refuse = (message: string, code: string | null = null, more: Row = {}, status = 400): never => {
  throw new Refusal(status, { type: 'invalid_request_error', message, code, ...more });
};
const missing = (id: string): never => refuse(`No such object: '${id}'`, 'resource_missing', {}, 404);

/** What each endpoint takes, as paths of its form; anything else is refused, as Stripe does. */
const METADATA = /^metadata\[\w+\]$/;
const PARAMS: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  'POST /v1/customers': ['email', METADATA],
  'DELETE /v1/customers/:id': [],
  'GET /v1/customers/:id/payment_methods': ['limit'],
  'POST /v1/payment_methods/:id/attach': ['customer'],
  'POST /v1/payment_methods/:id/detach': [],
  'POST /v1/payment_intents': [
    'amount',
    'currency',
    'customer',
    'payment_method',
    'confirm',
    'off_session',
    'capture_method',
    'statement_descriptor_suffix',
    'return_url',
    'automatic_payment_methods[enabled]',
    'automatic_payment_methods[allow_redirects]',
    METADATA,
    /^expand\[\d\]$/,
  ],
  'GET /v1/payment_intents': ['customer', 'created[gte]', 'limit', /^expand\[\d\]$/],
  'GET /v1/payment_intents/:id': [/^expand\[\d\]$/],
  'POST /v1/payment_intents/:id/capture': ['amount_to_capture', /^expand\[\d\]$/],
  'POST /v1/payment_intents/:id/cancel': [/^expand\[\d\]$/],
  'POST /v1/refunds': ['payment_intent', 'amount', METADATA],
  'GET /v1/refunds': ['payment_intent', 'limit'],
  'GET /v1/refunds/:id': [],
  'GET /v1/account': [],
  'GET /v1/accounts/:id/external_accounts/:other': [],
  'POST /v1/payouts': ['amount', 'currency', 'destination', METADATA],
  'GET /v1/payouts': ['created[gte]', 'limit'],
  'GET /v1/payouts/:id': [],
  'POST /v1/payouts/:id/cancel': [],
  'GET /v1/disputes/:id': [],
  'POST /v1/disputes/:id': [/^evidence\[\w+\]$/, 'submit'],
  'POST /v1/disputes/:id/close': [],
  'GET /v1/balance_transactions': ['created[gte]', 'created[lt]', 'limit', 'starting_after', /^expand\[\d\]$/],
  'POST /v1/checkout/sessions': [
    'customer',
    'mode',
    'currency',
    'success_url',
    'cancel_url',
    METADATA,
    /^payment_intent_data\[metadata\]\[\w+\]$/,
    /^line_items\[0\]\[\w+\](\[\w+\])*$/,
  ],
  'POST /v1/billing_portal/sessions': ['customer', 'return_url'],
};

const DECLINES: Readonly<Record<string, { code: string; decline_code: string }>> = {
  pm_card_visa_chargeDeclined: { code: 'card_declined', decline_code: 'generic_decline' },
  pm_card_visa_chargeDeclinedInsufficientFunds: { code: 'card_declined', decline_code: 'insufficient_funds' },
  pm_card_visa_chargeDeclinedLostCard: { code: 'card_declined', decline_code: 'lost_card' },
  pm_card_visa_chargeDeclinedStolenCard: { code: 'card_declined', decline_code: 'stolen_card' },
  pm_card_chargeDeclinedExpiredCard: { code: 'expired_card', decline_code: 'expired_card' },
  pm_card_chargeDeclinedIncorrectCvc: { code: 'incorrect_cvc', decline_code: 'incorrect_cvc' },
};
const TOKENS = [
  'pm_card_visa',
  'pm_card_mastercard',
  'pm_card_amex',
  'pm_card_authenticationRequired',
  'pm_card_createDispute',
  'pm_card_pendingRefund',
  ...Object.keys(DECLINES),
];

/** Nested values of Stripe's form encoding: `metadata[user_id]=…`. */
function nested(flat: URLSearchParams): Params {
  const root: Params = {};
  for (const [path, value] of flat) {
    const names = path.split(/[[\]]+/).filter(Boolean);
    const last = names.pop()!;
    const place = names.reduce<Params>((at, name) => (at[name] ??= {}) as Params, root);
    place[last] = value;
  }
  return root;
}

/** Stripe as its documentation describes it, as far as the adapter uses it. It refuses unknown parameters and honours Idempotency-Key. */
export class StripeDouble {
  readonly key = 'sk_test_double';
  readonly secret = 'whsec_double_0123456789abcdef';
  /** Requests that changed something, replays left out. */
  effects = 0;
  /** Parameters that it refused. */
  readonly unknown: string[] = [];
  /** Headers of the last request. */
  headers: IncomingMessage['headers'] = {};
  /** Answers wait so long, ms. */
  delayMs = 0;
  /** Statuses that the next requests are answered with, instead. */
  readonly failures: number[] = [];
  now = (): number => Math.floor(Date.now() / 1000);
  readonly #rows = new Map<string, Row>();
  readonly #answers = new Map<string, { hash: string; status: number; body: Row }>();
  #server!: Server;

  async start(): Promise<this> {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** An event with its signature. */
  event(type: string, object: Row, secret = this.secret, at = this.now()): { body: Buffer; header: string } {
    const payload = JSON.stringify({ id: `evt_${randomUUID()}`, object: 'event', type, created: at, data: { object } });
    return { body: Buffer.from(payload), header: Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: at }) };
  }

  row(id: string): Row {
    return this.#rows.get(id)!;
  }

  /** The cardholder's bank takes a charge back, or asks about it. */
  openDispute(intentId: string, status = 'needs_response'): string {
    const intent = this.row(intentId);
    const moved = status === 'needs_response' ? [this.#move('dispute', -intent.amount, intent.currency, null, 1500)] : [];
    const made = this.#make('dp', 'dispute', {
      amount: intent.amount,
      currency: intent.currency,
      charge: intent.latest_charge,
      payment_intent: intentId,
      status,
      reason: 'fraudulent',
      balance_transactions: moved,
      evidence_details: { due_by: this.now() + 604_800 },
    });
    for (const one of moved) one.source = made.id;
    return made.id;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url!, 'http://stripe.test');
    this.headers = request.headers;
    await new Promise(resolve => setTimeout(resolve, this.delayMs));
    const { status, body, replayed } = this.#answer(request, url, Buffer.concat(chunks).toString());
    response.writeHead(status, {
      'content-type': 'application/json',
      'request-id': 'req_double',
      ...(replayed && { 'idempotent-replayed': 'true' }),
    });
    response.end(JSON.stringify(body));
  }

  #answer({ method, headers }: IncomingMessage, url: URL, text: string): { status: number; body: Row; replayed: boolean } {
    const failure = this.failures.shift();
    if (failure !== undefined) return { status: failure, body: { error: { type: 'api_error', message: 'down' } }, replayed: false };
    const form = new URLSearchParams(method === 'POST' ? text : url.search);
    const [hash, key] = [
      createHash('sha256').update(`${url.pathname}\n${text}`).digest('hex'),
      headers['idempotency-key'] as string | undefined,
    ];
    const known = method === 'GET' || key === undefined ? undefined : this.#answers.get(key);
    if (known && known.hash !== hash)
      return {
        status: 400,
        body: { error: { type: 'idempotency_error', message: 'Keys for idempotent requests can only be used with the same parameters' } },
        replayed: false,
      };
    if (known) return { status: known.status, body: known.body, replayed: true };
    const { status, body } = this.#attempt(method!, url.pathname, form, headers);
    if (method !== 'GET' && key !== undefined && status < 500) this.#answers.set(key, { hash, status, body });
    if (method !== 'GET' && status === 200) this.effects++;
    return { status, body, replayed: false };
  }

  #attempt(method: string, path: string, form: URLSearchParams, headers: IncomingMessage['headers']): { status: number; body: Row } {
    try {
      if (headers.authorization !== `Bearer ${this.key}`) refuse('Invalid API Key provided', null, { type: 'authentication_error' }, 401);
      this.#check(method, path, form);
      return { status: 200, body: structuredClone(this.#run(method, path, nested(form) as Row, form)) };
    } catch (error) {
      if (error instanceof Refusal) return { status: error.status, body: { error: error.body } };
      throw error;
    }
  }

  #check(method: string, path: string, form: URLSearchParams): void {
    const endpoint = Object.keys(PARAMS).find(key => key.startsWith(`${method} `) && matches(key, path));
    if (!endpoint) refuse(`Unrecognized request URL (${method}: ${path})`, null, {}, 404);
    for (const name of form.keys()) {
      if (PARAMS[endpoint!]!.some(one => (typeof one === 'string' ? one === name : one.test(name)))) continue;
      this.unknown.push(name);
      refuse(`Received unknown parameter: ${name}`, 'parameter_unknown', { param: name });
    }
  }

  #make(prefix: string, object: string, row: Row): Row {
    const made = { id: `${prefix}_${randomUUID().replaceAll('-', '')}`, object, created: this.now(), metadata: {}, ...row };
    this.#rows.set(made.id, made);
    return made;
  }

  #find(id: string | undefined, object: string): Row {
    const row = this.#rows.get(id ?? '');
    return row?.object === object ? row : missing(String(id));
  }

  #all(object: string): Row[] {
    return [...this.#rows.values()].filter(row => row.object === object).toReversed();
  }

  #move(category: string, amount: number, currency: string, source: string | null, fee = 0): Row {
    return this.#make('txn', 'balance_transaction', { reporting_category: category, type: category, amount, fee, currency, source });
  }

  #run(method: string, path: string, params: Row, form: URLSearchParams): Row {
    const [, , resource, id, sub, other] = path.split('/') as string[];
    const expand = [...form].some(([name, value]) => name.startsWith('expand') && value.includes('latest_charge'));
    switch (`${method} ${[resource, id && 'id', sub].filter(Boolean).join(' ')}`) {
      case 'POST customers':
        return this.#make('cus', 'customer', { email: params.email ?? null, metadata: params.metadata ?? {} });
      case 'DELETE customers id':
        this.#find(id, 'customer');
        this.#rows.delete(id!);
        return { id, object: 'customer', deleted: true };
      case 'GET customers id payment_methods':
        return list(this.#all('payment_method').filter(one => one.customer === id));
      case 'POST payment_methods id attach':
        return this.#attach(id!, this.#find(params.customer, 'customer').id);
      case 'POST payment_methods id detach':
        return Object.assign(this.#find(id, 'payment_method'), { customer: null });
      case 'POST payment_intents':
        return this.#intent(params, expand);
      case 'GET payment_intents':
        return list(
          this.#all('payment_intent')
            .filter(one => one.customer === params.customer && one.created >= Number(params.created.gte))
            .map(one => this.#shown(one, expand)),
        );
      case 'GET payment_intents id':
        return this.#shown(this.#find(id, 'payment_intent'), expand);
      case 'POST payment_intents id capture':
        return this.#shown(this.#capture(this.#find(id, 'payment_intent'), Number(params.amount_to_capture)), expand);
      case 'POST payment_intents id cancel':
        return this.#shown(this.#cancel(this.#find(id, 'payment_intent')), expand);
      case 'POST refunds':
        return this.#refund(this.#find(params.payment_intent, 'payment_intent'), params);
      case 'GET refunds':
        return list(this.#all('refund').filter(one => one.payment_intent === params.payment_intent));
      case 'GET refunds id':
        return this.#find(id, 'refund');
      case 'GET account':
        return { id: 'acct_double', object: 'account' };
      case 'GET accounts id external_accounts':
        return other === 'ba_ok' ? { id: 'ba_ok', object: 'bank_account', last4: '6789' } : missing(String(other));
      case 'POST payouts':
        return this.#payout(params);
      case 'GET payouts':
        return list(this.#all('payout').filter(one => one.created >= Number(params.created.gte)));
      case 'GET payouts id':
        return this.#find(id, 'payout');
      case 'POST payouts id cancel':
        return this.#cancelPayout(this.#find(id, 'payout'));
      case 'GET disputes id':
        return this.#find(id, 'dispute');
      case 'POST disputes id':
        return Object.assign(this.#find(id, 'dispute'), { status: 'under_review' });
      case 'POST disputes id close':
        return Object.assign(this.#find(id, 'dispute'), { status: 'lost' });
      case 'GET balance_transactions':
        return this.#movements(params);
      case 'POST checkout id':
        return this.#make('cs', 'checkout.session', { url: 'https://checkout.stripe.test/c/pay', expires_at: this.now() + 86_400 });
      case 'POST billing_portal id':
        return this.#make('bps', 'billing_portal.session', { url: 'https://billing.stripe.test/p/session' });
      default:
        return refuse(`Unrecognized request URL (${method}: ${path})`, null, {}, 404);
    }
  }

  #attach(token: string, customer: string): Row {
    const known = this.#rows.get(token);
    if (known) return Object.assign(known, { customer });
    if (!TOKENS.includes(token)) return missing(token);
    const card = {
      brand: 'visa',
      last4: '4242',
      exp_month: 12,
      exp_year: 2040,
      funding: 'credit',
      country: 'US',
      wallet: null,
      fingerprint: `fp_${token}`,
    };
    return this.#make('pm', 'payment_method', { type: 'card', customer, card, billing_details: { address: null }, token });
  }

  #intent(params: Row, expand: boolean): Row {
    const method = this.#find(params.payment_method, 'payment_method');
    if (method.customer !== params.customer) refuse('The PaymentMethod does not belong to the Customer', 'payment_method_unexpected_state');
    const [amount, { token }] = [Number(params.amount), method];
    const row = {
      amount,
      currency: params.currency,
      customer: params.customer,
      capture_method: params.capture_method,
      metadata: params.metadata ?? {},
      latest_charge: null,
      next_action: null,
      last_payment_error: null,
    };
    const intent = this.#make('pi', 'payment_intent', { ...row, status: 'requires_confirmation' });
    if (DECLINES[token]) this.#decline(intent, DECLINES[token]);
    if (token === 'pm_card_authenticationRequired' && params.off_session === 'true')
      this.#decline(intent, { code: 'authentication_required', decline_code: 'authentication_required' });
    if (token === 'pm_card_authenticationRequired')
      Object.assign(intent, {
        status: 'requires_action',
        next_action: { type: 'redirect_to_url', redirect_to_url: { url: 'https://hooks.stripe.test/3ds' } },
      });
    else if (params.capture_method === 'manual') Object.assign(intent, { status: 'requires_capture' });
    else this.#capture(Object.assign(intent, { status: 'requires_capture' }), amount);
    return this.#shown(intent, expand);
  }

  #decline(intent: Row, { code, decline_code }: { code: string; decline_code: string }): never {
    const error = { type: 'card_error', code, decline_code, message: 'Your card was declined.' };
    Object.assign(intent, { status: 'requires_payment_method', last_payment_error: error });
    throw new Refusal(402, { ...error, payment_intent: structuredClone(intent) });
  }

  #capture(intent: Row, amount: number): Row {
    if (intent.status !== 'requires_capture') refuse('This PaymentIntent could not be captured', 'payment_intent_unexpected_state');
    if (amount > intent.amount) refuse('The amount to capture is greater than the amount', 'amount_too_large');
    const charge = this.#make('ch', 'charge', {
      amount_captured: amount,
      amount_refunded: 0,
      captured: true,
      currency: intent.currency,
      payment_intent: intent.id,
    });
    charge.balance_transaction = this.#move('charge', amount, intent.currency, charge.id, Math.round(amount * 0.029) + 30).id;
    return Object.assign(intent, { status: 'succeeded', latest_charge: charge.id });
  }

  #cancel(intent: Row): Row {
    if (intent.status === 'succeeded') refuse('You cannot cancel this PaymentIntent', 'payment_intent_unexpected_state');
    return Object.assign(intent, { status: 'canceled' });
  }

  #shown(intent: Row, expand: boolean): Row {
    if (!expand || intent.latest_charge === null) return intent;
    const charge = this.row(intent.latest_charge);
    return { ...intent, latest_charge: { ...charge, balance_transaction: this.row(charge.balance_transaction) } };
  }

  #refund(intent: Row, params: Row): Row {
    const [charge, amount] = [this.row(intent.latest_charge), Number(params.amount)];
    if (amount > charge.amount_captured - charge.amount_refunded)
      refuse('Refund amount is greater than unrefunded amount on charge', 'refund_amount_too_large');
    charge.amount_refunded += amount;
    const refund = this.#make('re', 'refund', {
      amount,
      currency: intent.currency,
      payment_intent: intent.id,
      charge: charge.id,
      status: 'succeeded',
      metadata: params.metadata ?? {},
    });
    this.#move('refund', -amount, intent.currency, refund.id);
    return refund;
  }

  #payout(params: Row): Row {
    if (params.destination !== 'ba_ok') missing(params.destination);
    const row = {
      amount: Number(params.amount),
      currency: params.currency,
      destination: params.destination,
      status: 'pending',
      arrival_date: this.now(),
      metadata: params.metadata ?? {},
      failure_code: null,
    };
    return this.#make('po', 'payout', row);
  }

  #cancelPayout(payout: Row): Row {
    if (payout.status !== 'pending') refuse('Only pending payouts can be canceled', 'payout_not_cancelable');
    return Object.assign(payout, { status: 'canceled' });
  }

  #movements({ created, limit, starting_after }: Row): Row {
    const all = this.#all('balance_transaction').filter(one => one.created >= Number(created.gte) && one.created < Number(created.lt));
    const rest = starting_after ? all.slice(all.findIndex(one => one.id === starting_after) + 1) : all;
    const data = rest.slice(0, Number(limit)).map(one => ({ ...one, source: one.source === null ? null : this.row(one.source) }));
    return { ...list(data), has_more: rest.length > data.length };
  }
}

const list = (data: Row[]): Row => ({ object: 'list', data, has_more: false });

function matches(key: string, path: string): boolean {
  const [wanted, parts] = [key.slice(key.indexOf(' ') + 1).split('/'), path.split('/')];
  return wanted.length === parts.length && wanted.every((part, index) => part.startsWith(':') || part === parts[index]);
}
