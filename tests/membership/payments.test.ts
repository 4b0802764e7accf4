import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Problem } from '../../runtime/request/errors.js';
import { after, BASIC, DAY, Members, PLUS, T0 } from './fixture.js';
import { monthly, Payments } from './payments.js';

let m: Members;
beforeAll(async () => {
  m = await Members.open();
});

let payments: Payments;
beforeEach(() => void (payments = new Payments(m)));
afterEach(() => payments.leave());

const buyer = (user: string, scopes = ['manage:subscriptions', 'read:membership']) => m.userToken(user, scopes);
const asked = (operation: string) => payments.asked.filter(one => one.operation === operation);

describe('joining', () => {
  const wanted = { plan_id: PLUS.plan, tier_key: 'plus', interval: 'month', return_url: 'https://main.example/done' };
  const join = (token: string, body: object = wanted, headers: Record<string, string> = {}) =>
    m.rest('POST', '/memberships/join', body, token, headers);
  const JOIN = 'mutation ($input: JoinMembershipInput!) { joinMembership(input: $input) { id } }';
  /** The session's id, which needs no payments: all other fields of a session are its own, and a double in the federation has none. */
  const joinForId = (token: string, more: object, headers: Record<string, string> = {}) => {
    const input = { planId: PLUS.plan, tierKey: 'plus', interval: 'MONTH', returnUrl: wanted.return_url, ...more };
    return m.p.graphql(JOIN, { input }, { token, headers });
  };
  const yearly = monthly('plus', { recurring: { interval: 'YEAR', intervalCount: 1 } });

  test('finds the price of the tier and begins a checkout for the caller, once for each Idempotency-Key', async () => {
    const [user, price, session] = [randomUUID(), monthly('plus'), randomUUID()];
    const prices = [yearly, monthly('plus', { active: false }), price, monthly('other')];
    payments.answer('MembershipPlanPrices', ({ id }) => ({ membershipPlan: { id, prices } }));
    payments.answer('MembershipCheckout', () => ({ createCheckout: { id: session } }));
    const token = await buyer(user);
    const more = { promoCode: 'SPRING20', paymentMethodId: randomUUID() };
    const answer = await joinForId(token, more, { 'idempotency-key': 'k' });
    expect(answer.data, JSON.stringify(answer.errors)).toEqual({ joinMembership: { id: session } });
    const purchase = {
      mode: 'SUBSCRIPTION',
      items: [{ priceId: price.id, quantity: 1 }],
      userId: user,
      returnUrl: 'https://main.example/done',
    };
    expect(asked('MembershipCheckout').map(one => one.variables.input)).toEqual([{ ...purchase, ...more }]);
    const again = await joinForId(token, more, { 'idempotency-key': 'k' });
    expect(again.data).toEqual(answer.data);
    const keys = asked('MembershipCheckout').map(one => one.options?.idempotencyKey);
    expect(new Set(keys)).toEqual(new Set([`join ${user} k`]));
    await joinForId(token, { interval: 'YEAR' });
    expect(asked('MembershipCheckout').at(-1)!.variables.input.items[0].priceId).toBe(yearly.id);
    expect(asked('MembershipCheckout').at(-1)!.options?.idempotencyKey).toBeUndefined();
  });

  test('names what there is not: a published plan, its tier, a price with that interval', async () => {
    payments.answer('MembershipPlanPrices', ({ id }) => ({ membershipPlan: { id, prices: [monthly(null)] } }));
    payments.answer('MembershipCheckout', () => ({ createCheckout: { id: randomUUID() } }));
    const token = await buyer(randomUUID());
    const pointersOf = async (body: object) => (await join(token, { ...wanted, ...body })).body.errors?.map((one: any) => one.pointer);
    expect(await pointersOf({ plan_id: randomUUID() })).toEqual(['/plan_id']);
    expect(await pointersOf({ tier_key: 'gold' })).toEqual(['/tier_key']);
    expect(await pointersOf({ interval: 'year' })).toEqual(['/interval']);
    expect(await pointersOf({ interval_count: 3 })).toEqual(['/interval']);
    expect(await pointersOf({ return_url: 'nowhere' })).toEqual(['/return_url']);
    expect((await joinForId(token, {})).errors).toEqual([]);
  });

  test('passes on what payments refuses, and is a 503 while payments is not there', async () => {
    payments.answer('MembershipPlanPrices', ({ id }) => ({ membershipPlan: { id, prices: [monthly('plus')] } }));
    const declined = new Problem('payment_declined', 'The card was declined', { members: { declineCode: 'insufficient_funds' } });
    payments.answer('MembershipCheckout', () => Promise.reject(declined));
    const token = await buyer(randomUUID());
    expect(await join(token)).toMatchObject({ status: 402, body: { code: 'payment_declined', decline_code: 'insufficient_funds' } });
    payments.leave();
    expect(await join(token)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect((await join(await buyer(randomUUID(), ['read:membership']))).status).toBe(403);
    expect((await m.rest('POST', '/memberships/join', wanted)).status).toBe(403);
  });
});

describe("changing one's own tier", () => {
  const change = (token: string, body: object = {}) =>
    m.rest('POST', '/memberships/me/change-tier', { tier_key: 'plus', effective: 'period_end', ...body }, token);
  const month = { interval: 'MONTH', intervalCount: 1 };

  test('asks payments to change to the price with the same recurrence; the tier follows when it is in effect', async () => {
    const who = await m.member();
    const price = monthly('plus');
    payments.answer('MembershipRecurrence', () => ({ billingSubscription: { price: { recurring: month } } }));
    payments.answer('MembershipPlanPrices', ({ id }) => ({ membershipPlan: { id, prices: [price] } }));
    payments.answer('MembershipChangePrice', ({ input }) => ({ updateBillingSubscription: { id: input.id } }));
    const answer = await change(await buyer(who.user));
    expect(answer).toMatchObject({ status: 200, body: { tier: { key: 'basic' } } });
    const input = { id: who.subscription, priceId: price.id, effective: 'PERIOD_END' };
    expect(asked('MembershipChangePrice').map(one => one.variables.input)).toEqual([input]);
    expect(asked('MembershipPlanPrices').map(one => one.variables.id)).toEqual([PLUS.plan]);
    expect((await change(await buyer(who.user), { tier_key: 'gold' })).body.errors).toMatchObject([{ pointer: '/tier_key' }]);
  });

  test('is refused unless it is active, billed, and another tier', async () => {
    const who = await m.member();
    expect((await change(await buyer(who.user), { tier_key: 'basic' })).status).toBe(409);
    await m.pause(who);
    expect((await change(await buyer(who.user))).status).toBe(409);
    const comp = randomUUID();
    await m.grant(comp);
    expect((await change(await buyer(comp))).status).toBe(409);
    expect((await change(await buyer(randomUUID()))).status).toBe(404);
    const member = await m.member();
    expect(await change(await buyer(member.user))).toMatchObject({ status: 503 });
    expect(payments.asked).toEqual([]);
  });
});

describe('a lapse by staff', () => {
  const lapse = (id: string) => m.rest('POST', `/admin/memberships/${id}/lapse`, { reason: 'a test' });

  test('ends what bills the member at payments first; the event that follows tells nothing new', async () => {
    const who = await m.member();
    const { id } = await m.only(who.user);
    expect(await lapse(id)).toMatchObject({ status: 503 });
    expect((await m.only(who.user)).status).toBe('active');
    payments.answer('MembershipCancel', ({ input }) => ({ adminCancelBillingSubscription: { id: input.id } }));
    expect((await lapse(id)).body).toMatchObject({ status: 'lapsed', lapse_reason: 'staff' });
    expect(asked('MembershipCancel').map(one => one.variables.input)).toMatchObject([{ id: who.subscription, at: 'NOW' }]);
    await m.cancel(who);
    expect(await m.only(who.user)).toMatchObject({ lapse_reason: 'staff' });
    expect(await m.types(who.user)).toEqual(['activated', 'lapsed']);
    expect((await lapse(id)).status).toBe(409);
  });

  test('is not stopped by a subscription that has ended, and needs no payments for a comp', async () => {
    const who = await m.member();
    payments.answer('MembershipCancel', () => Promise.reject(new Problem('conflict', 'It is cancelled')));
    expect((await lapse((await m.only(who.user)).id)).status).toBe(200);
    const comp = randomUUID();
    const { body } = await m.grant(comp);
    payments.leave();
    expect((await lapse(body.id)).body.status).toBe('lapsed');
  });
});

describe('a comparison with payments', () => {
  const subscription = (id: string, more: object = {}) => ({
    id,
    status: 'ACTIVE',
    source: 'PURCHASE',
    price: { subjectKind: 'MEMBERSHIP_PLAN', subjectId: BASIC.plan, tier: 'basic' },
    currentPeriodStart: T0,
    currentPeriodEnd: after(30 * DAY),
    endedAt: null,
    cancelReason: null,
    createdAt: T0,
    latestInvoice: null,
    ...more,
  });
  const resync = (user: string) => m.rest('POST', `/admin/resync/${user}`);
  const telling = (...subscriptions: object[]) => payments.answer('MembershipSubscriptions', () => ({ billingSummary: { subscriptions } }));
  const fieldsOf = async (user: string) => (await resync(user)).body.differences.map((one: any) => one.field);

  test('finds nothing where both agree', async () => {
    const who = await m.member();
    telling(subscription(who.subscription), {
      ...subscription(randomUUID()),
      price: { subjectKind: 'SERVICE', subjectId: randomUUID(), tier: null },
    });
    expect(await fieldsOf(who.user)).toEqual([]);
  });

  test('makes what was missing, puts right what differs, and then finds nothing', async () => {
    const [user, id] = [randomUUID(), randomUUID()];
    telling(subscription(id, { status: 'PAUSED' }));
    const first = await resync(user);
    expect(first.body.differences.map((one: any) => one.field)).toEqual(['subscription', 'status']);
    expect(first.body.memberships).toMatchObject([{ status: 'suspended', suspension_reasons: ['paused'], subscription_id: id }]);
    expect(await fieldsOf(user)).toEqual([]);
    const plus = { subjectKind: 'MEMBERSHIP_PLAN', subjectId: PLUS.plan, tier: 'plus' };
    const period = { currentPeriodStart: after(30 * DAY), currentPeriodEnd: after(60 * DAY) };
    telling(subscription(id, { price: plus, ...period }));
    const second = await resync(user);
    expect(second.body.differences.map((one: any) => one.field)).toEqual(['status', 'tier', 'current_period_end']);
    expect(second.body.memberships).toMatchObject([{ status: 'active', tier: { key: 'plus' }, current_period_end: after(60 * DAY) }]);
    expect(await fieldsOf(user)).toEqual([]);
    telling(subscription(id, { status: 'PAST_DUE', price: plus, ...period, latestInvoice: { id: randomUUID() } }));
    expect((await resync(user)).body.memberships).toMatchObject([{ status: 'active', grace_until: after(7 * DAY) }]);
    expect(await fieldsOf(user)).toEqual([]);
    telling();
    expect((await resync(user)).body.memberships).toMatchObject([{ status: 'lapsed', lapse_reason: 'cancelled' }]);
    expect(await fieldsOf(user)).toEqual([]);
    expect(await m.types(user)).toEqual(['activated', 'suspended', 'reactivated', 'tier.changed', 'lapsed']);
  });

  test('is a 503 while payments is not there', async () => {
    expect(await resync(randomUUID())).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  });
});
