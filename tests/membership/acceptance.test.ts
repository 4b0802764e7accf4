import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { Problem } from '../../runtime/request/errors.js';
import { BRAND, DEMO, DEMO2 } from '../support/platform.js';
import { after, DAY, HOUR, Members, PLUS, someone, T0 } from './fixture.js';
import { monthly, Payments } from './payments.js';

/** The acceptance cases of the contract, section 10, by their numbers. The clock goes forward only, so each case begins where the last one ended. */
let m: Members;
let now = 0;
beforeAll(async () => {
  m = await Members.open(['membership'], { transport: 'run' });
});

const advance = async (ms: number): Promise<void> => m.clock((now += ms));
const at = (ms = 0): string => after(now + ms);

test('1: a new user who buys a plan is active, and activated once though the event came three times', async () => {
  const who = someone();
  for (let time = 0; time < 3; time++) await m.create(who);
  expect(await m.only(who.user)).toMatchObject({
    user: { id: who.user },
    status: 'active',
    source: 'subscription',
    subscription_id: who.subscription,
    tier: { key: 'basic' },
    started_at: T0,
  });
  expect(await m.types(who.user)).toEqual(['activated']);
});

test('2: past due, 6 and 7 days later, and paid: active, active, suspended, active and reactivated from suspended', async () => {
  const [who, invoice] = [await m.member(), randomUUID()];
  await m.pastDue(who.user, invoice, who.subscription);
  expect(await m.only(who.user)).toMatchObject({ status: 'active', grace_until: at(7 * DAY) });
  await advance(6 * DAY);
  expect((await m.only(who.user)).status).toBe('active');
  await advance(DAY);
  expect(await m.only(who.user)).toMatchObject({ status: 'suspended', suspension_reasons: ['payment_past_due'], suspended_at: at() });
  await m.paid(who.user, invoice, who.subscription);
  expect(await m.only(who.user)).toMatchObject({ status: 'active', suspension_reasons: [], grace_until: null });
  const told = await m.told(who.user);
  expect(told.map(one => one.type)).toEqual(['membership.activated.v1', 'membership.suspended.v1', 'membership.reactivated.v1']);
  expect(told[1]!.data).toMatchObject({ reason: 'payment_past_due', grace_used: true });
  expect(told[2]!.data).toMatchObject({ from: 'suspended' });
});

test('3: paused by the member, then suspended by staff, stays suspended when it is resumed; without the suspension it is active, and reactivated once', async () => {
  const who = await m.member();
  await m.pause(who);
  const { id } = await m.only(who.user);
  expect((await m.rest('POST', `/admin/memberships/${id}/suspend`, { reason: 'a test' })).body.suspension_reasons).toEqual([
    'paused',
    'staff',
  ]);
  await m.resume(who);
  expect(await m.only(who.user)).toMatchObject({ status: 'suspended', suspension_reasons: ['staff'] });
  expect((await m.rest('POST', `/admin/memberships/${id}/unsuspend`, {})).body).toMatchObject({ status: 'active', suspended_at: null });
  expect(await m.types(who.user)).toEqual(['activated', 'suspended', 'reactivated']);
});

test('4: resumed at 10:02 arrives before paused at 10:01: active, and not stuck in a suspension', async () => {
  const who = await m.member();
  await m.resume(who, at(2 * 60_000));
  await m.pause(who, at(60_000));
  expect(await m.only(who.user)).toMatchObject({ status: 'active', suspension_reasons: [] });
  expect(await m.types(who.user)).toEqual(['activated']);
  await advance(HOUR);
});

test('5: cancelled: lapsed, and one day later the win-back begins', async () => {
  const who = await m.member();
  await m.cancel(who);
  expect(await m.only(who.user)).toMatchObject({ status: 'lapsed', lapsed_at: at(), lapse_reason: 'cancelled', win_back: null });
  await advance(DAY - 1);
  expect(await m.types(who.user)).toEqual(['activated', 'lapsed']);
  await advance(1);
  const told = await m.told(who.user);
  expect(told[2]).toMatchObject({ type: 'membership.win_back.started.v1', at: at(), data: { last_tier: 'basic', ends_at: at(60 * DAY) } });
  expect((await m.only(who.user)).win_back).toMatchObject({ status: 'open', ends_at: at(60 * DAY) });
});

test('6: lapsed for 30 days, who buys again is reactivated from lapsed after 30 days, and gets no second bonus of an activation', async () => {
  const key = `welcome_${randomUUID().slice(0, 8)}`;
  const rule = { key, brand_id: BRAND, trigger: 'activated', tier_keys: [], cash_amount: { amount: 1000, currency: 'USD' } };
  expect((await m.rest('POST', '/admin/bonus-rules', rule)).status).toBe(201);
  const who = await m.member();
  await m.cancel(who);
  await advance(30 * DAY);
  await m.create({ ...who, subscription: randomUUID() });
  const [again, former] = await m.of(who.user);
  expect([again, former]).toMatchObject([
    { status: 'active', started_at: at() },
    { status: 'lapsed', win_back: { status: 'converted' } },
  ]);
  const told = await m.told(who.user);
  expect(told.filter(one => one.type === 'membership.reactivated.v1')).toMatchObject([{ data: { from: 'lapsed', days_away: 30 } }]);
  expect(told.filter(one => one.type === 'membership.bonus.eligible.v1')).toMatchObject([
    { data: { bonus_key: key, period_key: 'activated' } },
  ]);
});

test('7: an upgrade from basic to plus is told as up; an instant before, the member was on basic', async () => {
  const who = await m.member();
  await advance(DAY);
  await m.changeTier(who, 'plus');
  expect(await m.only(who.user)).toMatchObject({ tier: { key: 'plus' }, plan: { key: 'plus' }, status: 'active' });
  const told = (await m.told(who.user)).filter(one => one.type === 'membership.tier.changed.v1');
  const change = { from_tier: 'basic', to_tier: 'plus', direction: 'up', effective_at: at() };
  expect(told.map(one => one.data)).toMatchObject([{ ...change, tier_key: 'plus', plan_id: PLUS.plan }]);
  expect((await m.at(who.user, at(-1))).map(one => one.tier.key)).toEqual(['basic']);
  expect((await m.at(who.user, at())).map(one => one.tier.key)).toEqual(['plus']);
});

test('8: whoever joins a second time in the same brand gets the 409 of payments', async () => {
  const payments = new Payments(m);
  const refused = new Problem('conflict', 'The user has a live membership subscription');
  payments.answer('MembershipPlanPrices', ({ id }) => ({ membershipPlan: { id, prices: [monthly('plus')] } }));
  payments.answer('MembershipCheckout', () => Promise.reject(refused));
  const token = await m.p.userToken(DEMO, ['manage:subscriptions']);
  const wanted = { plan_id: PLUS.plan, tier_key: 'plus', interval: 'month', return_url: 'https://main.example/done' };
  const answer = await m.rest('POST', '/memberships/join', wanted, token);
  expect(answer).toMatchObject({ status: 409, body: { code: 'conflict', detail: refused.message } });
  payments.leave();
});

test("9: user B gets a 404 for A's membership, and for its history", async () => {
  await m.create({ user: DEMO, subscription: randomUUID() });
  const { id } = await m.only(DEMO);
  const [own, other] = [await m.p.userToken(DEMO, ['read:membership']), await m.p.userToken(DEMO2, ['read:membership'])];
  for (const path of [`/memberships/${id}`, `/memberships/${id}/history`]) {
    expect((await m.rest('GET', path, undefined, own)).status).toBe(200);
    expect(await m.rest('GET', path, undefined, other)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  }
});

test('10: the invoice of an order is past due while the membership is paid: active 30 days later', async () => {
  const who = await m.member();
  await m.paid(who.user, randomUUID(), who.subscription, [at(), at(30 * DAY)]);
  await m.pastDue(who.user, randomUUID(), null);
  await m.pastDue(who.user, randomUUID(), randomUUID());
  await advance(30 * DAY);
  expect(await m.only(who.user)).toMatchObject({ status: 'active', grace_until: null });
  expect(await m.types(who.user)).toEqual(expect.not.arrayContaining(['suspended']));
});

test('11: a rule of one order, and an order placed three times: one milestone is unlocked', async () => {
  const [key, user, order] = [`order_${randomUUID().slice(0, 8)}`, randomUUID(), randomUUID()];
  const rule = { key, brand_id: BRAND, trigger: 'orders_placed', threshold: 1, reward_key: 'free_shipping' };
  expect((await m.rest('POST', '/admin/milestone-rules', rule)).status).toBe(201);
  for (let time = 0; time < 3; time++) await m.order(user, order);
  const told = (await m.told(user)).filter(one => one.type === 'member.milestone.unlocked.v1');
  expect(told.map(one => one.data)).toEqual([{ milestone: key, unlocked_at: at(), reward_key: 'free_shipping' }]);
});

test('12: suspended because of an invoice that staff void in payments: active, and reactivated from suspended', async () => {
  const who = await m.member();
  await m.pastDue(who.user, randomUUID(), who.subscription);
  await advance(8 * DAY);
  expect((await m.only(who.user)).suspension_reasons).toEqual(['payment_past_due']);
  await m.resume(who, undefined, at(30 * DAY));
  expect(await m.only(who.user)).toMatchObject({ status: 'active', current_period_end: at(30 * DAY) });
  const told = (await m.told(who.user)).filter(one => one.type === 'membership.reactivated.v1');
  expect(told).toMatchObject([{ data: { from: 'suspended', days_away: 1 } }]);
});

test('13: the renewal of a monthly member is paid: the period begins at the old end and ends a month later', async () => {
  const [begin, end, next] = [at(), '2027-05-20T08:00:00.000Z', '2027-06-20T08:00:00.000Z'];
  const who = await m.member({ end });
  expect(await m.only(who.user)).toMatchObject({ current_period_start: begin, current_period_end: end });
  await m.paid(who.user, randomUUID(), who.subscription, [end, next]);
  expect(await m.only(who.user)).toMatchObject({ current_period_start: end, current_period_end: next });
});
