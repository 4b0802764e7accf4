import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../runtime/data/ids.js';
import { memberFlags, refundRateBps, type MemberFigures } from '../../subgraphs/payments/rules/summary.js';
import { DEMO, DEMO2, type TestPlatform } from '../support/platform.js';
import { OfferShop } from './offers-fixture.js';

let p: TestPlatform;
let shop: OfferShop;
beforeAll(async () => {
  shop = await OfferShop.open();
  p = shop.p;
});

const summaryOf = async (user: string): Promise<any> => (await shop.get(`/v1/billing/summary?user_id=${user}`)).body;
const memberOf = (user: string): Promise<any> => shop.get(`/v1/admin/members/${user}/billing-summary`);

describe('GET /v1/billing/summary', () => {
  test('of whoever has bought nothing are zeros', async () => {
    expect(await summaryOf(await shop.stranger())).toMatchObject({
      currency: 'USD',
      default_payment_method: null,
      subscriptions: [],
      next_charge: null,
      outstanding: { amount: 0, currency: 'USD' },
      credit_balance: { amount: 0 },
      delinquent: false,
      last_payment: null,
      action_required: [],
    });
  });

  test('shows what lives, what pays it and what comes next', async () => {
    const user = await shop.stranger();
    const items = [{ price_id: await shop.monthly(2900), quantity: 1 }];
    await shop.made('/v1/checkout', { mode: 'subscription', user_id: user, items, payment_method_token: 'pm_card_visa' });
    expect(await summaryOf(user)).toMatchObject({
      default_payment_method: { is_default: true, card: { last4: '4242' } },
      subscriptions: [{ status: 'active', source: 'purchase' }],
      next_charge: { total: { amount: 2900, currency: 'USD' } },
      last_payment: { status: 'succeeded', amount: { amount: 2900 } },
      action_required: [],
    });
  });

  test('names what the customer has to do', async () => {
    const user = await shop.stranger();
    const items = [{ price_id: await shop.price(1000), quantity: 1 }];
    await shop.post('/v1/checkout', { mode: 'payment', user_id: user, items, payment_method_token: 'pm_card_authenticationRequired' });
    expect((await summaryOf(user)).action_required).toEqual(['authenticate_payment']);
  });

  test('is for the user alone', async () => {
    const token = await shop.buyer(DEMO);
    expect(await shop.get('/v1/billing/summary', token)).toMatchObject({ status: 200, body: { user: { id: DEMO } } });
    expect(await shop.get(`/v1/billing/summary?user_id=${DEMO2}`, token)).toMatchObject({ status: 404 });
  });
});

describe('GET /v1/admin/members/{user_id}/billing-summary', () => {
  test('of an unknown user is a 404, of one without billing zeros', async () => {
    expect(await memberOf(newId())).toMatchObject({ status: 404 });
    expect((await memberOf(await shop.stranger())).body).toMatchObject({
      lifetime_charged: { amount: 0 },
      lifetime_refunded: { amount: 0 },
      open_disputes: 0,
      refund_rate_bps: 0,
      first_payment_at: null,
      invoices: [],
      flags: [],
    });
  });

  test('counts what was charged and given back', async () => {
    const user = await shop.stranger();
    const { body } = await shop.buy(user, 10_000);
    const refund = { payment_id: body.payment.id, amount: { amount: 4000, currency: 'USD' }, reason: 'goodwill' };
    await shop.made('/v1/refunds', refund);
    expect((await memberOf(user)).body).toMatchObject({
      lifetime_charged: { amount: 10_000 },
      lifetime_refunded: { amount: 4000 },
      refund_rate_bps: 4000,
      flags: ['high_refund_rate'],
    });
  });

  test('a member may not see it', async () => {
    expect(await p.rest('GET', `/payments/v1/admin/members/${DEMO}/billing-summary`, { token: await shop.buyer(DEMO) })).toMatchObject({
      status: 403,
    });
  });
});

const quiet: MemberFigures = {
  charged: 10_000,
  refunded: 0,
  openDisputes: 0,
  lostDisputes: 0,
  failedLast90d: 0,
  isDelinquent: false,
  hasLiveSubscription: false,
  hasMethod: false,
};

test.each<[Partial<MemberFigures>, string[]]>([
  [{}, []],
  [{ isDelinquent: true }, ['past_due']],
  [{ openDisputes: 1, lostDisputes: 1 }, ['open_dispute', 'lost_dispute']],
  [{ failedLast90d: 2 }, []],
  [{ failedLast90d: 3 }, ['frequent_failures']],
  [{ refunded: 2499 }, []],
  [{ refunded: 2500 }, ['high_refund_rate']],
  [{ hasLiveSubscription: true }, ['no_payment_method']],
  [{ hasLiveSubscription: true, hasMethod: true }, []],
])('figures %o raise %o', (figures, flags) => expect(memberFlags({ ...quiet, ...figures })).toEqual(flags));

test.each([
  [0, 0, 0],
  [10_000, 5, 5],
  [30_000, 1, 0],
  [3, 1, 3333],
])('of %i charged %i given back is a rate of %i', (charged, refunded, bps) => expect(refundRateBps({ charged, refunded })).toBe(bps));

describe('User.billing and User.gifts', () => {
  const ASK = `query($id: ID!) { user(id: $id) { billing { customer { id } summary { outstanding { amount } } paymentMethods { id }
    subscriptions(first: 5) { nodes { status price { tier } } } invoices(first: 5) { nodes { status } } payments(first: 5) { nodes { status } } } gifts { id status } } }`;

  test('compose what a user has bought', async () => {
    const user = await shop.stranger();
    const items = [{ price_id: await shop.monthly(2900), quantity: 1 }];
    await shop.made('/v1/checkout', { mode: 'subscription', user_id: user, items, payment_method_token: 'pm_card_visa' });
    const { data, errors } = await p.graphql(ASK, { id: user }, { token: shop.token });
    expect(errors).toEqual([]);
    expect(data.user).toMatchObject({
      billing: {
        subscriptions: { nodes: [{ status: 'ACTIVE', price: { tier: 'plus' } }] },
        invoices: { nodes: [{ status: 'PAID' }] },
        payments: { nodes: [{ status: 'SUCCEEDED' }] },
      },
      gifts: [],
    });
  });
});

describe('GET /v1/payments/{id}/timeline', () => {
  test('tells what happened in its order, and names who could not be asked', async () => {
    const user = await shop.stranger();
    const { body } = await shop.buy(user, 5000);
    await shop.made('/v1/refunds', { payment_id: body.payment.id, reason: 'goodwill' });
    const { status, body: timeline } = await shop.get(`/v1/payments/${body.payment.id}/timeline`);
    expect(status).toBe(200);
    const kinds = timeline.entries.filter((one: any) => one.source === 'payments').map((one: any) => one.kind);
    expect(kinds).toEqual(
      expect.arrayContaining([
        'payment_created',
        'attempt_started',
        'attempt_succeeded',
        'payment_captured',
        'refund_created',
        'refund_succeeded',
      ]),
    );
    expect(kinds.indexOf('refund_succeeded')).toBeGreaterThan(kinds.indexOf('payment_captured'));
    expect(timeline.omitted).toContain('affiliates');
    const own = await shop.get(`/v1/payments/${body.payment.id}/timeline`, await shop.buyer(user));
    expect(own.body.entries.some((one: any) => one.source === 'processor')).toBe(false);
    expect(await shop.get(`/v1/payments/${body.payment.id}/timeline`, await shop.buyer(DEMO2))).toMatchObject({ status: 404 });
  });
});

test('a preview says what a refund would do, and binds the refund that follows to it', async () => {
  const { body } = await shop.buy(await shop.stranger(), 6000);
  const payment_id = body.payment.id;
  const preview = await shop.post('/v1/refunds/preview', { payment_id, amount: { amount: 2000, currency: 'USD' } });
  expect(preview).toMatchObject({ status: 200, body: { amount: { amount: 2000 }, cash_returned: { amount: 0 }, is_full: false } });
  const refund = { payment_id, amount: { amount: 2000, currency: 'USD' }, reason: 'goodwill', preview_token: preview.body.token };
  await shop.made('/v1/refunds', refund);
  expect(await shop.post('/v1/refunds', refund)).toMatchObject({ status: 409, body: { reason: 'preview_outdated' } });
});
