import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { locksInOrder } from '../../support/locks.js';
import { ADMIN, BRAND, type Answer } from '../../support/platform.js';
import { until } from '../../support/until.js';
import { Shop, usd } from '../shop.js';

let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open({ services: ['payments', 'cash', 'jobs'] });
  await shop.p.clock('payments', { now: '2026-11-23T12:00:00.000Z' });
  await shop.p.clock('cash', { now: '2026-11-23T12:00:00.000Z' });
});

const refund = (about: object, amount?: number, token = shop.token): Promise<Answer> =>
  shop.post('/v1/refunds', { ...about, reason: 'requested_by_customer', ...(amount !== undefined && { amount: usd(amount) }) }, token);
const session = async (id: string): Promise<any> => (await shop.get(`/v1/checkout/${id}`)).body;
const payment = async (id: string): Promise<any> => (await shop.get(`/v1/payments/${id}`)).body;
const eventually = (what: string, holds: () => Promise<boolean>): Promise<boolean> => until(what, holds, Boolean, 20_000);
const becomes = (id: string, status: string): Promise<unknown> =>
  until(
    `a session that is ${status}`,
    () => session(id),
    one => one.status === status,
    20_000,
  );

async function grantCash(userId: string, amount: number): Promise<void> {
  const body = { user_id: userId, source: 'bonus', amount: usd(amount), reference: { type: 'test', id: randomUUID() } };
  expect(await shop.p.rest('POST', '/cash/v1/cash/grants', { token: shop.token, body })).toMatchObject({ status: 201 });
}
const cashOf = async (userId: string): Promise<any> =>
  (await shop.p.rest('GET', `/cash/v1/cash?user_id=${userId}`, { token: shop.token })).body;

describe('a checkout', () => {
  test('case 1: a monthly price with a good card is complete, its subscription active, and each of four events is there once', async () => {
    const user = await shop.stranger();
    const items = [{ price_id: await shop.monthly(9900), quantity: 1 }];
    const answer = await shop.post('/v1/checkout', { mode: 'subscription', items, user_id: user, payment_method_token: 'pm_card_visa' });
    expect(answer).toMatchObject({
      status: 201,
      body: { status: 'complete', payment: { status: 'succeeded' }, subscription: { status: 'active' } },
    });
    const types = ['payment.charged.v1', 'payment.paid.v1', 'subscription.created.v1', 'payment.invoice.paid.v1'];
    expect(await Promise.all(types.map(async type => (await shop.events(type, user)).length))).toEqual([1, 1, 1, 1]);
    expect(await shop.events('payment.paid.v1', user)).toMatchObject([
      { obligation_type: 'invoice', total_amount: 9900, first_purchase: true },
    ]);
  });

  test('case 2: a decline answers 402 and creates no subscription; another method completes it with the second attempt', async () => {
    const user = await shop.stranger();
    const items = [{ price_id: await shop.monthly(9900), quantity: 1 }];
    const token = 'pm_card_visa_chargeDeclinedInsufficientFunds';
    const declined = await shop.post('/v1/checkout', { mode: 'subscription', items, user_id: user, payment_method_token: token });
    const words = { code: 'payment_declined', decline_code: 'insufficient_funds', category: 'soft', retryable: true };
    expect(declined).toMatchObject({ status: 402, body: words });
    expect(await shop.events('subscription.created.v1', user)).toEqual([]);
    const { checkout_session_id: id, payment_id: paymentId } = declined.body;
    const confirmed = await shop.post(`/v1/checkout/${id}/confirm`, { payment_method_token: 'pm_card_visa' });
    expect(confirmed).toMatchObject({ status: 200, body: { id, status: 'complete', payment: { id: paymentId } } });
    const asked = 'query ($id: ID!) { payment(id: $id) { attempts { number status declineCode } } }';
    const { data } = await shop.p.graphql(asked, { id: paymentId }, { token: shop.token });
    expect(data.payment.attempts).toMatchObject([
      { number: 1, status: 'FAILED', declineCode: 'insufficient_funds' },
      { number: 2, status: 'SUCCEEDED' },
    ]);
    expect(await shop.events('subscription.created.v1', user)).toHaveLength(1);
  });

  test('case 3: a card that asks its holder answers with a page, and is complete once they agreed', async () => {
    const user = await shop.stranger();
    const { status, body } = await shop.buy(user, 5000, 'pm_card_authenticationRequired');
    expect({ status, session: body.status, url: typeof body.next_action.url }).toEqual({
      status: 201,
      session: 'requires_action',
      url: 'string',
    });
    expect(await shop.act('complete_3ds', body.payment.id)).toMatchObject({ status: 200 });
    await becomes(body.id, 'complete');
    expect(await shop.events('payment.paid.v1', user)).toHaveLength(1);
  });

  test('case 4: the same key and body answer the same, and another body is refused', async () => {
    const user = await shop.stranger();
    const body = { mode: 'payment', items: [{ price_id: await shop.price(9900) }], user_id: user, payment_method_token: 'pm_card_visa' };
    const key = { 'idempotency-key': randomUUID() };
    const first = await shop.post('/v1/checkout', body, shop.token, key);
    expect(first).toMatchObject({ status: 201, body: { status: 'complete' } });
    const again = await shop.post('/v1/checkout', body, shop.token, key);
    expect(again).toMatchObject({ status: 201, body: first.body, headers: { 'idempotent-replayed': 'true' } });
    const other = { ...body, items: [{ ...body.items[0], quantity: 2 }] };
    expect(await shop.post('/v1/checkout', other, shop.token, key)).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
  });

  test('case 4, of a decline: the 402 is replayed, too', async () => {
    const user = await shop.stranger();
    const items = [{ price_id: await shop.price(9900) }];
    const body = { mode: 'payment', items, user_id: user, payment_method_token: 'pm_card_visa_chargeDeclined' };
    const key = { 'idempotency-key': randomUUID() };
    const first = await shop.post('/v1/checkout', body, shop.token, key);
    const again = await shop.post('/v1/checkout', body, shop.token, key);
    expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([402, 402, 'true']);
    expect(again.body.payment_id).toBe(first.body.payment_id);
    expect(await shop.events('payment.failed.v1', user)).toHaveLength(1);
  });

  test('case 16: of five at once with a promo for one, one is complete with the discount, and the others are not charged', async () => {
    const code = `ONCE${randomUUID().slice(0, 8).toUpperCase()}`;
    const promo = { code, brand_id: BRAND, kind: 'percent', percent_bps: 2000, duration: 'once', max_redemptions: 1 };
    expect(await shop.post('/v1/admin/promos', promo)).toMatchObject({ status: 201 });
    const price = await shop.price(10_000);
    const users = await Promise.all(Array.from({ length: 5 }, () => shop.stranger()));
    const body = { mode: 'payment', items: [{ price_id: price }], payment_method_token: 'pm_card_visa', promo_code: code };
    const answers = await Promise.all(users.map(user => shop.post('/v1/checkout', { ...body, user_id: user })));
    const [won, ...lost] = answers.toSorted((a, b) => a.status - b.status);
    expect(won).toMatchObject({ status: 201, body: { status: 'complete', amounts: { discount: usd(2000), total: usd(8000) } } });
    for (const answer of lost)
      expect(answer).toMatchObject({ status: 400, body: { reason: 'exhausted', errors: [{ pointer: '/promo_code' }] } });
    const charged = await Promise.all(users.map(async user => (await shop.events('payment.charged.v1', user)).length));
    expect(charged.toSorted((a, b) => a - b)).toEqual([0, 0, 0, 0, 1]);
  });

  test('case 20: a call without an answer is found out, and nothing else is charged meanwhile', async () => {
    const user = await shop.stranger();
    const { status, body } = await shop.buy(user, 5000, 'sbx_timeout_success');
    expect([status, body.status]).toEqual([201, 'processing']);
    const again = await shop.post(`/v1/checkout/${body.id}/confirm`, { payment_method_token: 'pm_card_visa' });
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await shop.advance('PT11S');
    expect(await session(body.id)).toMatchObject({ status: 'complete' });
    const found =
      "select count(*)::int as n from payments.processor_object where kind = 'charge' and idempotency_key in (select id::text from payments.payment_attempt where payment_id = $1)";
    expect(await shop.p.sql(found, [body.payment.id])).toEqual([{ n: 1 }]);
  }, 30_000);

  test('case 24: a card number is an unknown key', async () => {
    const body = { mode: 'payment', items: [], card_number: '4242424242424242' };
    const answer = await shop.post('/v1/checkout', body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((one: { pointer: string }) => one.pointer)).toContain('/card_number');
    expect(JSON.stringify(answer.body)).not.toContain('4242424242424242');
  });

  test('case 26: of fifty equal calls at once one has an effect, and each is answered with it at last', async () => {
    const user = await shop.stranger();
    const body = { mode: 'payment', items: [{ price_id: await shop.price(700) }], user_id: user, payment_method_token: 'pm_card_visa' };
    const key = { 'idempotency-key': randomUUID() };
    const post = (): Promise<Answer> => shop.post('/v1/checkout', body, shop.token, key);
    const answers = await Promise.all(Array.from({ length: 50 }, post));
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    const [first] = answers.filter(({ status }) => status === 201);
    for (const _ of answers) expect(await post()).toMatchObject({ status: 201, body: first!.body }); // one by one: a replay is a 409 beside another
    expect(await shop.events('payment.charged.v1', user)).toHaveLength(1);
    expect(await shop.post('/v1/checkout', { ...body, use_cash: true }, shop.token, key)).toMatchObject({ status: 422 });
  }, 60_000);

  test('case 36: an order cannot be paid while there is no commerce', async () => {
    const user = await shop.stranger();
    const body = { mode: 'payment', order_id: randomUUID(), user_id: user, payment_method_token: 'pm_card_visa' };
    expect(await shop.post('/v1/checkout', body)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  });
});

describe('a refund', () => {
  test('case 5: is at most what is left', async () => {
    const { body } = await shop.buy(await shop.stranger(), 10_000);
    const about = { payment_id: body.payment.id };
    expect(await refund(about, 4000)).toMatchObject({ status: 201, body: { status: 'succeeded', amount: usd(4000) } });
    expect(await refund(about, 7000)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/amount' }], refundable: 6000 } });
    const foreign = await shop.post('/v1/refunds', { ...about, reason: 'goodwill', amount: { amount: 100, currency: 'EUR' } });
    expect(foreign).toMatchObject({ status: 400, body: { errors: [{ pointer: '/amount/currency' }] } });
    expect(await payment(body.payment.id)).toMatchObject({ amount_refunded: usd(4000), amount_refundable: usd(6000) });
  });

  test('case 6: ten at once never give back more than was taken', async () => {
    const { body } = await shop.buy(await shop.stranger(), 10_000);
    const answers = await Promise.all(Array.from({ length: 10 }, () => refund({ payment_id: body.payment.id }, 3000)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ status }) => ![201, 400, 409].includes(status))).toEqual([]);
    expect(await payment(body.payment.id)).toMatchObject({ amount_refunded: usd(9000) });
  });

  test('case 7: is not for users', async () => {
    const user = await shop.stranger();
    const { body } = await shop.buy(user, 1000);
    expect(await refund({ payment_id: body.payment.id }, 1000, await shop.buyer(user))).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
  });

  test('case 8: the payment of somebody else is as one that does not exist', async () => {
    const user = await shop.stranger();
    const { body } = await shop.buy(user, 1000);
    const stranger = await shop.buyer(await shop.stranger());
    const [foreign, unknown] = await Promise.all([body.payment.id, randomUUID()].map(id => shop.get(`/v1/payments/${id}`, stranger)));
    expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect({ ...foreign!.body, request_id: '' }).toEqual({ ...unknown!.body, request_id: '' });
    const own = await shop.get(`/v1/payments/${body.payment.id}`, await shop.buyer(user));
    expect(own).toMatchObject({ status: 200, body: { fee: null, processor_payment_id: null } });
  });

  test('case 9: waits for the dispute of the same money', async () => {
    const user = await shop.stranger();
    const { body } = await shop.buy(user, 5000, 'pm_card_createDispute');
    await eventually('the dispute', async () => (await shop.events('payment.dispute.created.v1', user)).length === 1);
    expect(await refund({ payment_id: body.payment.id }, 1000)).toMatchObject({ status: 409, body: { reason: 'dispute_open' } });
    expect(await shop.act('lose_dispute', body.payment.id)).toMatchObject({ status: 200 });
    await eventually('its end', async () => (await shop.events('payment.dispute.closed.v1', user)).length === 1);
    expect(await shop.events('payment.dispute.closed.v1', user)).toMatchObject([{ outcome: 'lost' }]);
    expect(await shop.events('payment.dispute.created.v1', user)).toHaveLength(1);
  }, 30_000);

  test('case 21: of staff above the threshold needs a second person, all of a payment counting together; of services not', async () => {
    const staff = (id: string): Promise<string> =>
      shop.p.userToken(id, ['read:profile'], {
        clientId: 'demo-admin',
        amr: ['pwd', 'otp', 'mfa'],
        roles: ['finance'],
        permissions: ['admin:payments'],
      });
    const [s1, s2] = [await staff(ADMIN), await staff(await shop.stranger())];
    const give = async (paymentId: string, amount: number): Promise<Answer> =>
      shop.post('/v1/admin/refunds', { payment_id: paymentId, amount: usd(amount), reason: 'goodwill', note: 'Arrived late' }, s1);
    const [one, other, third] = await Promise.all(
      Array.from({ length: 3 }, async () => (await shop.buy(await shop.stranger(), 100_000)).body.payment.id as string),
    );
    const asked = await give(one!, 60_000);
    expect(asked).toMatchObject({ status: 201, body: { status: 'requires_approval', requested_by: `staff:${ADMIN}` } });
    const approve = (token: string): Promise<Answer> => shop.post(`/v1/admin/refunds/${asked.body.id}/approve`, {}, token);
    expect(await approve(s1)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await approve(s2)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect((await give(other!, 30_000)).body.status).toBe('succeeded');
    const refused = await give(other!, 70_000);
    expect(refused.body.status).toBe('requires_approval');
    expect(await shop.post(`/v1/admin/refunds/${refused.body.id}/reject`, {}, s2)).toMatchObject({ status: 200 });
    expect((await give(other!, 20_000)).body.status).toBe('succeeded'); // what came to nothing neither counts nor stays reserved
    const items = [{ price_id: await shop.monthly(60_000), quantity: 1 }];
    const buyer = { user_id: await shop.stranger(), payment_method_token: 'pm_card_visa' };
    const bought = (await shop.post('/v1/checkout', { mode: 'subscription', items, ...buyer })).body;
    expect((await give(bought.payment.id, 30_000)).body.status).toBe('succeeded');
    const ending = { at: 'now', reason: 'asked by phone', refund: 'full_last' };
    expect(await shop.post(`/v1/admin/subscriptions/${bought.subscription.id}/cancel`, ending, s1)).toMatchObject({ status: 200 });
    const { data } = (await shop.get(`/v1/admin/refunds?payment_id=${bought.payment.id}`, s2)).body;
    expect(data.map((one: any) => [one.status, one.amount.amount])).toEqual([
      ['requires_approval', 30_000],
      ['succeeded', 30_000],
    ]);
    expect(await shop.post(`/v1/admin/refunds/${data[0].id}/approve`, {}, s1)).toMatchObject({ status: 403 });
    expect(await refund({ payment_id: third }, 60_000)).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    expect(
      await shop.p.sql("select 1 from payments.audit_log where action = 'refund.created' and details->>'payment_id' = $1", [third]),
    ).toHaveLength(1);
  });

  test('rows are locked in one order: a cancellation that gives back waits for the session before it takes the subscription', async () => {
    const items = [{ price_id: await shop.monthly(9900), quantity: 1 }];
    const buyer = { user_id: await shop.stranger(), payment_method_token: 'pm_card_visa' };
    const { id, subscription } = (await shop.post('/v1/checkout', { mode: 'subscription', items, ...buyer })).body;
    const ending = { at: 'now', reason: 'asked by phone', refund: 'full_last' };
    const answer = await locksInOrder(
      shop.p,
      {
        held: ['select from payments.checkout_session where id = $1 for update', [id]],
        waitsIn: 'checkout_session',
        free: ['select from payments.billing_subscription where id = $1 for update nowait', [subscription.id]],
      },
      () => shop.post(`/v1/admin/subscriptions/${subscription.id}/cancel`, ending),
    );
    expect(answer).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  });

  test('case 21, in parts at once: however staff split it, what one person gives back alone stays below the threshold', async () => {
    const staff = await shop.p.userToken(ADMIN, ['read:profile'], {
      clientId: 'demo-admin',
      amr: ['pwd', 'otp', 'mfa'],
      roles: ['finance'],
      permissions: ['admin:payments'],
    });
    const { body } = await shop.buy(await shop.stranger(), 100_000);
    const part = { payment_id: body.payment.id, amount: usd(12_000), reason: 'goodwill', note: 'Arrived late' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => shop.post('/v1/admin/refunds', part, staff)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    const ofStatus = (status: string): string[] => answers.filter(({ body: one }) => one.status === status).map(({ body: one }) => one.id);
    const waiting = ofStatus('requires_approval');
    expect([waiting.length, ofStatus('succeeded').length]).toEqual([4, 4]);
    const approvals = await Promise.all(waiting.map(id => shop.post(`/v1/admin/refunds/${id}/approve`, {}, staff)));
    expect(approvals.map(({ status }) => status)).toEqual(Array(4).fill(403));
    expect(await payment(body.payment.id)).toMatchObject({ amount_refunded: usd(48_000) });
  });

  test('case 30: of what cash alone has settled gives cash back, the session standing for the payment', async () => {
    const user = await shop.stranger();
    await grantCash(user, 10_000);
    const { body } = await shop.buy(user, 10_000, 'pm_card_visa', { use_cash: true });
    expect(body).toMatchObject({ status: 'complete', payment: null, amounts: { cash_applied: usd(10_000), total: usd(0) } });
    const held = '{ cashReservation { status amount { amount } spend { reference { type id } } } }';
    const { data } = await shop.p.graphql(`query ($id: ID!) { checkoutSession(id: $id) ${held} }`, { id: body.id }, { token: shop.token });
    expect(data.checkoutSession.cashReservation).toEqual({
      status: 'COMMITTED',
      amount: { amount: 10_000 },
      spend: { reference: { type: 'checkout', id: body.id } },
    });
    const about = { checkout_session_id: body.id };
    expect(await refund(about, 4000)).toMatchObject({
      status: 201,
      body: { status: 'succeeded', amount: usd(0), cash_returned: usd(4000) },
    });
    expect(await refund(about)).toMatchObject({ status: 201, body: { cash_returned: usd(6000) } });
    const base = { payment_id: body.id, amount: 0, obligation_type: 'checkout', obligation_id: body.id, obligation_amount: 10_000 };
    expect(await shop.events('payment.refunded.v1', user)).toMatchObject([
      { ...base, cash_return_amount: 4000, obligation_refunded: 4000 },
      { ...base, cash_return_amount: 6000, obligation_refunded: 10_000 },
    ]);
    await eventually('the cash', async () => (await cashOf(user)).available.amount === 10_000);
  });

  test('case 31: of a session takes the card first, then cash', async () => {
    const user = await shop.stranger();
    await grantCash(user, 4000);
    const { body } = await shop.buy(user, 10_000, 'pm_card_visa', { use_cash: true });
    expect(body).toMatchObject({ status: 'complete', amounts: { cash_applied: usd(4000), total: usd(6000) } });
    const answer = await refund({ checkout_session_id: body.id }, 7000);
    expect(answer).toMatchObject({ status: 201, body: { amount: usd(6000), cash_returned: usd(1000) } });
    expect(await shop.events('payment.refunded.v1', user)).toMatchObject([
      { amount: 6000, cash_return_amount: 1000, obligation_refunded: 7000 },
    ]);
    await eventually('the cash', async () => (await cashOf(user)).available.amount === 1000);
  });
});

describe('a payment that takes its time', () => {
  const both = async (advance: string): Promise<void> => {
    await shop.p.clock('payments', { advance });
    await shop.p.clock('cash', { advance });
  };

  test('case 32: keeps its cash held for hours, and spends it once when the money arrives', async () => {
    const user = await shop.stranger();
    await grantCash(user, 4000);
    await shop.act('hold_webhooks');
    const { body } = await shop.buy(user, 10_000, 'sbx_async_success', { use_cash: true });
    expect(body.status).toBe('processing');
    for (let step = 0; step < 6; step++) await both('PT20M');
    expect([(await session(body.id)).status, (await cashOf(user)).reserved.amount]).toEqual(['processing', 4000]);
    await shop.act('release_webhooks');
    await becomes(body.id, 'complete');
    expect(await shop.events('cash.spent.v1', user)).toHaveLength(1);
    expect(await shop.events('payment.paid.v1', user)).toMatchObject([{ cash_amount: 4000, total_amount: 6000 }]);
  }, 60_000);

  test('case 33: whose cash is gone gives everything back, and nothing is paid', async () => {
    const user = await shop.stranger();
    await grantCash(user, 4000);
    await shop.act('hold_webhooks');
    const { body } = await shop.buy(user, 10_000, 'sbx_async_success', { use_cash: true });
    await shop.p.clock('cash', { advance: 'PT40M' });
    const spend = { user_id: user, amount: usd(4000), reference: { type: 'test', id: randomUUID() } };
    expect(await shop.p.rest('POST', '/cash/v1/cash/spend', { token: shop.token, body: spend })).toMatchObject({ status: 201 });
    await shop.act('release_webhooks');
    await becomes(body.id, 'cancelled');
    await eventually('the refund', async () => {
      await shop.advance('PT1M');
      return (await shop.events('payment.refunded.v1', user)).length === 1;
    });
    expect(await shop.events('payment.refunded.v1', user)).toMatchObject([{ amount: 6000, obligation_id: null, cash_return_amount: 0 }]);
    expect(await shop.events('payment.paid.v1', user)).toEqual([]);
    expect(await payment(body.payment.id)).toMatchObject({ amount_captured: usd(6000), amount_refunded: usd(6000) });
  }, 60_000);
});

test.each([
  ['payments.reconcile', {}],
  ['payments.retry_invoices', { input: { pastDueBefore: '2026-11-23T12:00:00.000Z' } }],
  ['payments.monitor_failures', {}],
])('jobs calls %s as its own client', async (operation, variables) => {
  const body = { queue: 'jobs.graphql_operation', payload: { operation, variables } };
  const job = await shop.p.rest('POST', '/jobs/v1/jobs', { token: shop.token, body });
  expect(job, JSON.stringify(job.body)).toMatchObject({ status: 202 });
  const state = async (): Promise<any> => (await shop.p.rest('GET', `/jobs/v1/jobs/${job.body.id}`, { token: shop.token })).body;
  const ended = await until('the end of the job', state, ({ status }) => ['succeeded', 'dead'].includes(status));
  expect(ended).toMatchObject({ status: 'succeeded', output: { fields: 1 } });
});
