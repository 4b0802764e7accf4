import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Agency, days, usd, type Partner } from './agency.js';

let agency: Agency;
let program: string;
/** An affiliate of the file's program, of 10 %. */
let partner: Partner;

beforeAll(async () => {
  agency = await Agency.open({ transport: 'run' });
  program = await agency.program();
});
beforeEach(async () => {
  agency.neighbours({});
  partner = await agency.partner(program);
});

const PAYABLE = { AffiliatesDestination: { payoutDestination: { __typename: 'PayoutDestination' } } };
const paid = (status: string, asked: any[] = []) => ({
  ...PAYABLE,
  AffiliatesPayout: ({ input }: any) => (asked.push(input), { createPayout: { id: randomUUID(), status } }),
});

describe('acceptance of affiliates, section 10', () => {
  test('1: a click, a sign-up and 9900 − 1980 paid, told 3 times, earn one commission of 792', async () => {
    const customer = await agency.lead(partner);
    await agency.pay(customer, {}, 3);
    expect(await agency.commissions(partner)).toMatchObject([
      { base: usd(7_920), rate_bps: 1_000, tier_key: 'base', amount: usd(792), net: usd(792), status: 'accrued', payable_at: days(30) },
    ]);
    expect(await agency.told(partner)).toEqual(['earnings.accrued 792']);
  });

  test('2: refunds of 2640, 2640 and 2640 of 7920 reverse 264 each, to nothing', async () => {
    const customer = await agency.lead(partner);
    const order = await agency.pay(customer);
    for (const refunded of [2_640, 5_280, 7_920]) await agency.refund(customer, order, refunded);
    const [commission] = await agency.commissions(partner);
    expect(commission.reversals.map((one: any) => one.amount.amount)).toEqual([264, 264, 264]);
    expect(commission).toMatchObject({ net: usd(0), status: 'reversed' });
  });

  test('5: who buys with the own code earns nothing by it until somebody has looked', async () => {
    await agency.pay(partner.user, { affiliate_code: partner.code });
    expect(await agency.commissions(partner)).toMatchObject([{ status: 'held', held_reason: 'same_user', amount: usd(792) }]);
    expect(await agency.told(partner)).toEqual([]);
    const signals = (await agency.rest('GET', '/admin/fraud-signals')).body.data;
    expect(signals).toContainEqual(expect.objectContaining({ affiliate: { id: partner.id }, kind: 'same_user' }));
  });

  test("6: who is bound to A and enters B's code stays with A", async () => {
    const other = await agency.partner(program);
    const customer = await agency.lead(partner);
    await agency.pay(customer);
    await agency.pay(customer, { affiliate_code: other.code, first_purchase: false });
    expect([(await agency.commissions(partner)).length, (await agency.commissions(other)).length]).toEqual([2, 0]);
  });

  test('7: a refund that comes before the payment is applied after it', async () => {
    const customer = await agency.lead(partner);
    const order = randomUUID();
    await agency.refund(customer, order, 2_640);
    await agency.pay(customer, { obligation_id: order, order_id: order });
    expect(await agency.told(partner)).toEqual(['earnings.accrued 792', 'commission.reversed 264']);
    expect((await agency.commissions(partner))[0].net).toEqual(usd(528));
  });

  test.each([
    ['last_click', 1],
    ['first_click', 0],
  ])('9: of two clicks, A then B, %s attributes to number %d', async (model, winner) => {
    const own = await agency.program({ model });
    const partners = [await agency.partner(own), await agency.partner(own)];
    const customer = await agency.person();
    const tokens = [await agency.click(partners[0]!.code)];
    await agency.p.sql("update affiliates.test_clock set now = now + interval '1 second'");
    tokens.push(await agency.click(partners[1]!.code));
    await agency.signUp(customer);
    for (const token of tokens) expect((await agency.claim(customer, { token })).body).toEqual({ accepted: true });
    expect((await agency.attribution(customer)).affiliate.id).toBe(partners[winner]!.id);
  });

  test('10: a tier that rises today leaves the commission of yesterday as it is', async () => {
    const tier = (key: string, rank: number, rate_bps: number, threshold: number) => ({
      key,
      rank,
      kind: 'percent',
      rate_bps,
      threshold: usd(threshold),
    });
    const own = await agency.program({ hold_days: 0, tiers: [tier('low', 1, 1_000, 0), tier('high', 2, 2_000, 5_000)] });
    const climber = await agency.partner(own);
    const customer = await agency.lead(climber);
    await agency.pay(customer);
    await agency.postDue();
    await agency.p
      .host('affiliates')
      .transaction(async ctx => (await import('../../subgraphs/affiliates/commands/tiers.js')).moveTiers(ctx));
    await agency.pay(customer, { first_purchase: false });
    const rates = (await agency.commissions(climber)).map(one => [one.tier_key, one.rate_bps, one.amount.amount]);
    expect(rates).toEqual([
      ['high', 2_000, 1_584],
      ['low', 1_000, 792],
    ]);
  });

  test('11: what an affiliate sees of customers has no id, name, address or product', async () => {
    const customer = await agency.lead(partner);
    const order = await agency.pay(customer);
    const { status, body } = await agency.rest('GET', '/affiliates/me/customers', undefined, partner.token);
    expect([status, body.data.length]).toEqual([200, 1]);
    expect(Object.keys(body.data[0]).sort()).toEqual(['amount', 'customer_alias', 'month', 'small_months', 'stage']);
    expect(body.data[0]).toMatchObject({ stage: 'customer', amount: null, small_months: usd(792) });
    for (const path of ['/affiliates/me/customers', '/affiliates/me/commissions', '/affiliates/me']) {
      const seen = JSON.stringify((await agency.rest('GET', path, undefined, partner.token)).body);
      for (const secret of [customer, order, '@']) expect(seen).not.toContain(secret);
    }
  });

  test('12: a link leads to its stored page, whatever the address asks for', async () => {
    const { body: link } = await agency.rest('POST', '/affiliates/me/links', { target: 'https://main.example/shop' }, partner.token);
    const answer = await agency.rest('GET', `/r/${link.slug}?target=https://evil.example`, undefined, null, {
      'user-agent': 'Mozilla/5.0',
    });
    expect([answer.status, answer.headers.location]).toEqual([302, 'https://main.example/shop']);
    expect(String(answer.headers['set-cookie'])).toMatch(/^affiliate_click=[\w.-]+; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test('14: of 7920 half by card and half with cash, refunded one after the other, 396 are reversed twice', async () => {
    const customer = await agency.lead(partner);
    const order = await agency.pay(customer, { cash_amount: 3_960, total_amount: 3_960 });
    await agency.refund(customer, order, 3_960, { amount: 3_960, payment_amount: 3_960 });
    await agency.refund(customer, order, 7_920, { cash_return_amount: 3_960, payment_amount: 3_960 });
    const [commission] = await agency.commissions(partner);
    expect([commission.reversals.map((one: any) => one.amount.amount), commission.status]).toEqual([[396, 396], 'reversed']);
  });
});

describe('acceptance of affiliates, section 10, over time', () => {
  test('13: a refund of a third that bounces, each told 3 times, is given back; after the posting it is posted with its row', async () => {
    const customer = await agency.lead(partner);
    const order = await agency.pay(customer, {}, 3);
    const refund = await agency.refund(customer, order, 2_640, {}, 3);
    await agency.refund(customer, order, 0, { refund_id: refund, status: 'failed' }, 3);
    const [commission] = await agency.commissions(partner);
    expect(commission.reversals.map((one: any) => [one.amount.amount, one.cause])).toEqual([
      [264, 'refund'],
      [-264, 'refund_failed'],
    ]);
    expect(commission).toMatchObject({ net: usd(792), status: 'accrued' });
    expect(await agency.told(partner)).toEqual(['earnings.accrued 792', 'commission.reversed 264', 'earnings.accrued 264']);

    await agency.clock(days(30.1));
    const second = await agency.refund(customer, order, 2_640, {}, 3);
    await agency.refund(customer, order, 0, { refund_id: second, status: 'failed' }, 3);
    const events = await agency.events(partner);
    expect(events.slice(3).map(([type, { amount }]) => `${type} ${amount}`)).toEqual([
      'commission.posted 792',
      'commission.reversed 264',
      'earnings.accrued 264',
      'commission.posted 264',
    ]);
    const [, accrued, posted] = events.slice(4);
    expect(posted![1].accrual_id).toBe(accrued![1].accrual_id);
    expect(events[3]![1].accrual_id).toBeNull();
    expect((await agency.commissions(partner))[0]).toMatchObject({ net: usd(792), status: 'posted' });
  });

  test('3: after 30 days a commission is posted once, however often what is due is posted', async () => {
    const customer = await agency.lead(partner);
    await agency.pay(customer);
    await agency.clock(days(61));
    for (const _ of [1, 2]) expect((await agency.postDue()).status).toBe(200);
    expect(await agency.told(partner)).toEqual(['earnings.accrued 792', 'commission.posted 792']);
    expect((await agency.commissions(partner))[0].status).toBe('posted');
  });

  test('4: paid and then lost to a dispute, it is owed back: of the next 1000 only 208 are paid', async () => {
    const asked: any[] = [];
    agency.neighbours(paid('PAID', asked));
    const customer = await agency.lead(partner);
    const order = await agency.pay(customer);
    await agency.clock(days(92));
    await agency.payOut(program);
    expect((await agency.commissions(partner))[0].status).toBe('paid');
    await agency.dispute(customer, order, null);
    await agency.dispute(customer, order, 'lost', randomUUID(), 2);
    expect(await agency.earnings(partner)).toMatchObject({ posted: usd(0), paid: usd(792), balance: usd(-792), reversed: usd(792) });
    await agency.pay(customer, { subtotal_amount: 10_000, discount_amount: 0, first_purchase: false });
    await agency.clock(days(123));
    await agency.payOut(program);
    expect(asked.filter(one => one.userId === partner.user).map(one => one.amount)).toEqual([usd(792), usd(208)]);
    expect((await agency.earnings(partner)).balance).toEqual(usd(0));
  });

  test('15: without a destination a payout waits; with one it is paid once the timer has seen it', async () => {
    const customer = await agency.lead(partner);
    await agency.pay(customer);
    await agency.clock(days(154));
    await agency.payOut(program);
    expect((await agency.rest('GET', '/affiliates/me/payouts', undefined, partner.token)).body.data).toEqual([]);
    agency.neighbours(paid('PENDING'));
    await agency.payOut(program);
    expect((await agency.commissions(partner))[0].status).toBe('posted');
    agency.neighbours({ ...PAYABLE, AffiliatesPayoutStatus: ({ id }: any) => ({ payout: { id, status: 'PAID', failureCode: null } }) });
    await agency.clock(days(154.01));
    expect((await agency.commissions(partner))[0].status).toBe('paid');
    expect(await agency.earnings(partner)).toMatchObject({ posted: usd(792), paid: usd(792), balance: usd(0) });
  });

  test('8: a click 31 days before the sign-up attributes nobody, one 30 days before it does', async () => {
    const own = await agency.program();
    const other = await agency.partner(own);
    const [late, early] = [await agency.person(), await agency.person()];
    await agency.clock(days(155));
    const token = await agency.click(other.code);
    await agency.clock(days(184.99));
    await agency.signUp(early);
    await agency.claim(early, { token });
    await agency.clock(days(186));
    await agency.signUp(late);
    await agency.claim(late, { token });
    expect([(await agency.attribution(early))?.affiliate.id, await agency.attribution(late)]).toEqual([other.id, null]);
  });
});
