import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, dollars, Subscribers } from '../subscribers.js';

let s: Subscribers;
beforeAll(async () => {
  s = await Subscribers.open();
});

const lineAmounts = (invoice: any): number[] => invoice.lines.map((line: any) => line.amount.amount);
const ofDays = (days: number) => ({ recurring: { interval: 'day', interval_count: days } });

describe('acceptance', () => {
  test('1: a subscription is active when its first invoice is paid, and is told of once', async () => {
    const one = await s.subscribe({ amount: 9900 });
    expect(one.body).toMatchObject({ status: 'active', price: { unit_amount: dollars(9900) }, latest_invoice: { status: 'paid' } });
    const [charged, paid, created, invoice] = await Promise.all(
      ['payment.charged.v1', 'payment.paid.v1', 'subscription.created.v1', 'payment.invoice.paid.v1'].map(type =>
        s.events(type, one.userId),
      ),
    );
    expect([charged!.length, paid!.length, created!.length, invoice!.length]).toEqual([1, 1, 1, 1]);
    expect(paid![0]).toMatchObject({ obligation_type: 'invoice', total_amount: 9900, subscription_id: one.id, first_purchase: true });
    expect(created![0]).toMatchObject({
      kind: 'billing',
      subscription_id: one.id,
      status: 'active',
      source: 'purchase',
      amount: 9900,
      tier: 'plus',
    });
    expect(invoice![0]).toMatchObject({ subscription_id: one.id, total_amount: 9900, amount_due: 0, attempt_count: 1 });
  });

  test('14: an invoice that fails is past due, is tried on day 1 and 3, and the subscription is active when it is paid', async () => {
    const one = await s.subscribe({ amount: 4900 });
    await s.attach(one.userId, 'sbx_declines_2');
    const end = new Date((await s.read(one)).current_period_end);
    await s.at(end.toISOString());
    await s.reaches(one, 'past_due');
    const failed = () => s.events('payment.invoice.failed.v1', one.userId);
    expect(await s.events('payment.invoice.past_due.v1', one.userId)).toMatchObject([
      { total_amount: 4900, amount_due: 4900, attempt_count: 1 },
    ]);
    expect(await failed()).toHaveLength(1);
    await s.at(new Date(end.getTime() + DAY_MS).toISOString());
    expect([await s.status(one), (await failed()).length]).toEqual(['past_due', 2]);
    await s.at(new Date(end.getTime() + 3 * DAY_MS).toISOString());
    expect([await s.status(one), (await failed()).length]).toEqual(['active', 2]);
    expect((await s.events('payment.invoice.past_due.v1', one.userId)).length).toBe(1);
    expect((await s.events('payment.invoice.paid.v1', one.userId)).at(-1)).toMatchObject({ attempt_count: 3, amount_due: 0 });
  });

  test('15: a hard decline is not tried again, whoever asks, until another method is the default; then at once', async () => {
    const one = await s.subscribe({ amount: 4900 });
    await s.attach(one.userId, 'pm_card_visa_chargeDeclinedLostCard');
    await s.at((await s.read(one)).current_period_end);
    await s.reaches(one, 'past_due');
    const invoice = (await s.invoices(one.userId)).at(-1);
    const run = await s.shop.post('/v1/admin/dunning/retry-invoices', { invoice_ids: [invoice.id], ignore_schedule: true });
    expect(run).toMatchObject({ status: 200, body: { attempted: 0, skipped: [{ invoice_id: invoice.id, reason: 'hard_decline' }] } });
    await s.attach(one.userId, 'pm_card_visa');
    await s.reaches(one, 'active');
    expect((await s.invoices(one.userId)).at(-1)).toMatchObject({ id: invoice.id, status: 'paid', attempt_count: 2 });
  });

  test('13: a period of 30 days that is paused on day 10 for 40 days ends 20 days after the resume, and nothing is charged', async () => {
    const one = await s.subscribe({ amount: 3000, price: ofDays(30) });
    await s.advanceDays(10);
    expect(await s.act(one, 'pause')).toMatchObject({ status: 200, body: { status: 'paused', banked_seconds: 20 * 86_400 } });
    await s.advanceDays(40);
    const resumed = await s.act(one, 'resume');
    expect(resumed).toMatchObject({ status: 200, body: { status: 'active', banked_seconds: 0, paused_at: null } });
    const expected = new Date((await s.now()).getTime() + 20 * DAY_MS).toISOString();
    expect(resumed.body.current_period_end).toBe(expected);
    expect(await s.invoices(one.userId)).toHaveLength(1);
    expect(await s.events('payment.charged.v1', one.userId)).toHaveLength(1);
    expect([
      (await s.events('subscription.paused.v1', one.userId)).length,
      (await s.events('subscription.resumed.v1', one.userId)).length,
    ]).toEqual([1, 1]);
    await s.at(expected);
    expect(await s.invoices(one.userId)).toHaveLength(2);
  });

  test('17: an upgrade in the middle of a period costs the difference, and is in effect when it is paid', async () => {
    const one = await s.subscribe({ amount: 3000, price: { ...ofDays(30), tier: 'basic' } });
    await s.advanceDays(15);
    const dearer = await s.price(9000, { ...ofDays(30), tier: 'plus' });
    const changed = await s.patch(one, { price_id: dearer });
    expect(changed).toMatchObject({ status: 200, body: { status: 'active', price: { id: dearer }, pending_change: null } });
    const invoice = (await s.invoices(one.userId)).at(-1);
    expect([lineAmounts(invoice), invoice.status, invoice.total]).toEqual([[-1500, 4500], 'paid', dollars(3000)]);
    expect(await s.events('subscription.tier_changed.v1', one.userId)).toMatchObject([
      { direction: 'upgrade', from_tier: 'basic', to_tier: 'plus' },
    ]);
    expect(changed.body.current_period_end).toBe(one.body.current_period_end);
  });

  test('18: a downgrade is planned, costs nothing, and is in effect with the next period', async () => {
    const one = await s.subscribe({ amount: 9000, price: { ...ofDays(30), tier: 'plus' } });
    await s.advanceDays(15);
    const cheaper = await s.price(3000, { ...ofDays(30), tier: 'basic' });
    expect(await s.patch(one, { price_id: cheaper })).toMatchObject({
      status: 200,
      body: { price: { id: one.priceId }, pending_change: { price: { id: cheaper }, effective_at: one.body.current_period_end } },
    });
    expect([(await s.invoices(one.userId)).length, await s.events('subscription.tier_changed.v1', one.userId)]).toEqual([1, []]);
    await s.at(one.body.current_period_end);
    expect(await s.read(one)).toMatchObject({ price: { id: cheaper }, pending_change: null, status: 'active' });
    expect(await s.events('subscription.tier_changed.v1', one.userId)).toMatchObject([{ direction: 'downgrade', to_tier: 'basic' }]);
    expect((await s.invoices(one.userId)).at(-1)).toMatchObject({ total: dollars(3000), status: 'paid' });
  });

  test('34: staff who void the only overdue invoice, or pause with void_open, take it out of arrears', async () => {
    const [voided, paused] = [await s.subscribe({ amount: 4900 }), await s.subscribe({ amount: 4900 })];
    for (const one of [voided, paused]) await s.attach(one.userId, 'pm_card_chargeCustomerFail');
    await s.at((await s.read(paused)).current_period_end);
    for (const one of [voided, paused]) await s.reaches(one, 'past_due');
    const invoice = (await s.invoices(voided.userId)).at(-1);
    expect(await s.shop.post(`/v1/admin/invoices/${invoice.id}/void`, { reason: 'goodwill' })).toMatchObject({
      status: 200,
      body: { status: 'void' },
    });
    expect([await s.status(voided), (await s.events('subscription.resumed.v1', voided.userId)).length]).toEqual(['active', 1]);
    const answer = await s.shop.post(`/v1/admin/subscriptions/${paused.id}/pause`, { void_open: true, reason: 'asked by phone' });
    expect(answer).toMatchObject({ status: 200, body: { status: 'paused', banked_seconds: 0 } });
    expect((await s.invoices(paused.userId)).at(-1)).toMatchObject({ status: 'void' });
  });

  test('12: periods of a subscription of 31 January end on 28 February, 31 March and 30 April', async () => {
    const year = (await s.now()).getUTCFullYear() + 1;
    const [leap, first] = [new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1, `${year}-01-31T09:00:00.000Z`];
    await s.at(first);
    const one = await s.subscribe({ amount: 9900 });
    const ends = [one.body.current_period_end];
    for (let n = 0; n < 2; n++) {
      await s.at(ends.at(-1));
      ends.push((await s.read(one)).current_period_end);
    }
    expect(ends).toEqual([`${year}-02-${leap ? 29 : 28}T09:00:00.000Z`, `${year}-03-31T09:00:00.000Z`, `${year}-04-30T09:00:00.000Z`]);
    expect((await s.invoices(one.userId)).map(invoice => invoice.status)).toEqual(['paid', 'paid', 'paid']);
  });
});
