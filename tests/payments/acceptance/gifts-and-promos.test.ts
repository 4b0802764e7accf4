import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../../runtime/data/ids.js';
import { CHROMIUM, startChromium } from '../../support/chromium.js';
import { ADMIN, BRAND, DEMO, DEMO2, type TestPlatform } from '../../support/platform.js';
import { until } from '../../support/until.js';
import { faultsOf } from '../../support/sound-page.js';
import { OfferShop, stub } from '../offers-fixture.js';

const RETURN = 'http://localhost:5174/done';

let p: TestPlatform;
let shop: OfferShop;
let chromium: Browser;
beforeAll(async () => {
  shop = await OfferShop.open();
  p = shop.p;
  stub(p, { postLedgerTransaction: () => ({ id: newId() }), grantCash: () => ({ id: newId() }) });
  if (CHROMIUM) chromium = await startChromium([RETURN]);
});

test('16: of five checkouts at once with a promo for one, one completes with the discount and the others are not charged', async () => {
  const promo = {
    code: 'ONLY-ONE',
    brand_id: BRAND,
    kind: 'percent',
    percent_bps: 2000,
    duration: 'once',
    max_redemptions: 1,
    per_user_limit: 9,
  };
  await shop.made('/v1/admin/promos', promo);
  const price_id = await shop.price(10_000);
  const buyers = await Promise.all(Array.from({ length: 5 }, () => shop.stranger()));
  const answers = await Promise.all(
    buyers.map(user_id =>
      shop.post('/v1/checkout', {
        mode: 'payment',
        user_id,
        items: [{ price_id, quantity: 1 }],
        promo_code: 'only-one',
        payment_method_token: 'pm_card_visa',
      }),
    ),
  );
  const complete = answers.filter(one => one.status === 201);
  expect(complete).toMatchObject([{ body: { status: 'complete', amounts: { discount: { amount: 2000 }, total: { amount: 8000 } } } }]);
  for (const refused of answers.filter(one => one.status !== 201))
    expect(refused).toMatchObject({ status: 400, body: { reason: 'exhausted', errors: [{ pointer: '/promo_code' }] } });
  expect(await p.sql('select status, amount::int from payments.payment where user_id = any($1)', [buyers])).toEqual([
    { status: 'succeeded', amount: 8000 },
  ]);
  const { body } = await shop.get('/v1/admin/promos?code=ONLY-ONE');
  expect(body.data).toMatchObject([{ status: 'exhausted', redeemed_count: 1, reserved_count: 0 }]);
});

test('16, the reservation: a checkout that is left gives the code back after half an hour', async () => {
  await shop.made('/v1/admin/promos', {
    code: 'LEFT',
    brand_id: BRAND,
    kind: 'percent',
    percent_bps: 5000,
    duration: 'once',
    max_redemptions: 1,
  });
  const items = [{ price_id: await shop.price(10_000), quantity: 1 }];
  const open = await shop.made('/v1/checkout', { mode: 'payment', user_id: DEMO, items, promo_code: 'LEFT', return_url: RETURN });
  expect(open).toMatchObject({ status: 'open', amounts: { discount: { amount: 5000 } } });
  const counts = async (): Promise<any> => (await shop.get('/v1/admin/promos?code=LEFT')).body.data[0];
  expect(await counts()).toMatchObject({ reserved_count: 1, status: 'exhausted' });
  await p.clock('payments', { advance: 'PT31M' });
  expect(await counts()).toMatchObject({ reserved_count: 0, status: 'active' });
  const paid = await shop.post(`/v1/checkout/${open.id}/confirm`, { payment_method_token: 'pm_card_visa' });
  expect(paid).toMatchObject({ status: 200, body: { status: 'complete' } });
  expect(await counts()).toMatchObject({ reserved_count: 0, redeemed_count: 1 });
});

test('16, after the limit: what cannot be had again at settlement is refunded in full, and the session is cancelled', async () => {
  await shop.made('/v1/admin/promos', {
    code: 'LOST',
    brand_id: BRAND,
    kind: 'percent',
    percent_bps: 5000,
    duration: 'once',
    max_redemptions: 1,
    per_user_limit: 9,
  });
  const items = [{ price_id: await shop.price(10_000), quantity: 1 }];
  const late = await shop.made('/v1/checkout', { mode: 'payment', user_id: DEMO, items, promo_code: 'LOST', return_url: RETURN });
  await p.clock('payments', { advance: 'PT31M' });
  const other = { mode: 'payment', user_id: DEMO2, items, promo_code: 'LOST', payment_method_token: 'pm_card_visa' };
  expect(await shop.made('/v1/checkout', other)).toMatchObject({ status: 'complete' });
  const answer = await shop.post(`/v1/checkout/${late.id}/confirm`, { payment_method_token: 'pm_card_visa' });
  expect((await shop.get(`/v1/checkout/${late.id}`)).body.status).toBe('cancelled');
  expect(answer.status).toBeLessThan(500);
  const moved =
    'select amount_captured::int as captured, amount_refunded::int as refunded from payments.payment where checkout_session_id = $1';
  await until(
    'the refund',
    () => p.sql(moved, [late.id]),
    ([payment]) => payment.captured === 5000 && payment.refunded === 5000,
  );
  expect(await shop.about('payment.paid.v1', 'obligation_id', late.id)).toEqual([]);
});

test('19: a gift of three months is finalized twice with the same code, redeemed by one, and a 404 to the next', async () => {
  const price = await shop.plan(9900);
  const [buyer, demo2, admin] = await Promise.all([DEMO, DEMO2, ADMIN].map(user => shop.buyer(user)));
  const recipient = { name: 'Sam', email: 'sam@example.test' };
  const body = {
    kind: 'membership',
    price_id: price.id,
    periods: 3,
    recipient,
    return_url: RETURN,
    payment_method_id: await shop.method(),
  };
  const session = await shop.made('/v1/billing/gifts/checkout-session', body, buyer);
  const finalize = async () => (await shop.post(`/v1/billing/gifts/checkout-session/${session.id}/finalize`, {}, buyer)).body.gift.code;
  const [first, again] = [await finalize(), await finalize()];
  expect(again).toBe(first);
  const redeemed = await shop.post('/v1/billing/gifts/redeem', { code: first }, demo2);
  expect(redeemed).toMatchObject({
    status: 200,
    body: { gift: { status: 'redeemed' }, subscription: { status: 'active', source: 'gift' } },
  });
  const { current_period_start: start, current_period_end: end } = redeemed.body.subscription;
  expect(Math.round((Date.parse(end) - Date.parse(start)) / 86_400_000)).toBeGreaterThanOrEqual(89);
  expect(await shop.post('/v1/billing/gifts/redeem', { code: first }, admin)).toMatchObject({ status: 404 });
});

test('a gift that is refunded is dead, and one that is redeemed is not refunded', async () => {
  const buyer = await shop.buyer(DEMO);
  const body = {
    kind: 'credit',
    value: { amount: 2000, currency: 'USD' },
    recipient: { name: 'Sam', email: 'sam@example.test' },
    return_url: RETURN,
    payment_method_id: await shop.method(),
  };
  const buy = async () => {
    const session = await shop.made('/v1/billing/gifts/checkout-session', body, buyer);
    return (await shop.post(`/v1/billing/gifts/checkout-session/${session.id}/finalize`, {}, buyer)).body.gift;
  };
  const refund = (payment_id: string) => shop.post('/v1/refunds', { payment_id, reason: 'requested_by_customer' });
  const [dead, used] = [await buy(), await buy()];
  expect(await refund(dead.payment.id)).toMatchObject({ status: 201, body: { status: 'succeeded' } });
  const demo2 = await shop.buyer(DEMO2);
  expect(await shop.post('/v1/billing/gifts/redeem', { code: dead.code }, demo2)).toMatchObject({ status: 404 });
  expect(await shop.post('/v1/billing/gifts/redeem', { code: used.code }, demo2)).toMatchObject({ status: 200 });
  expect(await refund(used.payment.id)).toMatchObject({ status: 409 });
});

test.skipIf(!CHROMIUM)(
  '38: the address of a session opens in a browser, takes a test method, and leads back; axe finds nothing, no input takes a card number',
  async () => {
    const items = [{ price_id: await shop.price(4200), quantity: 1 }];
    const session = await shop.made('/v1/checkout', {
      mode: 'payment',
      user_id: DEMO,
      items,
      return_url: RETURN,
      cancel_url: 'http://localhost:5174/cart',
    });
    const context = await chromium.newContext({ javaScriptEnabled: true });
    const page = await context.newPage();
    await page.goto(session.url);
    expect(await faultsOf(page, 'pay')).toEqual([]);
    expect(await page.locator('input:not([type=radio]):not([type=hidden]), textarea, select').count()).toBe(0);
    await page.getByLabel('pm_card_authenticationRequired').check();
    await page.getByRole('button', { name: 'Pay 42.00 USD' }).click();
    await page.getByRole('heading', { name: 'Confirm your payment' }).waitFor();
    expect(await faultsOf(page, 'confirm')).toEqual([]);
    await page.getByRole('button', { name: 'Refuse' }).click();
    await page.getByRole('alert').waitFor();
    expect(await faultsOf(page, 'declined')).toEqual([]);
    await page.getByLabel('pm_card_visa (visa').check();
    await page.getByRole('button', { name: 'Pay 42.00 USD' }).click();
    await page.waitForURL(RETURN);
    expect((await shop.get(`/v1/checkout/${session.id}`)).body.status).toBe('complete');
    await page.goto(session.url);
    expect(await faultsOf(page, 'over')).toEqual([]);
    await context.close();
  },
);

test.skipIf(!CHROMIUM)('38, the billing pages: axe finds nothing, and they work without script', async () => {
  const user = await shop.stranger();
  await shop.method('pm_card_amex', user);
  await shop.made('/v1/checkout', {
    mode: 'subscription',
    user_id: user,
    items: [{ price_id: await shop.monthly(2900), quantity: 1 }],
    payment_method_token: 'pm_card_visa',
  });
  const { url } = await shop.made('/v1/billing/portal-session', { user_id: user, return_url: RETURN });
  const context = await chromium.newContext();
  const page = await context.newPage();
  await page.goto(url);
  expect(await faultsOf(page, 'portal')).toEqual([]);
  await page.getByText('Add a method').click();
  await page.getByLabel('pm_card_mastercard').check();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('mastercard •4444').first().waitFor();
  expect(await faultsOf(page, 'portal-methods')).toEqual([]);
  await context.close();
});
