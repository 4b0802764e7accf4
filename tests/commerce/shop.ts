import { randomUUID } from 'node:crypto';
import { paymentPaid } from '../../events/catalogue/payments.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent } from '../../events/outbox.js';
import type { Slug } from '../../events/slugs.js';
import { BRAND, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

/** Where the service's clock stands at the beginning. */
export const T0 = '2026-11-24T12:00:00.000Z';
export const usd = (amount: number) => ({ amount, currency: 'USD' });
export const CARD = '0190b3a0-1111-7000-8000-0000000c0001';
/** California: 82500 parts per million. */
export const ADDRESS = { line1: '1 Main Street', city: 'Los Angeles', region: 'CA', postal_code: '90001', country_code: 'US' };
/** Untaxed. */
export const TEXAS = { ...ADDRESS, region: 'TX', postal_code: '73301' };

/** Variables of a shop with the double of payments, a table of grants, and no limits. */
export const WITH_DOUBLES = {
  COMMERCE_PAYMENTS: 'double',
  COMMERCE_ELIGIBILITY: 'table',
  COMMERCE_CARTS_PER_HOUR: 'off',
  COMMERCE_CHECKOUTS_PER_HOUR: 'off',
};

export interface Variant {
  id: string;
  sku: string;
  product: string;
}

interface Made {
  price?: number;
  stock?: number;
  more?: object;
  product?: object;
  lots?: { number: string; quantity: number; expires?: string }[];
  components?: { sku: string; quantity: number }[];
  prices?: object[];
}

/** What is asked of a platform, wherever its processes are. */
export type Reached = Pick<TestPlatform, 'rest' | 'graphql' | 'sql' | 'clock' | 'serviceToken'>;

/** The shop as its callers see it, with the double of payments and a table of grants. */
export class Shop<P extends Reached = TestPlatform> {
  private constructor(
    readonly p: P,
    readonly token: string,
  ) {}

  static async open(env: Record<string, string> = {}, besides: Slug[] = []): Promise<Shop> {
    return Shop.around(await platform({ services: ['commerce', ...besides], env: { ...WITH_DOUBLES, ...env } }));
  }

  /** Wherever its processes are. */
  static async around<P extends Reached>(p: P): Promise<Shop<P>> {
    await p.clock('commerce', { now: T0 });
    return new Shop(p, await p.serviceToken('admin:commerce'));
  }

  rest(
    method: string,
    path: string,
    body?: unknown,
    token: string | null = this.token,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.p.rest(method, `/commerce/v1${path}`, { token, body, headers });
  }

  async ok(method: string, path: string, body?: unknown, token: string | null = this.token): Promise<any> {
    const answer = await this.rest(method, path, body, token);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  clock(now: string): Promise<void> {
    return this.p.clock('commerce', { now });
  }

  advance(duration: string): Promise<void> {
    return this.p.clock('commerce', { advance: duration });
  }

  member(this: Shop, userId: string, scopes = ['read:account', 'manage:subscriptions', 'read:subscriptions']): Promise<string> {
    return this.p.userToken(userId, scopes);
  }

  /** A product with one variant, and stock of it. */
  async sell({ price = 1_999, stock = 10, more = {}, product = {}, lots, components, prices }: Made = {}): Promise<Variant> {
    const sku = `T-${randomUUID().slice(0, 13)}`;
    const variant = {
      sku,
      prices: prices ?? [{ amount: usd(price) }],
      ...(lots && { lot_tracked: true }),
      ...(components && { components }),
      ...more,
    };
    const kind = components ? { kind: 'bundle' } : {};
    const body = { slug: sku.toLowerCase(), title: `Thing ${sku}`, status: 'active', ...kind, variants: [variant], ...product };
    const made = await this.ok('POST', '/admin/products', body);
    if (lots) for (const lot of lots) await this.lot(sku, lot.number, lot.quantity, lot.expires);
    else if (!components && stock > 0)
      await this.ok('POST', '/admin/inventory/adjustments', { sku, quantity: stock, receipt: true, reason: 'Delivery' });
    return { id: made.variants[0].id, sku, product: made.id };
  }

  lot(sku: string, lot_number: string, quantity: number, expires_on?: string, location_id?: string): Promise<any> {
    return this.ok('POST', '/admin/inventory/lots', { sku, lot_number, quantity, expires_on, location_id });
  }

  async cart(userId: string | null, items: { variant: Variant; quantity: number }[] = [], more: object = {}): Promise<any> {
    const lines = items.map(({ variant, quantity }) => ({ variant_id: variant.id, quantity }));
    return this.ok('POST', '/carts', { ...(userId && { user_id: userId }), items: lines, ...more });
  }

  put(cartId: string, variant: Variant, quantity: number, more: object = {}): Promise<Answer> {
    return this.rest('POST', `/carts/${cartId}/items`, { variant_id: variant.id, quantity, ...more });
  }

  checkout(cartId: string, more: object = {}, token = this.token, headers: Record<string, string> = {}): Promise<Answer> {
    const body = { shipping_address: TEXAS, recipient_name: 'A Buyer', payment_method_id: CARD, ...more };
    return this.rest('POST', `/carts/${cartId}/checkout`, body, token, headers);
  }

  /** A placed order of somebody new. */
  async order(items: { variant: Variant; quantity: number }[], userId: string = randomUUID(), more: object = {}): Promise<any> {
    const { cart } = await this.cart(userId, items);
    const answer = await this.checkout(cart.id, more);
    if (answer.status !== 200 || answer.body.status !== 'placed')
      throw new Error(`not placed: ${answer.status} ${JSON.stringify(answer.body)}`);
    return this.ok('GET', `/orders/${answer.body.order.id}`);
  }

  read(orderId: string): Promise<any> {
    return this.ok('GET', `/orders/${orderId}`);
  }

  async available(variant: Variant): Promise<number | null> {
    const product = await this.ok('GET', `/products/${variant.product}`);
    return product.variants.find((one: any) => one.id === variant.id).availability.quantity;
  }

  grant(userId: string, key: string): Promise<unknown> {
    return this.p.sql('insert into commerce.embedded_grant (user_id, key) values ($1, $2) on conflict do nothing', [userId, key]);
  }

  promo(code: string, percentBps: number, most: number | null = null): Promise<unknown> {
    const text =
      'insert into commerce.embedded_promo (brand_id, code, id, percent_bps, max_redemptions) values ($1, $2, gen_random_uuid(), $3, $4)';
    return this.p.sql(text, [BRAND, code, percentBps, most]);
  }

  /** Events of a type about a user, or an order. */
  async events(type: string, about: string): Promise<any[]> {
    const rows = await this.p.sql<{ data: any }>(
      `select data from events.outbox where type = $1 and (user_id::text = $2 or data::text like '%' || $2 || '%') order by seq`,
      [type, about],
    );
    return rows.map(row => row.data);
  }

  /** What another service says, by way of the bus; waits until it is handled. */
  async tell<E extends EventDefinition>(source: Slug, event: E, data: DataOf<E>, userId: string | null, consumer: string): Promise<void> {
    const prepared = prepareEvent(
      event,
      data,
      { userId },
      { source, requestId: null, causationId: null, actor: `service:${source}`, traceparent: null },
    );
    await this.p.sql(
      `set role platform_events; select events.append('${JSON.stringify([prepared]).replaceAll("'", "''")}', null); reset role`,
    );
    const read = () => this.p.sql('select 1 from commerce.inbox where consumer = $1 and event_id = $2', [consumer, prepared.id]);
    await until(`${event.name} to be handled`, read, rows => rows.length > 0);
  }

  paid(orderId: string, userId: string, amounts: { card: number; cash?: number; credit?: number; currency?: string }): Promise<void> {
    const none = { invoice_id: null, subscription_id: null, subtotal_amount: 0, discount_amount: 0, tax_amount: 0, shipping_amount: 0 };
    const { card, cash = 0, credit = 0, currency = 'USD' } = amounts;
    const data = {
      ...none,
      obligation_type: 'order' as const,
      obligation_id: orderId,
      payment_id: null,
      order_id: orderId,
      purpose: 'order',
      cash_amount: cash,
      credit_amount: credit,
      total_amount: card,
      currency,
      promo_code: null,
      affiliate_code: null,
      first_purchase: false,
    };
    return this.tell('payments', paymentPaid, data, userId, 'commerce.payments');
  }

  /** What the double of payments has of an order. */
  async payment(
    orderId: string,
  ): Promise<{ status: string; attempts: number; amount: number; refunded: number; refunds: Record<string, boolean> }> {
    const [row] = await this.p.sql(
      'select status, attempts, amount::int as amount, refunded::int as refunded, refunds from commerce.embedded_payment where order_id = $1',
      [orderId],
    );
    return row;
  }

  refunded(orderId: string, amount: number): Promise<unknown> {
    return until(
      `a refund of ${amount}`,
      () => this.payment(orderId),
      row => row?.refunded === amount,
    );
  }
}
