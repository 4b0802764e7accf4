import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../runtime/data/ids.js';
import { Problem } from '../../runtime/request/errors.js';
import { ADMIN, DEMO, DEMO2, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { OfferShop, stub } from './offers-fixture.js';

let p: TestPlatform;
let shop: OfferShop;
let [demo, demo2, admin] = ['', '', ''];
let visa: string;
/** What cash and accounting have been asked; `isDown` makes them fail. */
let asked: { operation: string; variables: any }[];
let isDown = false;

const unlessDown = (answer: object): object => {
  if (isDown) throw new Problem('unavailable', 'down');
  return answer;
};

beforeAll(async () => {
  shop = await OfferShop.open();
  p = shop.p;
  [demo, demo2, admin] = (await Promise.all(
    [DEMO, DEMO2, ADMIN].map(user => p.userToken(user, ['manage:subscriptions', 'read:subscriptions', 'read:payments'])),
  )) as [string, string, string];
  await p.clock('payments', { now: '2026-11-21T12:00:00.000Z' });
  visa = await shop.method();
  ({ calls: asked } = stub(p, {
    grantCash: () => unlessDown({ id: newId() }),
    postLedgerTransaction: () => unlessDown({ id: newId() }),
  }));
});

const recipient = { name: 'Sam Sample', email: 'sam@example.test' };
const credit = { kind: 'credit', value: { amount: 5000, currency: 'USD' }, recipient, return_url: 'http://localhost:5174/done' };
const buy = (body: object, token = demo) => shop.post('/v1/billing/gifts/checkout-session', body, token);
const finalize = (id: string, token = demo) => shop.post(`/v1/billing/gifts/checkout-session/${id}/finalize`, {}, token);
const redeem = (code: string, token: string, more: object = {}) => shop.post('/v1/billing/gifts/redeem', { code, ...more }, token);
const rowOf = async (id: string): Promise<any> => (await p.sql('select * from payments.gift where id = $1', [id]))[0];

/** A paid gift, as its purchaser sees it. */
async function bought(body: object = credit): Promise<any> {
  const session = await buy({ payment_method_id: visa, ...body });
  expect(session).toMatchObject({ status: 201, body: { status: 'complete' } });
  return (await finalize(session.body.id)).body.gift;
}

describe('POST /v1/billing/gifts/checkout-session', () => {
  test('with a method it charges at once, and the money is owed as a gift', async () => {
    const { body } = await buy({ ...credit, payment_method_id: visa, message: 'Enjoy' });
    expect(body).toMatchObject({
      status: 'complete',
      amounts: { subtotal: { amount: 5000 }, discount: { amount: 0 }, total: { amount: 5000, currency: 'USD' } },
      gift: { kind: 'credit', status: 'delivered', value: { amount: 5000 }, recipient_name: 'Sam Sample', message: 'Enjoy' },
    });
    expect(await shop.about('payment.paid.v1', 'obligation_id', body.id)).toMatchObject([
      { user_id: DEMO, data: { obligation_type: 'checkout', purpose: 'gift', total_amount: 5000, subtotal_amount: 5000 } },
    ]);
  });

  test('without one it gives the address of a page, and nothing is paid', async () => {
    const { body } = await buy(credit);
    expect(body).toMatchObject({ status: 'open', gift: { status: 'pending_payment', code: null } });
    expect(body.url).toMatch(new RegExp(`^${p.url}/payments/pay/[\\w-]{43}$`));
    expect(await finalize(body.id)).toMatchObject({ status: 409, body: { reason: 'not_paid' } });
  });

  test('a declined charge is a 402 that says why, and makes no code', async () => {
    const declined = await shop.method('pm_card_visa_chargeDeclinedInsufficientFunds');
    const answer = await buy({ ...credit, payment_method_id: declined });
    expect(answer).toMatchObject({
      status: 402,
      body: { code: 'payment_declined', decline_code: 'insufficient_funds', category: 'soft', retryable: true },
    });
    const [gift] = await p.sql(
      'select g.* from payments.gift g join payments.gift_checkout_session s on s.gift_id = g.id where s.id = $1',
      [answer.body.checkout_session_id],
    );
    expect(gift).toMatchObject({ status: 'pending_payment', code_hash: null });
  });

  test('a membership costs its price so many times', async () => {
    const { id } = await shop.plan(9900);
    const { body } = await buy({ ...credit, kind: 'membership', value: undefined, price_id: id, periods: 3 });
    expect(body).toMatchObject({ amounts: { total: { amount: 29_700 } }, gift: { periods: 3, price: { id } } });
  });

  test.each<[string, object, string[]]>([
    ['credit below 500', { value: { amount: 499, currency: 'USD' } }, ['/value/amount']],
    ['credit above 100000', { value: { amount: 100_001, currency: 'USD' } }, ['/value/amount']],
    ['credit with a price', { price_id: newId(), periods: 1 }, ['/price_id', '/periods']],
    ['a membership without a price', { kind: 'membership' }, ['/price_id', '/periods', '/value']],
    ['a delivery in the past', { deliver_at: '2026-11-21T11:59:59Z' }, ['/deliver_at']],
    ['a delivery after a year', { deliver_at: '2027-11-21T12:00:01Z' }, ['/deliver_at']],
    ['another origin', { return_url: 'https://evil.example/' }, ['/return_url']],
    ['a message that is too long', { message: 'x'.repeat(501) }, ['/message']],
    ["another's method", { payment_method_id: newId() }, ['/payment_method_id']],
    ['the number of a card', { card_number: '4242424242424242' }, ['/card_number']],
  ])('%s is a 400', async (_case, more, pointers) => {
    const answer = await buy({ ...credit, ...more });
    expect([answer.status, answer.body.errors?.map((one: any) => one.pointer)]).toEqual([400, pointers]);
  });

  test('the same key gives the same session, charged once', async () => {
    const headers = { 'idempotency-key': newId() };
    const send = () =>
      p.rest('POST', '/payments/v1/billing/gifts/checkout-session', { token: demo, headers, body: { ...credit, payment_method_id: visa } });
    const [first, again] = [await send(), await send()];
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });
});

describe('POST …/finalize', () => {
  test('shows the purchaser the code, the same each time, and nobody else', async () => {
    const { body } = await buy({ ...credit, payment_method_id: visa });
    const [first, again] = [await finalize(body.id), await finalize(body.id)];
    expect(first.body.gift.code).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){3}[0-9A-HJKMNP-TV-Z]{5}$/);
    expect(again.body).toEqual(first.body);
    expect((await finalize(body.id, shop.token)).body.gift.code).toBeNull();
    expect(await finalize(body.id, demo2)).toMatchObject({ status: 404 });
  });

  test('the code is stored sealed and as a keyed hash, and is in no event and no audit row', async () => {
    const gift = await bought();
    const plain = gift.code.replaceAll('-', '');
    const [row] = await p.sql(
      `select (select string_agg(g::text, ' ') from payments.gift g) || (select coalesce(string_agg(data::text, ' '), '') from events.outbox)
         || (select string_agg(details::text, ' ') from payments.audit_log) as text`,
    );
    for (const secret of [plain, gift.code, 'sam@example.test', 'Sam Sample']) expect(row.text).not.toContain(secret);
    expect((await rowOf(gift.id)).code_hash).toHaveLength(32);
  });
});

describe('delivery', () => {
  const delivered = (id: string) => shop.about('comms.message.send_requested.v1', 'recipient_id', id);

  test('is asked of comms as soon as it is paid, or on its day', async () => {
    const now = await bought();
    expect(await delivered(now.id)).toMatchObject([
      { user_id: null, data: { recipient_type: 'gift', template: 'gift_received', dedupe_key: `gift:${now.id}` } },
    ]);
    const later = await bought({ ...credit, deliver_at: '2026-12-24T08:00:00Z' });
    expect([later.status, await delivered(later.id)]).toEqual(['purchased', []]);
    await p.clock('payments', { now: '2026-12-24T07:59:00.000Z' });
    expect(await delivered(later.id)).toEqual([]);
    await p.clock('payments', { now: '2026-12-24T08:00:00.000Z' });
    expect(await delivered(later.id)).toHaveLength(1);
    expect((await rowOf(later.id)).status).toBe('delivered');
  });

  test('address and code are for comms alone, only while it is on its way, and each read is audited', async () => {
    const ask = (id: string, token: string) =>
      p.graphql('query($id: ID!) { giftDelivery(giftId: $id) { email name code message } }', { id }, { token });
    const gift = await bought();
    const comms = await p.internalToken('comms');
    expect((await ask(gift.id, comms)).data.giftDelivery).toEqual({
      email: recipient.email,
      name: recipient.name,
      code: gift.code,
      message: null,
    });
    expect(await p.sql(`select 1 from payments.audit_log where action = 'gift.address_read' and target = $1`, [gift.id])).toHaveLength(1);
    for (const token of [shop.token, demo, await p.internalToken('webhooks')])
      expect((await ask(gift.id, token)).errors[0]!.extensions.code).toBe('FORBIDDEN');
    await redeem(gift.code, demo2);
    expect((await ask(gift.id, comms)).errors[0]!.extensions.code).toBe('NOT_FOUND');
  });
});

describe('redeeming', () => {
  test('credit is granted as cash, the gift its reference; case and dashes do not matter', async () => {
    const gift = await bought();
    const { status, body } = await redeem(gift.code.toLowerCase().replaceAll('-', ''), demo2);
    expect(status).toBe(200);
    expect(body).toMatchObject({ gift: { id: gift.id, status: 'redeemed', code: null, redeemed_by: { id: DEMO2 } }, subscription: null });
    expect(body.cash_grant_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(asked.at(-1)).toMatchObject({
      operation: 'grantCash',
      variables: {
        input: { userId: DEMO2, source: 'GIFT', amount: { amount: 5000, currency: 'USD' }, reference: { type: 'gift', id: gift.id } },
      },
    });
    expect((await rowOf(gift.id)).code_sealed).toBeNull();
  });

  test('four times at once: it is given once', async () => {
    const gift = await bought();
    const answers = await Promise.all(Array.from({ length: 4 }, (_, index) => redeem(gift.code, [demo2, admin][index % 2]!)));
    expect(answers.filter(one => one.status === 200)).toHaveLength(1);
    expect(answers.filter(one => one.status === 404 || one.status === 409)).toHaveLength(3);
  });

  test('while cash is down it is a 503, the code is taken, and it is granted when cash is back', async () => {
    const gift = await bought();
    isDown = true;
    expect(await redeem(gift.code, admin)).toMatchObject({ status: 503 });
    isDown = false;
    expect(await redeem(gift.code, demo)).toMatchObject({ status: 404 });
    await p.clock('payments', { advance: 'PT31S' });
    await until(
      'the grant',
      () => rowOf(gift.id),
      row => row.status === 'redeemed',
    );
    expect(await rowOf(gift.id)).toMatchObject({ redeemed_by_id: ADMIN, settle_at: null });
  });

  test('unknown, used, refunded and expired codes are a 404 alike', async () => {
    const eager = await shop.buyer(await shop.stranger());
    const [used, refunded, expired] = [await bought(), await bought(), await bought()];
    await p.sql(`update payments.gift set status = 'redeemed' where id = $1`, [used.id]);
    await p.sql(`update payments.gift set status = 'refunded' where id = $1`, [refunded.id]);
    await p.sql(`update payments.gift set status = 'expired' where id = $1`, [expired.id]);
    const bodies = [];
    for (const code of ['7K3QM-00000-00000-00000', 'short', used.code, refunded.code, expired.code]) {
      const answer = await redeem(code, eager);
      expect(answer.status).toBe(404);
      const { request_id: _, ...body } = answer.body;
      bodies.push(JSON.stringify(body));
    }
    expect(new Set(bodies).size).toBe(1);
  });

  test('the alias shares the limit of ten tries an hour', async () => {
    const guesser = await shop.buyer(await shop.stranger());
    const statuses = [];
    for (let tries = 0; tries < 12; tries++) {
      const path = tries % 2 ? '/v1/gift-membership/redeem' : '/v1/billing/gifts/redeem';
      statuses.push((await shop.post(path, { code: `AAAAA-AAAAA-AAAAA-AAA${tries}0` }, guesser)).status);
    }
    expect(statuses).toEqual([...Array(10).fill(404), 429, 429]);
    const headers = (await redeem('AAAAA', guesser)).headers;
    expect(Number(headers['retry-after'])).toBeGreaterThan(3000);
  });

  test('is for users alone', async () => {
    expect(await redeem('AAAAA', shop.token)).toMatchObject({ status: 403 });
    expect(await redeem('AAAAA', await p.userToken(DEMO2, ['read:payments']))).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
  });
});

describe('a membership that was given', () => {
  const subscriptionOf = (id: string): Promise<any> =>
    p.sql('select * from payments.billing_subscription where id = $1', [id]).then(([row]) => row);

  test('begins a subscription of the periods, extends one of the same plan, and is owed over its time', async () => {
    const price = await shop.plan(9900);
    const membership = { ...credit, kind: 'membership', value: undefined, price_id: price.id, periods: 3 };
    const [first, second] = [await bought(membership), await bought({ ...membership, periods: 1 })];
    const { body } = await redeem(first.code, demo2);
    expect(body.subscription).toMatchObject({ status: 'active', source: 'gift', cancel_at_period_end: true });
    const begun = new Date(body.subscription.current_period_start);
    const end = new Date(Date.UTC(begun.getUTCFullYear(), begun.getUTCMonth() + 3, begun.getUTCDate(), begun.getUTCHours()));
    expect(new Date(body.subscription.current_period_end).toISOString().slice(0, 13)).toBe(end.toISOString().slice(0, 13));
    expect(asked.at(-1)!.variables.input).toMatchObject({
      source: { service: 'payments', type: 'gift_redeemed', id: first.id },
      entries: [
        { accountCode: 'liabilities:gifts:usd', direction: 'DEBIT', amount: { amount: 29_700, currency: 'USD' } },
        { accountCode: 'liabilities:deferred_revenue:usd', direction: 'CREDIT', recognition: { key: first.id } },
      ],
    });
    const extended = await redeem(second.code, demo2);
    expect(extended.body.subscription.id).toBe(body.subscription.id);
    expect(Date.parse(extended.body.subscription.current_period_end)).toBeGreaterThan(
      Date.parse(body.subscription.current_period_end) + 27 * 86_400_000,
    );
    expect(await shop.about('subscription.created.v1', 'subscription_id', body.subscription.id)).toMatchObject([
      { user_id: DEMO2, data: { source: 'gift', tier: 'plus' } },
    ]);
  });

  test('beside a membership of another plan is a 409, and the code is good still', async () => {
    const other = await shop.plan(4900);
    const gift = await bought({ ...credit, kind: 'membership', value: undefined, price_id: other.id, periods: 1 });
    expect(await redeem(gift.code, demo2)).toMatchObject({ status: 409, body: { reason: 'second_membership' } });
    expect((await rowOf(gift.id)).redeemed_by_id).toBeNull();
    const mine = await redeem(gift.code, admin, { auto_renew: true });
    expect(mine).toMatchObject({ status: 200, body: { subscription: { cancel_at_period_end: false } } });
    expect(await subscriptionOf(mine.body.subscription.id)).toMatchObject({ gift_id: gift.id });
  });

  test('while the books are down is a membership all the same, and is booked when they are back', async () => {
    const price = await shop.plan(100);
    const gift = await bought({ ...credit, kind: 'membership', value: undefined, price_id: price.id, periods: 1 });
    isDown = true;
    expect(await redeem(gift.code, demo)).toMatchObject({ status: 200, body: { gift: { status: 'redeemed' } } });
    expect((await rowOf(gift.id)).settle_at).not.toBeNull();
    isDown = false;
    await p.clock('payments', { advance: 'PT31S' });
    await until(
      'the booking',
      () => rowOf(gift.id),
      row => row.settle_at === null,
    );
  });
});

test('a code that nobody uses expires after five years, and is forgotten', async () => {
  const gift = await bought();
  await p.sql(`update payments.gift set expires_at = (select now + interval '1 hour' from payments.test_clock) where id = $1`, [gift.id]);
  await p.clock('payments', { advance: 'PT1H' });
  expect(await rowOf(gift.id)).toMatchObject({ status: 'expired', code_sealed: null });
  expect(Date.parse(gift.expires_at)).toBeGreaterThan(Date.parse(gift.created_at) + 5 * 365 * 86_400_000);
});

test('a purchase that is not paid within a day is over', async () => {
  const { body } = await buy(credit);
  await p.clock('payments', { advance: 'P1D' });
  expect(await rowOf(body.gift.id)).toMatchObject({ status: 'expired' });
  expect(await finalize(body.id)).toMatchObject({ status: 409 });
});
