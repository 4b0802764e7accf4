import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { anyPurchase, days, minutes, Till, usd } from './till.js';

let till: Till;
beforeAll(async () => {
  till = await Till.open({ transport: 'run' });
});

const DEC = '2026-12-31T00:00:00.000Z';
const NOV = '2026-11-30T00:00:00.000Z';

/** Grants of case 1: 500 to the end of December, 300 to the end of November, 200 for ever. */
async function threeLots(user: string): Promise<void> {
  await till.give(user, 500, { expires_at: DEC });
  await till.give(user, 300, { expires_at: NOV });
  await till.give(user, 200, { source: 'gift' });
}

describe('acceptance of cash, section 10', () => {
  test('1: a spend of 600 takes the lot that ends first, then a part of the next', async () => {
    const user = till.user();
    await threeLots(user);
    const { status, body } = await till.spend(user, 600);
    expect(status).toBe(201);
    expect(body.lots.map((lot: any) => [lot.amount.amount, lot.expires_at])).toEqual([
      [300, NOV],
      [300, DEC],
    ]);
    expect((await till.grants(user)).map(one => [one.remaining.amount, one.expires_at])).toEqual([
      [0, NOV],
      [200, DEC],
      [200, null],
    ]);
    expect(await till.available(user)).toBe(400);
  });

  test('2: of 15 parallel spends of 100 on 1000, 10 are made and 5 refused', async () => {
    const user = till.user();
    await till.give(user, 1_000);
    const answers = await Promise.all(Array.from({ length: 15 }, () => till.spend(user, 100)));
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([...Array(10).fill(201), ...Array(5).fill(409)]);
    expect(answers.find(({ status }) => status === 409)!.body).toMatchObject({ code: 'conflict', reason: 'insufficient_funds' });
    expect(await till.balance(user)).toMatchObject({ available: usd(0), total: usd(0) });
    expect(await till.books(user)).toEqual({ total: 0, lots: 0, reserved: 0, held: 0, moved: 0 });
  });

  test('6: the same grant twice is one; with another amount it is refused', async () => {
    const [user, reference] = [till.user(), { type: 'membership', id: randomUUID(), key: 'welcome:2026' }];
    const first = await till.give(user, 1_000, { source: 'bonus', reference });
    const again = await till.give(user, 1_000, { source: 'bonus', reference });
    const other = await till.give(user, 999, { source: 'bonus', reference });
    expect([first.status, again.status, other.status]).toEqual([201, 200, 422]);
    expect(again.body.id).toBe(first.body.id);
    expect(await till.available(user)).toBe(1_000);
    expect(await till.events(user, 'cash.granted.v1')).toHaveLength(1);
  });

  test('7: a refund of 300 comes back with the later of its own end and 30 days', async () => {
    const user = till.user();
    await threeLots(user);
    const { body: spend } = await till.spend(user, 600);
    const reference = { type: 'refund', id: randomUUID() };
    const { status, body } = await till.rest('POST', `/cash/spends/${spend.id}/return`, { amount: usd(300), reference });
    expect([status, body.returned]).toEqual([201, usd(300)]);
    const returned = (await till.grants(user)).filter(one => one.source === 'refund');
    expect(returned.map(one => [one.amount.amount, one.expires_at])).toEqual([[300, DEC]]);
    const rest = { type: 'refund', id: randomUUID() };
    await till.rest('POST', `/cash/spends/${spend.id}/return`, { amount: usd(300), reference: rest });
    const late = (await till.grants(user)).filter(one => one.reference.id === rest.id);
    expect(late.map(one => one.expires_at)).toEqual([days(30)]);
  });

  test('8: a grant for half of a purchase covers 500 of 1000', async () => {
    const user = till.user();
    await till.give(user, 900, { restrictions: { max_share_bps: 5_000 } });
    const { status, body } = await till.reserve(user, 1_000, { purchase: anyPurchase(1_000) });
    expect([status, body.amount]).toEqual([201, usd(500)]);
  });

  test('9: a bonus delivered 5 times is one grant', async () => {
    const user = till.user();
    await till.bonus(user, { membership_id: randomUUID() }, 5);
    expect((await till.grants(user)).map(one => [one.source, one.amount.amount])).toEqual([['bonus', 1_000]]);
  });

  test("10: another user's cash is not found", async () => {
    const a = till.user();
    await till.give(a, 1_000);
    const token = await till.member(DEMO2);
    for (const path of ['/cash', '/cash/movements', '/cash/grants'])
      expect((await till.rest('GET', `${path}?user_id=${a}`, undefined, token)).status).toBe(404);
    expect((await till.rest('GET', '/cash/me', undefined, token)).body).toMatchObject({ available: usd(0), version: 0 });
  });

  test('13: a refund over two lots, delivered 3 times, makes two grants; bounced, both are taken back once', async () => {
    const [user, order, refund] = [till.user(), randomUUID(), randomUUID()];
    await threeLots(user);
    await till.spend(user, 600, { reference: { type: 'order', id: order } });
    const about = {
      refund_id: refund,
      obligation_type: 'order',
      obligation_id: order,
      obligation_amount: 1_000,
      obligation_refunded: 400,
    } as const;
    await till.refund(user, { ...about, cash_return_amount: 400 }, 3);
    const returns = async () => (await till.grants(user)).filter(one => one.source === 'refund');
    expect((await returns()).map(one => one.amount.amount).sort((a, b) => a - b)).toEqual([100, 300]);
    expect(await till.available(user)).toBe(800);
    await till.refund(user, { ...about, cash_return_amount: 400, status: 'failed' }, 3);
    expect((await returns()).map(one => one.status)).toEqual(['revoked', 'revoked']);
    expect(await till.available(user)).toBe(400);
    const taken = await till.events(user, 'cash.expired.v1');
    expect(taken.map(one => [one.amount, one.reason, one.reference_type, one.reference_id]).sort(([a], [b]) => a - b)).toEqual([
      [100, 'revoked', 'refund', refund],
      [300, 'revoked', 'refund', refund],
    ]);
    expect(await till.books(user)).toEqual({ total: 400, lots: 400, reserved: 0, held: 0, moved: 400 });
  });

  test('14: a campaign for 3 users that runs twice makes 3 grants; a bonus in two periods makes 2', async () => {
    const users = [till.user(), till.user(), till.user()];
    const campaign = randomUUID();
    const body = { campaign_id: campaign, user_ids: users, source: 'promotion', amount: usd(500), reason: 'Launch' };
    const results = () => till.rest('GET', `/admin/cash/grants/bulk/${campaign}/results`);
    for (const _ of [1, 2]) {
      expect((await till.rest('POST', '/admin/cash/grants/bulk', body)).status).toBe(202);
      await until('all have it', results, ({ body: { data } }) => data.length === 3 && data.every((one: any) => one.outcome === 'granted'));
    }
    for (const user of users) expect(await till.grants(user)).toHaveLength(1);
    const member = till.user();
    const membership_id = randomUUID();
    await till.bonus(member, { membership_id, period_key: '2026-11' });
    await till.bonus(member, { membership_id, period_key: '2026-12' });
    expect(await till.grants(member)).toHaveLength(2);
  });

  test('15: an obligation of 10000 settled by cash alone returns 4000, then 6000', async () => {
    const [user, order] = [till.user(), randomUUID()];
    await till.give(user, 10_000);
    await till.spend(user, 10_000, { reference: { type: 'order', id: order } });
    const about = { obligation_type: 'order', obligation_id: order, obligation_amount: 10_000 } as const;
    await till.refund(user, { ...about, refund_id: randomUUID(), cash_return_amount: 4_000, obligation_refunded: 4_000 });
    expect(await till.available(user)).toBe(4_000);
    await till.refund(user, { ...about, refund_id: randomUUID(), cash_return_amount: 6_000, obligation_refunded: 10_000 });
    expect(await till.available(user)).toBe(10_000);
  });
});

describe('acceptance of cash, section 10, over time', () => {
  test('3: a grant that ends at T counts a millisecond before it and not at it, without a sweep', async () => {
    const user = till.user();
    const end = minutes(7);
    await till.give(user, 1_000, { expires_at: end });
    await till.freeze(new Date(Date.parse(end) - 1).toISOString());
    expect(await till.available(user)).toBe(1_000);
    await till.freeze(end);
    expect(await till.available(user)).toBe(0);
    expect((await till.grants(user))[0]).toMatchObject({ status: 'expired', remaining: usd(0) });
    expect(await till.events(user, 'cash.expired.v1')).toEqual([]);
  });

  test('4: what was reserved of a lot that ends meanwhile is spent, and the rest of the lot expires', async () => {
    const user = till.user();
    await till.clock(minutes(20));
    await till.give(user, 1_000, { expires_at: minutes(25) });
    const { body: held } = await till.reserve(user, 400);
    await till.clock(minutes(30));
    const { status, body } = await till.step(held.id, 'commit');
    expect([status, body.status, body.spend.amount]).toEqual([200, 'committed', usd(400)]);
    expect((await till.events(user, 'cash.expired.v1')).map(one => one.amount)).toEqual([600]);
    expect(await till.books(user)).toEqual({ total: 0, lots: 0, reserved: 0, held: 0, moved: 0 });
  });

  test('5: released instead, it expires at once, and what is available does not change', async () => {
    const user = till.user();
    await till.clock(minutes(40));
    await till.give(user, 400, { expires_at: minutes(45) });
    await till.give(user, 70);
    const { body: held } = await till.reserve(user, 400);
    await till.clock(minutes(50));
    const before = await till.available(user);
    expect((await till.step(held.id, 'release')).body.status).toBe('released');
    expect([before, await till.available(user)]).toEqual([70, 70]);
    expect((await till.events(user, 'cash.expired.v1')).map(one => [one.amount, one.reason])).toEqual([[400, 'expired']]);
  });

  test('11: two workers that sweep at the same instant tell of each grant once', async () => {
    const users = Array.from({ length: 12 }, () => till.user());
    for (const user of users) await till.give(user, 100, { expires_at: minutes(70) });
    await till.freeze(minutes(71));
    const sweep = () => till.rest('POST', '/admin/cash/expire', {});
    const runs = await Promise.all([sweep(), sweep()]);
    expect(runs.map(({ status }) => status)).toEqual([200, 200]);
    expect(runs[0]!.body.expired_grants + runs[1]!.body.expired_grants).toBe(12);
    for (const user of users) expect(await till.events(user, 'cash.expired.v1')).toHaveLength(1);
  });

  test('12: extended every 20 minutes for 9 days, a reservation holds until 8 days after it was made', async () => {
    const user = till.user();
    const start = 80;
    await till.clock(minutes(start));
    await till.give(user, 1_000);
    const { body: held } = await till.reserve(user, 400);
    const end = start + 8 * 24 * 60;
    for (let at = start + 20; at < end; at += 20) {
      await till.freeze(minutes(at));
      expect((await till.step(held.id, 'extend')).status).toBe(200);
    }
    await till.freeze(new Date(Date.parse(minutes(end)) - 1).toISOString());
    expect((await till.step(held.id, 'extend')).body).toMatchObject({ status: 'held', expires_at: minutes(end) });
    await till.clock(minutes(end));
    expect((await till.step(held.id, 'extend')).status).toBe(409);
    expect(await till.p.sql('select status from cash.cash_reservation where id = $1', [held.id])).toEqual([{ status: 'expired' }]);
    expect(await till.available(user)).toBe(1_000);
  }, 300_000);
});
