import { beforeAll, describe, expect, test } from 'vitest';
import { BRAND } from '../support/platform.js';
import { dollars, Subscribers } from './subscribers.js';

let s: Subscribers;
beforeAll(async () => {
  s = await Subscribers.open();
});
const ofDays = (days: number) => ({ recurring: { interval: 'day', interval_count: days } });

describe('a preview', () => {
  test('binds the change to what it showed, and is refused when the world has moved', async () => {
    const one = await s.subscribe({ amount: 3000, price: ofDays(30) });
    await s.advanceDays(15);
    const dearer = await s.price(9000, ofDays(30));
    const preview = await s.act(one, 'preview', { price_id: dearer });
    expect(preview).toMatchObject({
      status: 200,
      body: { direction: 'upgrade', invoice: { total: dollars(3000) }, to_credit: dollars(0) },
    });
    await s.p.clock('payments', { advance: 'PT5M' });
    expect(await s.patch(one, { price_id: dearer, quantity: 2, preview_token: preview.body.token })).toMatchObject({
      status: 409,
      body: { reason: 'preview_outdated' },
    });
    const changed = await s.patch(one, { price_id: dearer, preview_token: preview.body.token });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    expect((await s.invoices(one.userId)).at(-1).total).toEqual(dollars(3000));
    const again = await s.act(one, 'preview', { quantity: 2 });
    await s.p.clock('payments', { advance: 'PT10M' });
    expect(await s.patch(one, { quantity: 2, preview_token: again.body.token })).toMatchObject({ status: 409 });
  });
});

describe('a subscription', () => {
  test('shows the code that it was bought with to whom it belongs', async () => {
    const promo = { code: 'OWN-CODE', brand_id: BRAND, kind: 'percent', percent_bps: 1000, duration: 'once' };
    expect((await s.shop.post('/v1/admin/promos', promo)).status).toBe(201);
    const { id, token } = await s.subscribe({ more: { promo_code: 'own-code' } });
    const answer = await s.p.rest('GET', `/payments/v1/subscriptions/${id}`, { token });
    expect(answer).toMatchObject({ status: 200, body: { promo: { code: 'OWN-CODE' } } });
  });

  test('is changed for the version that was read only', async () => {
    const one = await s.subscribe();
    const { version } = await s.read(one);
    expect(await s.patch(one, { metadata: { a: 'b' } }, { 'if-match': `"${version}"` })).toMatchObject({
      status: 200,
      body: { metadata: { a: 'b' } },
    });
    expect(await s.patch(one, { metadata: {} }, { 'if-match': `"${version}"` })).toMatchObject({
      status: 409,
      body: { reason: 'version_conflict' },
    });
  });

  test('of another is not found, in reading and in writing', async () => {
    const [one, other] = [await s.subscribe(), await s.shop.buyer(await s.shop.stranger())];
    expect((await s.shop.get(`/v1/subscriptions/${one.id}`, other)).status).toBe(404);
    for (const action of ['cancel', 'pause', 'resume', 'preview']) expect((await s.act({ ...one, token: other }, action)).status).toBe(404);
    expect((await s.patch({ ...one, token: other }, { quantity: 2 })).status).toBe(404);
  });

  test('is the user’s only membership of the brand; ended, it makes room; a second DELETE is as the first, a second cancel a conflict', async () => {
    const one = await s.subscribe();
    const second = await s.shop.post('/v1/subscriptions', { price_id: one.priceId, user_id: one.userId });
    expect(second).toMatchObject({ status: 409, body: { reason: 'second_membership' } });
    const del = () => s.p.rest('DELETE', `/payments/v1/subscriptions/${one.id}`, { token: one.token });
    expect([(await del()).status, (await del()).status]).toEqual([204, 204]);
    expect((await s.act(one, 'cancel', { at: 'now' })).status).toBe(409);
    expect(await s.events('subscription.cancelled.v1', one.userId)).toHaveLength(1);
    expect((await s.shop.post('/v1/subscriptions', { price_id: one.priceId, user_id: one.userId })).status).toBe(201);
  });

  test('that is not paid is told to nobody, and is over after 23 hours with its invoice and payment', async () => {
    const one = await s.subscribe({ method: 'pm_card_chargeCustomerFail' });
    expect(one.body).toMatchObject({ status: 'incomplete', latest_invoice: { status: 'open' } });
    await s.advanceDays(1);
    expect(await s.read(one)).toMatchObject({ status: 'incomplete_expired', latest_invoice: { status: 'void' } });
    for (const type of ['subscription.created.v1', 'subscription.cancelled.v1', 'payment.invoice.past_due.v1'])
      expect(await s.events(type, one.userId)).toEqual([]);
    expect((await s.invoices(one.userId))[0].payments).toMatchObject([{ status: 'cancelled' }]);
  });

  test('that is upgraded with a card that declines stays as it was', async () => {
    const one = await s.subscribe({ amount: 3000, price: ofDays(30) });
    await s.attach(one.userId, 'pm_card_chargeCustomerFail');
    const answer = await s.patch(one, { price_id: await s.price(9000, ofDays(30)) });
    expect(answer).toMatchObject({ status: 402, body: { code: 'payment_declined' } });
    expect(await s.read(one)).toMatchObject({ price: { id: one.priceId }, status: 'active' });
    expect((await s.invoices(one.userId)).at(-1)).toMatchObject({ status: 'void' });
    expect(await s.events('subscription.tier_changed.v1', one.userId)).toEqual([]);
  });

  test('upgraded and downgraded in the same second costs nothing: what is left goes to credit, never to a card', async () => {
    const one = await s.subscribe({ amount: 3000, price: ofDays(30) });
    await s.advanceDays(10);
    expect((await s.patch(one, { price_id: await s.price(9000, ofDays(30)) })).status).toBe(200);
    expect((await s.patch(one, { price_id: one.priceId, effective: 'now' })).status).toBe(200);
    const [customer] = await s.p.sql('select credit_balance::int as credit from payments.billing_customer where user_id = $1', [
      one.userId,
    ]);
    const charged = (await s.events('payment.charged.v1', one.userId)).reduce((sum, { amount }) => sum + amount, 0);
    expect([charged, customer.credit]).toEqual([3000 + 4000, 4000]);
    expect((await s.invoices(one.userId)).map(({ total }) => total.amount)).toEqual([3000, 4000, 0]);
  });
});
