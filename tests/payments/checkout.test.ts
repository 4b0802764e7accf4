import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.js';
import { Shop, usd } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ services: ['payments', 'cash', 'jobs'] });
  await shop.p.clock('payments', { now: '2026-11-23T12:00:00.000Z' });
});

const session = async (id: string): Promise<any> => (await shop.get(`/v1/checkout/${id}`)).body;
const becomes = (id: string, status: string): Promise<unknown> =>
  until(
    `a session that is ${status}`,
    () => session(id),
    one => one.status === status,
    20_000,
  );

async function opened(more: object = {}, userId?: string): Promise<any> {
  const user_id = userId ?? (await shop.stranger());
  const items = [{ price_id: await shop.price(5000) }];
  const answer = await shop.post('/v1/checkout', { mode: 'payment', items, user_id, ...more });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

describe('the currency of a customer', () => {
  test('is that of the first payment, whatever the brand usually takes, and no other afterwards', async () => {
    const user = await shop.stranger();
    await shop.post('/v1/billing/payment-methods', { token: 'pm_card_visa', default: true, user_id: user });
    const [euro, dollar] = [await shop.price(5_000, { unit_amount: { amount: 5_000, currency: 'EUR' } }), await shop.price(5_000)];
    const buy = (price_id: string) =>
      shop.post('/v1/checkout', { mode: 'payment', items: [{ price_id }], user_id: user, payment_method_token: 'pm_card_visa' });
    for (const _ of ['first', 'second']) expect(await buy(euro)).toMatchObject({ status: 201, body: { status: 'complete' } });
    expect((await shop.get(`/v1/billing/summary?user_id=${user}`)).body).toMatchObject({
      currency: 'EUR',
      credit_balance: { currency: 'EUR' },
    });
    expect(await buy(dollar)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/items', message: 'the customer pays in EUR' }] },
    });
    const mixed = { mode: 'payment', items: [{ price_id: euro }, { price_id: dollar }], user_id: await shop.stranger() };
    expect(await shop.post('/v1/checkout', mixed)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/items' }] } });
  });
});

describe('methods', () => {
  test('the first one is the default, the same card again is the same method, and a detached one is gone', async () => {
    const user = await shop.stranger();
    const token = await shop.buyer(user);
    const attach = (method: string, more: object = {}) => shop.post('/v1/billing/payment-methods', { token: method, ...more }, token);
    const first = await attach('pm_card_visa');
    expect(first).toMatchObject({
      status: 201,
      body: { type: 'card', status: 'active', is_default: true, card: { brand: 'visa', last4: '4242' } },
    });
    expect(await attach('pm_card_visa')).toMatchObject({ status: 200, body: { id: first.body.id } });
    const second = await attach('pm_card_mastercard', { default: true });
    expect(second).toMatchObject({ status: 201, body: { is_default: true } });
    const listed = await shop.get('/v1/billing/payment-methods', token);
    expect(listed.body.data.map((one: any) => [one.id, one.is_default])).toEqual([
      [second.body.id, true],
      [first.body.id, false],
    ]);
    expect((await shop.get('/v1/payment-methods', token)).body).toEqual(listed.body);
    const gone = await shop.p.rest('DELETE', `/payments/v1/billing/payment-methods/${second.body.id}`, { token });
    expect(gone.status).toBe(204);
    expect((await shop.get('/v1/billing/payment-methods', token)).body.data).toMatchObject([{ id: first.body.id, is_default: true }]);
    expect(JSON.stringify(listed.body)).not.toMatch(/pm_card|fingerprint/);
  });

  test('digits of a card are no token, and a token that the processor does not know is refused', async () => {
    const user = await shop.stranger();
    const attach = (method: string) => shop.post('/v1/billing/payment-methods', { token: method, user_id: user });
    expect(await attach('4242424242424242')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/token' }] } });
    expect(await attach('pm_unknown')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/token' }] } });
  });

  test('people who pay with the same card are told apart from those who do not', async () => {
    const [a, b, c] = await Promise.all([shop.stranger(), shop.stranger(), shop.stranger()]);
    await shop.buy(a, 100, 'pm_card_amex');
    await shop.buy(b, 100, 'pm_card_amex');
    await shop.buy(c, 100, 'sbx_declines_2');
    const ask = async (ids: string[]): Promise<boolean> =>
      (await shop.p.graphql('query ($ids: [ID!]!) { sharesPaymentMethod(userIds: $ids) }', { ids }, { token: shop.token })).data
        .sharesPaymentMethod;
    expect([await ask([a, b]), await ask([a, c])]).toEqual([true, false]);
  });

  test("another user's method pays nothing, and another's customer is unknown", async () => {
    const [owner, thief] = await Promise.all([shop.stranger(), shop.stranger()]);
    const { body: method } = await shop.post('/v1/billing/payment-methods', { token: 'pm_card_visa', user_id: owner });
    const items = [{ price_id: await shop.price(100) }];
    const body = { mode: 'payment', items, user_id: thief, payment_method_id: method.id };
    expect(await shop.post('/v1/checkout', body)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/payment_method_id' }] } });
    const [row] = await shop.p.sql<{ id: string }>('select customer_id as id from payments.payment_method where id = $1', [method.id]);
    expect(await shop.get(`/v1/payments/methods/${row!.id}`, await shop.buyer(thief))).toMatchObject({ status: 404 });
    expect(await shop.get(`/v1/payments/methods/${row!.id}`, await shop.buyer(owner))).toMatchObject({ status: 200 });
  });
});

describe('a session', () => {
  test('without a method has a page; it expires after a day, and what is cancelled stays so', async () => {
    const one = await opened();
    expect(one).toMatchObject({ status: 'open', url: expect.stringMatching(/\/payments\/pay\/[\w-]{43}$/), payment: null });
    const other = await opened();
    expect(await shop.post(`/v1/checkout/${other.id}/cancel`, {})).toMatchObject({ status: 200, body: { status: 'cancelled', url: null } });
    expect(await shop.post(`/v1/checkout/${other.id}/cancel`, {})).toMatchObject({ status: 200 });
    await shop.advance('P1DT1M');
    expect(await session(one.id)).toMatchObject({ status: 'expired', url: null });
    expect(await shop.post(`/v1/checkout/${one.id}/confirm`, { payment_method_token: 'pm_card_visa' })).toMatchObject({ status: 409 });
  });

  test('that is complete cannot be cancelled, and belongs to its owner', async () => {
    const user = await shop.stranger();
    const { body } = await shop.buy(user, 300);
    expect(await shop.post(`/v1/checkout/${body.id}/cancel`, {})).toMatchObject({ status: 409 });
    expect(await shop.get(`/v1/checkout/${body.id}`, await shop.buyer(await shop.stranger()))).toMatchObject({ status: 404 });
    expect(await shop.get(`/v1/checkout/${body.id}`, await shop.buyer(user))).toMatchObject({ status: 200 });
  });

  test('leads back to addresses of the brand or the app only', async () => {
    const items = [{ price_id: await shop.price(100) }];
    const body = { mode: 'payment', items, user_id: await shop.stranger(), return_url: 'https://evil.example/' };
    expect(await shop.post('/v1/checkout', body)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/return_url' }] } });
    expect(await shop.post('/v1/checkout', { ...body, return_url: 'http://localhost:5173/done' })).toMatchObject({ status: 201 });
  });

  test('whose customer does not come back within an hour is open again, with a payment that failed', async () => {
    const user = await shop.stranger();
    const { body } = await shop.buy(user, 5000, 'pm_card_authenticationRequired');
    await shop.advance('PT61M');
    expect(await session(body.id)).toMatchObject({ status: 'open' });
    expect(await shop.events('payment.failed.v1', user)).toMatchObject([{ category: 'action_required' }]);
    const confirmed = await shop.post(`/v1/checkout/${body.id}/confirm`, { payment_method_token: 'pm_card_visa' });
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'complete' } });
  });

  test('whose process went away is gone on with by another one', async () => {
    const one = await opened();
    const user = (await shop.p.sql<{ user_id: string }>('select user_id from payments.checkout_session where id = $1', [one.id]))[0]!
      .user_id;
    const { body: method } = await shop.post('/v1/billing/payment-methods', { token: 'pm_card_visa', user_id: user });
    await shop.p.sql(
      `update payments.checkout_session set payment_method_id = $2, step = 'new', step_due_at = (select now from payments.test_clock) + interval '30 seconds' where id = $1`,
      [one.id, method.id],
    );
    await shop.advance('PT31S');
    await becomes(one.id, 'complete');
    expect(await shop.events('payment.paid.v1', user)).toHaveLength(1);
  });

  test('authorizes first where it is asked to, and takes a part of it', async () => {
    const user = await shop.stranger();
    const { body } = await shop.buy(user, 5000, 'pm_card_visa', { capture: 'manual' });
    expect(body).toMatchObject({ status: 'processing', payment: { status: 'authorized' } });
    const capture = (amount: number) => shop.post(`/v1/payments/${body.payment.id}/capture`, { amount: usd(amount) });
    expect(await capture(5001)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/amount/amount' }] } });
    expect(await capture(3000)).toMatchObject({ status: 200, body: { status: 'succeeded', amount_captured: usd(3000) } });
    expect(await session(body.id)).toMatchObject({ status: 'complete', amounts: { total: usd(3000) } });
    expect(await capture(100)).toMatchObject({ status: 409 });
    expect(await shop.events('payment.paid.v1', user)).toMatchObject([{ total_amount: 3000, subtotal_amount: 3000 }]);
  });

  test('that is authorized is given up with its payment, and by itself after a week', async () => {
    const [one, other] = [
      await shop.buy(await shop.stranger(), 700, 'pm_card_visa', { capture: 'manual' }),
      await shop.buy(await shop.stranger(), 700, 'pm_card_visa', { capture: 'manual' }),
    ];
    expect(await shop.post(`/v1/payments/${one.body.payment.id}/cancel`, {})).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect(await session(one.body.id)).toMatchObject({ status: 'cancelled' });
    await shop.advance('P7DT1M');
    expect(await session(other.body.id)).toMatchObject({ status: 'cancelled', payment: { status: 'cancelled' } });
  });

  test('of a service names its own amount; a user cannot', async () => {
    const user = await shop.stranger();
    const body = {
      mode: 'payment',
      amount: usd(4200),
      reference: { type: 'visit', id: randomUUID() },
      payment_method_token: 'pm_card_visa',
    };
    expect(await shop.post('/v1/checkout', { ...body, user_id: user })).toMatchObject({ status: 201, body: { status: 'complete' } });
    const refused = await shop.post('/v1/checkout', body, await shop.buyer(user));
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/amount' }] } });
  });
});

describe('money that goes back', () => {
  const refund = (body: object) => shop.post('/v1/refunds', { reason: 'goodwill', ...body });

  test('may become cash', async () => {
    const user = await shop.stranger();
    const { body } = await shop.buy(user, 5000);
    const answer = await refund({ payment_id: body.payment.id, amount: usd(2000), to_cash: true });
    expect(answer).toMatchObject({ status: 201, body: { status: 'succeeded', to_cash: true, amount: usd(2000) } });
    const cash = await shop.p.rest('GET', `/cash/v1/cash?user_id=${user}`, { token: shop.token });
    expect(cash.body.available).toEqual(usd(2000));
  });

  test('that the processor refuses is free to be given back again', async () => {
    const { body } = await shop.buy(await shop.stranger(), 5000, 'pm_card_refundFail');
    const failed = await refund({ payment_id: body.payment.id });
    expect(failed).toMatchObject({ status: 201, body: { status: 'failed' } });
    expect((await shop.get(`/v1/payments/${body.payment.id}`)).body).toMatchObject({
      amount_refunded: usd(0),
      amount_refundable: usd(5000),
    });
  });

  test('needs one of payment and session, and the currency of the payment', async () => {
    const { body } = await shop.buy(await shop.stranger(), 5000);
    expect(await refund({})).toMatchObject({ status: 400 });
    const foreign = { payment_id: body.payment.id, amount: { amount: 100, currency: 'EUR' } };
    expect(await refund(foreign)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/amount/currency' }] } });
    expect(await refund({ payment_id: randomUUID() })).toMatchObject({ status: 404 });
  });
});
