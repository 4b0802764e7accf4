import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { orderPlaced } from '../../events/catalogue/commerce.js';
import { paymentDisputeClosed, paymentRefunded } from '../../events/catalogue/payments.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent } from '../../events/outbox.js';
import { BRAND } from '../support/platform.js';
import { Counter, T0 } from './counter.js';

let c: Counter;
beforeAll(async () => {
  c = await Counter.open();
});

/** As its owner emits it; resolves when entitlements has handled it. */
async function emit<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string | null): Promise<void> {
  const meta = { source: event.owner, requestId: null, causationId: null, actor: `service:${event.owner}`, traceparent: null } as const;
  const pending = prepareEvent(event, data, { userId }, meta);
  await c.p.sql(`set role platform_events; select events.append('${JSON.stringify([pending]).replaceAll("'", "''")}', null); reset role`);
  const handled = async () =>
    (await c.p.sql("select 1 from entitlements.inbox where consumer = 'entitlements.purchases' and event_id = $1", [pending.id])).length;
  await expect.poll(handled, { timeout: 15_000 }).toBe(1);
}

function place(userId: string | null, orderId: string, products: string[]): Promise<void> {
  const items = products.map(product_id => ({ product_id, variant_id: randomUUID(), quantity: 1, total_amount: 4_900 }));
  const money = { currency: 'USD', subtotal_amount: 4_900, discount_amount: 0, shipping_amount: 0, tax_amount: 0, total_amount: 4_900 };
  const none = { promo_id: null, affiliate_code: null, subscription_id: null, first_order: true };
  const about = { order_id: orderId, order_number: 'main-1', brand_id: BRAND, source: 'storefront', item_count: items.length };
  return emit(orderPlaced, { ...about, ...money, ...none, items, placed_at: T0 }, userId);
}

function refund(userId: string, orderId: string | null, refunded: number, status: 'succeeded' | 'failed' = 'succeeded'): Promise<void> {
  const none = { invoice_id: null, subscription_id: null };
  const ids = { refund_id: randomUUID(), payment_id: randomUUID(), order_id: orderId, ...none };
  const money = {
    amount: refunded,
    currency: 'USD',
    cash_return_amount: 0,
    tax_amount: 0,
    payment_amount: 4_900,
    total_refunded: refunded,
  };
  return emit(paymentRefunded, { ...ids, ...money, status, reason: 'requested_by_customer', origin: 'member', to_cash: false }, userId);
}

function dispute(userId: string, orderId: string, outcome: 'won' | 'lost'): Promise<void> {
  const none = { invoice_id: null, subscription_id: null };
  const ids = { dispute_id: randomUUID(), payment_id: randomUUID(), order_id: orderId, ...none };
  const rest = { amount: 4_900, fee_amount: null, currency: 'USD', reason: 'product_not_received', status: outcome, outcome };
  return emit(paymentDisputeClosed, { ...ids, ...rest }, userId);
}

/** A user who has bought what unlocks a feature. */
async function buyer(): Promise<{ user: string; order: string; key: string; product: string }> {
  const [user, order, product] = [c.stranger(), randomUUID(), randomUUID()];
  const key = await c.feature({ product_ids: [product] });
  await place(user, order, [randomUUID(), product, product]);
  return { user, order, key, product };
}
const allowed = async (user: string, key: string): Promise<boolean> => (await c.check(user, key)).allowed;

describe('an order', () => {
  test('unlocks what its products unlock, once, with an audit row', async () => {
    const { user, order, key, product } = await buyer();
    expect(await allowed(user, key)).toBe(true);
    await place(user, order, [product]);
    const { body } = await c.rest('GET', `/admin/overrides?user_id=${user}`);
    expect(body.data).toMatchObject([{ source: 'purchase', reference: order, allow: true, ends_at: null, state: 'active' }]);
    const audits = await c.p.sql('select action from entitlements.audit_log where target = $1', [body.data[0].id]);
    expect(audits).toEqual([{ action: 'entitlement_override.created' }]);
  });

  test('unlocks nothing for a guest, nor by a product that unlocks nothing, nor an archived feature', async () => {
    const [user, product] = [c.stranger(), randomUUID()];
    const key = await c.feature({ product_ids: [product] });
    await place(null, randomUUID(), [product]);
    await place(user, randomUUID(), [randomUUID()]);
    await c.rest('DELETE', `/admin/features/${key}`);
    await place(user, randomUUID(), [product]);
    expect((await c.rest('GET', `/admin/overrides?feature_key=${key}`)).body.data).toEqual([]);
  });

  test('an override that denies stands above it', async () => {
    const { user, key } = await buyer();
    await c.override(user, key, { allow: false });
    expect(await allowed(user, key)).toBe(false);
  });
});

describe('what was bought ends', () => {
  test('with a full refund, not with a part of it or one that failed', async () => {
    const { user, order, key } = await buyer();
    await refund(user, order, 1_000);
    await refund(user, order, 4_900, 'failed');
    await refund(user, null, 4_900);
    await refund(user, randomUUID(), 4_900);
    expect(await allowed(user, key)).toBe(true);
    await refund(user, order, 4_900);
    expect(await c.check(user, key)).toMatchObject({ allowed: false, reason: 'not_in_tier' });
  });

  test('with a dispute that is lost, not with one that is won', async () => {
    const { user, order, key } = await buyer();
    await dispute(user, order, 'won');
    expect(await allowed(user, key)).toBe(true);
    await dispute(user, order, 'lost');
    expect(await allowed(user, key)).toBe(false);
  });

  test('for that order alone', async () => {
    const { user, order, key, product } = await buyer();
    await place(user, randomUUID(), [product]);
    await refund(user, order, 4_900);
    expect(await allowed(user, key)).toBe(true);
  });
});
