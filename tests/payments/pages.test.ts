import { beforeAll, describe, expect, test } from 'vitest';
import { request } from 'undici';
import { DEMO, DEMO2, type TestPlatform } from '../support/platform.js';
import { OfferShop } from './offers-fixture.js';

const RETURN = 'http://localhost:5174/done';

let p: TestPlatform;
let shop: OfferShop;
beforeAll(async () => {
  shop = await OfferShop.open();
  p = shop.p;
  await p.clock('payments', { now: '2026-11-21T12:00:00.000Z' });
});

interface Page {
  status: number;
  html: string;
  headers: Record<string, string | string[] | undefined>;
}

async function fetchPage(url: string, form?: Record<string, string>, headers: Record<string, string> = {}): Promise<Page> {
  const answer = await request(url, {
    method: form ? 'POST' : 'GET',
    headers: { ...(form && { 'content-type': 'application/x-www-form-urlencoded' }), ...headers },
    ...(form && { body: new URLSearchParams(form).toString() }),
  });
  return { status: answer.statusCode, html: await answer.body.text(), headers: answer.headers };
}

const session = async (more: object = {}): Promise<any> =>
  shop.made('/v1/checkout', {
    mode: 'payment',
    user_id: DEMO,
    items: [{ price_id: await shop.price(2500), quantity: 2 }],
    return_url: RETURN,
    cancel_url: 'http://localhost:5174/cart',
    ...more,
  });
const read = async (id: string): Promise<any> => (await shop.get(`/v1/checkout/${id}`)).body;
const pay = (url: string, token: string) => fetchPage(url, { method: `token:${token}` });

/** Every input of a page is a choice or hidden: none takes digits. */
const inputTypes = (html: string): Set<string> => new Set([...html.matchAll(/<input[^>]*type="([a-z]+)"/g)].map(([, type]) => type!));

describe('the pay page', () => {
  test('shows what is bought and the named test methods, and has no script and no field for digits', async () => {
    const { url } = await session();
    const { status, html, headers } = await fetchPage(url);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(html).toContain('50.00 USD');
    expect(html).toContain('value="token:pm_card_visa"');
    expect(html).toContain('value="token:sbx_timeout_success"');
    expect(html).not.toMatch(/<script|<style|style="|onclick/);
    expect([...inputTypes(html)]).toEqual(['radio']);
    expect((html.match(/<input/g) ?? []).length).toBe((html.match(/<input[^>]*type="radio"/g) ?? []).length);
    expect(html).toMatch(/<html lang="en">[\s\S]*<title>Pay [\s\S]*<h1>Pay /);
  });

  test('cannot be framed, kept or left for anywhere but the shop', async () => {
    const { headers } = await fetchPage((await session()).url);
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self' http://localhost:5174",
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
  });

  test('takes its stylesheet from its own origin', async () => {
    const { html } = await fetchPage((await session()).url);
    const { status, headers } = await fetchPage(`${p.url}${/<link rel="stylesheet" href="([^"]+)"/.exec(html)![1]!}`);
    expect([status, headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
  });

  test('pays without script, leads back to the shop, and is gone afterwards', async () => {
    const { id, url } = await session();
    const paid = await pay(url, 'pm_card_visa');
    expect([paid.status, paid.headers.location]).toEqual([303, RETURN]);
    expect(await read(id)).toMatchObject({ status: 'complete', payment: { status: 'succeeded' }, url: null });
    for (const page of [await fetchPage(url), await pay(url, 'pm_card_visa')]) expect(page.status).toBe(404);
  });

  test('says why a method was declined, and takes another one', async () => {
    const { id, url } = await session();
    const declined = await pay(url, 'pm_card_visa_chargeDeclinedInsufficientFunds');
    expect([declined.status, declined.headers.location]).toEqual([303, url]);
    const { html } = await fetchPage(url);
    expect(html).toMatch(/role="alert"><p>The payment was declined/);
    expect(html).toContain('<title>Error: ');
    expect((await pay(url, 'pm_card_mastercard')).headers.location).toBe(RETURN);
    expect(await read(id)).toMatchObject({ status: 'complete' });
  });

  test.each([
    ['complete', 'complete', RETURN],
    ['fail', 'open', null],
  ])('lets the customer answer the bank: %s leaves the session %s', async (answer, status, location) => {
    const { id, url } = await session();
    expect((await pay(url, 'pm_card_authenticationRequired')).headers.location).toBe(url);
    expect(await read(id)).toMatchObject({ status: 'requires_action', next_action: { url } });
    expect((await fetchPage(url)).html).toContain('Confirm your payment');
    expect((await fetchPage(url, { answer })).headers.location).toBe(location ?? url);
    expect(await read(id)).toMatchObject({ status });
  });

  test('waits for a payment that is processed', async () => {
    const { url } = await session();
    await pay(url, 'sbx_async_success');
    const page = await fetchPage(url);
    if (page.status === 200) expect(page.html).toContain('is being processed');
  });

  test('sells gifts, too', async () => {
    const body = {
      user_id: DEMO,
      kind: 'credit',
      value: { amount: 1500, currency: 'USD' },
      return_url: RETURN,
      recipient: { name: 'Sam', email: 'sam@example.test' },
    };
    const gift = await shop.made('/v1/billing/gifts/checkout-session', body);
    expect((await fetchPage(gift.url)).html).toContain('15.00 USD');
    expect((await pay(gift.url, 'pm_card_visa')).headers.location).toBe(RETURN);
    expect((await shop.post(`/v1/billing/gifts/checkout-session/${gift.id}/finalize`, {})).body).toMatchObject({ status: 'complete' });
    expect((await fetchPage(gift.url)).status).toBe(404);
  });

  test('offers saved methods of the customer, and nobody else’s', async () => {
    const mine = await shop.method('pm_card_amex', DEMO);
    const others = await shop.method('pm_card_mastercard', DEMO2);
    const { id, url } = await session();
    const { html } = await fetchPage(url);
    expect(html).toContain(`saved:${mine}`);
    expect(html).not.toContain(others);
    const refused = await fetchPage(url, { method: `saved:${others}` });
    expect(refused.status).toBe(402);
    expect(await read(id)).toMatchObject({ status: 'open' });
    expect((await fetchPage(url, { method: `saved:${mine}` })).headers.location).toBe(RETURN);
  });

  test('without a choice, with an unknown one or from another origin changes nothing', async () => {
    const { id, url } = await session();
    expect((await fetchPage(url, {})).status).toBe(402);
    expect((await pay(url, 'pm_nothing')).status).toBe(402);
    expect((await fetchPage(url, { method: 'token:pm_card_visa' }, { origin: 'https://evil.example' })).status).toBe(404);
    expect(await read(id)).toMatchObject({ status: 'open' });
  });

  test.each(['unknown', 'A'.repeat(43), '%00', 'style.cs'])('%s is a 404 page', async token => {
    const { status, html } = await fetchPage(`${p.url}/payments/pay/${token}`);
    expect([status, html.includes('There is nothing to pay here')]).toEqual([404, true]);
  });

  test('of a session that expired is a 404', async () => {
    const { url } = await session();
    await p.clock('payments', { advance: 'P1DT1M' });
    expect((await fetchPage(url)).status).toBe(404);
    expect((await pay(url, 'pm_card_visa')).status).toBe(404);
  });
});

describe('the billing pages', () => {
  const portal = (body: object = {}) => shop.made('/v1/billing/portal-session', { user_id: DEMO, return_url: RETURN, ...body });
  /** Opens the pages as a browser does: with the cookie that it was given. */
  async function entered(body: object = {}): Promise<{ url: string; cookie: string; page: Page }> {
    const { url } = await portal(body);
    const page = await fetchPage(url);
    return { url, page, cookie: String(page.headers['set-cookie']).split(';')[0]! };
  }

  test('let the first browser in, and no other', async () => {
    const { url, page, cookie } = await entered();
    expect(page.status).toBe(200);
    expect(String(page.headers['set-cookie'])).toMatch(
      /^portal=[\w-]{43}; Path=\/payments\/portal\/[\w-]{43}; Max-Age=900; HttpOnly; SameSite=Lax$/,
    );
    expect((await fetchPage(url)).status).toBe(404);
    expect((await fetchPage(url, undefined, { cookie: 'portal='.padEnd(50, 'a') })).status).toBe(404);
    expect((await fetchPage(url, undefined, { cookie })).status).toBe(200);
  });

  test('end after 15 minutes, entered or not', async () => {
    const [{ url, cookie }, other] = [await entered(), await portal()];
    await p.clock('payments', { advance: 'PT15M' });
    expect((await fetchPage(url, undefined, { cookie })).status).toBe(404);
    expect((await fetchPage(other.url)).status).toBe(404);
  });

  test('add, choose and remove methods, and refuse to leave a subscription without one', async () => {
    const user = await shop.stranger();
    const { url, cookie } = await entered({ user_id: user });
    const act = (form: Record<string, string>) => fetchPage(url, form, { cookie });
    for (const token of ['pm_card_visa', 'pm_card_amex']) expect((await act({ act: 'attach', token: `token:${token}` })).status).toBe(303);
    const methods = async () => (await shop.get(`/v1/billing/payment-methods?user_id=${user}`)).body.data;
    const [visa, amex] = await methods();
    expect([visa.is_default, amex.is_default]).toEqual([true, false]);
    expect((await act({ act: 'default', id: amex.id })).status).toBe(303);
    expect((await methods())[0]).toMatchObject({ id: amex.id, is_default: true });
    await act({ act: 'detach', id: visa.id });
    expect(await methods()).toHaveLength(1);
    const price_id = await shop.monthly(2900);
    await shop.made('/v1/checkout', {
      mode: 'subscription',
      user_id: user,
      items: [{ price_id, quantity: 1 }],
      payment_method_id: amex.id,
    });
    const refused = await act({ act: 'detach', id: amex.id });
    expect([refused.status, refused.html.includes('cannot be detached')]).toEqual([409, true]);
    const page = await fetchPage(url, undefined, { cookie });
    expect(page.html).toContain('renews on');
    const [, subscription] = /name="act" value="cancel" \/><input type="hidden" name="id" value="([0-9a-f-]{36})"/.exec(page.html)!;
    expect((await act({ act: 'cancel', id: subscription! })).status).toBe(303);
    expect((await fetchPage(url, undefined, { cookie })).html).toContain('ends on');
    expect((await shop.get(`/v1/subscriptions/${subscription}`)).body).toMatchObject({ cancel_at_period_end: true });
  });

  test("find nothing of another person's", async () => {
    const others = await shop.method('pm_card_visa', DEMO2);
    const { url, cookie } = await entered();
    for (const act of ['default', 'detach']) expect((await fetchPage(url, { act, id: others }, { cookie })).status).toBe(409);
    expect((await shop.get(`/v1/billing/payment-methods?user_id=${DEMO2}`)).body.data.map((one: any) => one.id)).toContain(others);
  });

  test('show what their flow is about', async () => {
    const { page } = await entered({ flow: 'invoice_history' });
    expect([page.html.includes('<h2>Invoices'), page.html.includes('<h2>Payment methods')]).toEqual([true, false]);
  });

  test('another origin to return to is a 400, and the eleventh in a minute a 429', async () => {
    const token = await shop.buyer(await shop.stranger());
    const ask = (return_url: string) => shop.post('/v1/billing/portal-session', { return_url }, token);
    expect(await ask('https://evil.example/')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/return_url' }] } });
    const statuses = [];
    for (let tries = 0; tries < 10; tries++) statuses.push((await ask(RETURN)).status);
    expect(statuses).toEqual([...Array(9).fill(201), 429]);
  });
});
