import { extractText } from 'unpdf';
import { beforeAll, describe, expect, test } from 'vitest';
import { BRAND } from '../support/platform.js';
import { Subscribers, dollars } from './subscribers.js';

const SELLER = 'Łucja Ελένη Жанна Ltd';
let s: Subscribers;

beforeAll(async () => {
  s = await Subscribers.open();
  await s.p.sql('update platform.brand set legal_name = $1 where id = $2', [SELLER, BRAND]);
  const config = {
    key: 'payments.tax_rates',
    description: 'Tax by region',
    schema: { type: 'object' },
    scopes: ['global', 'brand'],
    readers: ['payments'],
  };
  const token = await s.p.serviceToken();
  expect(await s.p.rest('POST', '/platform/v1/admin/config', { token, body: config })).toMatchObject({ status: 201 });
  const value = { brand_id: null, value: { default: 800 }, expected_version: 0, reason: 'a test of documents' };
  expect(await s.p.rest('PUT', '/platform/v1/admin/config/payments.tax_rates', { token, body: value })).toMatchObject({ status: 200 });
});

async function textAt(path: string, token: string): Promise<string> {
  const answer = await fetch(`${s.p.url}/payments${path}`, { headers: { authorization: `Bearer ${token}` } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  const { text } = await extractText(new Uint8Array(await answer.arrayBuffer()), { mergePages: true });
  return text;
}

describe('documents', () => {
  test('37: invoice and credit note hold the seller’s legal name in any script, the tax and both numbers', async () => {
    const one = await s.subscribe({ amount: 9900 });
    const [invoice] = await s.invoices(one.userId);
    expect(invoice).toMatchObject({ tax: dollars(792), total: dollars(10692), seller_name: SELLER, status: 'paid' });
    const refund = await s.shop.post('/v1/refunds', { payment_id: invoice.payments[0].id, amount: dollars(4000), reason: 'goodwill' });
    expect(refund).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    const [refunded] = await s.invoices(one.userId);
    expect(refunded).toMatchObject({ status: 'paid', amount_refunded: dollars(4000), credit_notes: [{ amount: dollars(4000) }] });
    const [note] = refunded.credit_notes;
    const text = await textAt(`/v1/billing/invoices/${invoice.id}/pdf`, one.token);
    for (const part of [SELLER, invoice.number, '7.92 USD', '99.00 USD', '106.92 USD', 'visa •4242']) expect(text).toContain(part);
    const credit = await textAt(`/v1/credit-notes/${note.id}/pdf`, one.token);
    for (const part of [SELLER, note.number, invoice.number, '40.00 USD', '2.96 USD']) expect(credit).toContain(part);
    expect(await s.events('payment.invoice.refunded.v1', one.userId)).toMatchObject([{ invoice_id: invoice.id, amount_refunded: 4000 }]);
    expect(await s.shop.get(`/v1/credit-notes/${note.id}`, one.token)).toMatchObject({
      status: 200,
      body: { number: note.number, invoice: { number: invoice.number }, amount: dollars(4000), tax: dollars(296), seller_name: SELLER },
    });
  });

  test('another’s documents are not found, and nobody’s are shown without a token', async () => {
    const [one, other] = [await s.subscribe({ amount: 4900 }), await s.shop.buyer(await s.shop.stranger())];
    const [invoice] = await s.invoices(one.userId);
    const path = `/payments/v1/billing/invoices/${invoice.id}/pdf`;
    const read = (token: string | null) => s.p.rest('GET', path, { token });
    expect([(await read(other)).status, (await read(null)).status, (await read(one.token)).status]).toEqual([404, 401, 200]);
    expect((await s.p.rest('GET', path, { token: await s.p.userToken(one.userId, ['read:payments']) })).status).toBe(403);
  });

  test('numbers of invoices and credit notes have no gap, whatever fails between them', async () => {
    const subscribed = await Promise.all([1, 2, 3, 4].map(n => s.subscribe({ amount: 1000 * n })));
    const declined = await s.shop.stranger();
    await s.attach(declined, 'pm_card_chargeCustomerFail');
    const body = { price_id: await s.price(500), user_id: declined, payment_behavior: 'error_if_incomplete' };
    expect(await s.shop.post('/v1/subscriptions', body)).toMatchObject({
      status: 402,
      body: { code: 'payment_declined', retryable: true },
    });
    const rows = await s.p.sql<{ number: string }>('select number from payments.invoice where brand_id = $1 order by number', [BRAND]);
    const counted = rows.map(({ number }) => Number(number.slice(-6)));
    expect(counted).toEqual(counted.map((_, at) => at + 1));
    expect(subscribed.every(({ body: { latest_invoice } }) => /^INV-\d{4}-\d{6}$/.test(latest_invoice.number))).toBe(true);
  });
});
