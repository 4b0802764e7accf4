import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { orderPlaced } from '../../events/catalogue/commerce.js';
import {
  paymentInvoicePaid,
  paymentRefunded,
  subscriptionCancelled,
  subscriptionCreated,
  subscriptionPaused,
  subscriptionTierChanged,
} from '../../events/catalogue/payments.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent } from '../../events/outbox.js';
import type { Federation } from '../../runtime/federation/federation.js';
import { BASIC, createdData, invoiceData, PLUS, someone, type Billed } from '../membership/fixture.js';
import { BRAND, DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { Counter, T0 } from './counter.js';

/** The acceptance cases of the contract, section 10, by their numbers. The clocks of both services go forward together. */
const MINUTE = 60_000;
const DAY = 86_400_000;
let c: Counter;
let now = Date.parse(T0);
beforeAll(async () => {
  c = await Counter.open();
});

const iso = (ms = 0): string => new Date(now + ms).toISOString();
async function advance(ms: number): Promise<void> {
  now += ms;
  for (const service of ['membership', 'entitlements'] as const) await c.p.clock(service, { now: iso() });
}

/** As its owner emits it. */
async function append<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string): Promise<string> {
  const meta = { source: event.owner, requestId: null, causationId: null, actor: `service:${event.owner}`, traceparent: null } as const;
  const pending = prepareEvent(event, data, { userId }, meta);
  const rows = JSON.stringify([pending]).replaceAll("'", "''");
  await c.p.sql(`set role platform_events; select events.append('${rows}', '${iso()}'); reset role`);
  return pending.id;
}

const handled = async (consumer: string, id: string): Promise<void> => {
  const count = async () =>
    (await c.p.sql(`select 1 from ${consumer.split('.')[0]}.inbox where consumer = $1 and event_id = $2`, [consumer, id])).length;
  await expect.poll(count, { timeout: 15_000, interval: 20 }).toBe(1);
};

/** The same; resolves when membership has handled it, and entitlements what membership told because of it. */
async function bill<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string): Promise<void> {
  const id = await append(event, data, userId);
  await handled('membership.billing', id);
  const told = await c.p.sql(`select id from events.outbox where causation_id = $1 and type like 'membership.%'`, [id]);
  for (const one of told) await handled('entitlements.memberships', one.id);
}

const join = (who: Billed, more: Parameters<typeof createdData>[1] = {}) =>
  bill(subscriptionCreated, createdData(who, { end: iso(30 * DAY), ...more }), who.user);
const subject = ({ subscription }: Billed) =>
  ({ kind: 'billing', subscription_id: subscription, subject_kind: 'membership_plan', subject_id: BASIC.plan, tier: 'basic' }) as const;
const pause = (who: Billed) => bill(subscriptionPaused, { ...subject(who), paused_at: iso(), resume_at: null }, who.user);
const cancel = (who: Billed) =>
  bill(subscriptionCancelled, { ...subject(who), reason: 'other', ended_at: iso(), at_period_end: false, involuntary: false }, who.user);

const give = async (tierId: string, key: string, body: object = {}): Promise<void> => {
  const answer = await c.rest('PUT', `/admin/tiers/${tierId}/features/${key}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
};
const metered = (more: object = {}) => c.feature({ kind: 'metered', unit: 'use', ...more });

test('1: a tier has a feature: after an activation a user who had no access has it within 2 s, from the tier', async () => {
  const who = someone();
  expect(await c.check(who.user, 'labs.discount')).toMatchObject({ allowed: false, reason: 'no_membership' });
  const id = await append(subscriptionCreated, createdData(who, { plan: PLUS.plan, tier: 'plus' }), who.user);
  await handled('membership.billing', id);
  await until(
    'access',
    () => c.check(who.user, 'labs.discount'),
    check => check.allowed,
    2_000,
  );
  const features = (await c.all(who.user)).features;
  expect(features.find((one: any) => one.key === 'labs.discount')).toMatchObject({ access: 'granted', source: 'tier' });
  expect(features.find((one: any) => one.key === 'membership.tier')).toMatchObject({ access: 'granted', value: 'plus', source: 'tier' });
});

test('2: suspended: denied as suspended, but allowed with keep_while_suspended; lapsed: denied for want of a membership', async () => {
  const [held, kept] = [await c.feature(), await c.feature()];
  await give(BASIC.tier, held);
  await give(BASIC.tier, kept, { keep_while_suspended: true });
  const who = someone();
  await join(who);
  expect([await c.check(who.user, held), await c.check(who.user, kept)]).toMatchObject([{ allowed: true }, { allowed: true }]);
  await pause(who);
  expect(await c.check(who.user, held)).toMatchObject({ allowed: false, reason: 'suspended' });
  expect((await c.check(who.user, kept)).allowed).toBe(true);
  expect(await c.check(who.user, 'membership.tier')).toMatchObject({ allowed: false, reason: 'suspended' });
  await cancel(who);
  for (const key of [held, kept, 'membership.tier'])
    expect(await c.check(who.user, key)).toMatchObject({ allowed: false, reason: 'no_membership' });
});

test('3: an override that allows until T: allowed at T - 1 ms, denied at T, without any event', async () => {
  const [user, key] = [c.stranger(), await c.feature()];
  await c.override(user, key, { ends_at: iso(DAY) });
  await advance(DAY - 1);
  expect((await c.check(user, key)).allowed).toBe(true);
  await advance(1);
  expect(await c.check(user, key)).toMatchObject({ allowed: false, reason: 'not_in_tier' });
});

test('4: a hard limit of 5 and 20 parallel uses: five are counted, 15 refused', async () => {
  const key = await metered();
  await give(BASIC.tier, key, { limit: 5 });
  const who = someone();
  await join(who);
  const answers = await Promise.all(Array.from({ length: 20 }, () => c.consume(who.user, key)));
  const statuses = answers.map(one => one.status);
  expect([statuses.filter(one => one === 200).length, statuses.filter(one => one === 409).length]).toEqual([5, 15]);
  expect((await c.all(who.user)).features.find((one: any) => one.key === key)).toMatchObject({ used: 5, remaining: 0, source: 'tier' });
});

test('5: a use with the same key twice counts once', async () => {
  const key = await metered();
  await give(BASIC.tier, key, { limit: 5 });
  const who = someone();
  await join(who);
  for (let time = 0; time < 2; time++) expect((await c.consume(who.user, key, { idempotency_key: 'k' })).body.remaining).toBe(4);
});

test('6: a limit of the membership period is whole again past its end, without any job', async () => {
  const key = await metered();
  await give(BASIC.tier, key, { limit: 3, reset: 'membership_period' });
  const who = someone();
  await join(who, { end: iso(10 * DAY) });
  expect((await c.consume(who.user, key)).body).toMatchObject({ remaining: 2, resets_at: iso(10 * DAY) });
  await advance(10 * DAY);
  expect(await c.check(who.user, key)).toMatchObject({ remaining: 3, resets_at: iso(10 * DAY) });
});

test('7: an unknown key is a 200 that denies', async () => {
  const answer = await c.rest('GET', `/entitlements/check/no.such?user_id=${DEMO}`);
  expect(answer).toMatchObject({ status: 200, body: { allowed: false, reason: 'unknown_feature' } });
});

test('8: membership is down: what is 5 min old is served as a fallback; what is 16 min old is not, and a closed feature is denied', async () => {
  const [closed, open] = [await c.feature(), await c.feature({ fail_mode: 'open' })];
  for (const key of [closed, open]) await give(BASIC.tier, key);
  const who = someone();
  await join(who);
  await c.check(who.user, closed);
  const host = c.p.host('entitlements') as { federation: Federation };
  const real = host.federation;
  Object.assign(host, { federation: { run: () => Promise.reject(new Error('down')) } });
  await advance(5 * MINUTE);
  expect(await c.check(who.user, closed)).toMatchObject({ allowed: true, is_fallback: true });
  await advance(11 * MINUTE);
  expect(await c.check(who.user, closed)).toMatchObject({ allowed: false, is_fallback: true });
  expect(await c.check(who.user, open)).toMatchObject({ allowed: true, is_fallback: true });
  Object.assign(host, { federation: real });
  expect(await c.check(who.user, closed)).toMatchObject({ allowed: true, is_fallback: false });
});

test('9: what a tier gives is changed: the answers of 1,000 members are new at once, and only versions of what differs rise', async () => {
  const [key, users] = [await c.feature(), Array.from({ length: 1_000 }, () => randomUUID())];
  await c.p.sql(
    `insert into entitlements.membership_copy
     select u, jsonb_build_array(jsonb_build_object('id', u, 'brandId', $2::text, 'tierId', $3::text, 'tierKey', 'basic', 'rank', 1, 'status', 'ACTIVE', 'isComp', false,
       'startedAt', '2026-01-01T00:00:00Z', 'periodStart', null, 'periodEnd', null)), 1, $4 from unnest($1::uuid[]) u`,
    [users, BRAND, BASIC.tier, iso()],
  );
  const bystander = c.stranger();
  const [before, other] = [(await c.all(users[0]!)).version, (await c.all(bystander)).version];
  await give(BASIC.tier, key);
  const batches = Array.from({ length: 10 }, (_, at) => users.slice(at * 100, at * 100 + 100));
  for (const user_ids of batches) {
    const { body } = await c.rest('POST', '/entitlements/check', { user_ids, keys: [key] });
    expect(body.data.every((one: any) => one.checks[0].allowed)).toBe(true);
  }
  expect((await c.all(users[0]!)).version).toBe(before + 1);
  expect((await c.all(users[0]!)).version).toBe(before + 1);
  expect((await c.all(bystander)).version).toBeGreaterThanOrEqual(other);
  await c.rest('DELETE', `/admin/tiers/${BASIC.tier}/features/${key}`);
  expect(await c.check(users[0]!, key)).toMatchObject({ allowed: false, reason: 'not_in_tier' });
});

test("10: user B gets a 404 for A's entitlements", async () => {
  const other = await c.p.userToken(DEMO2, ['read:entitlements']);
  expect((await c.rest('GET', `/entitlements?user_id=${DEMO}`, undefined, other)).status).toBe(404);
});

test('11: the second period of a membership begins at the end of the first though its renewal is unpaid, and keeps its count when it is paid', async () => {
  const key = await metered();
  await give(BASIC.tier, key, { limit: 5, reset: 'membership_period' });
  const [who, end, next] = [someone(), iso(31 * DAY), iso(59 * DAY)];
  await join(who, { end });
  await advance(30 * DAY);
  expect((await c.consume(who.user, key)).body).toMatchObject({ remaining: 4, resets_at: end });
  await advance(2 * DAY);
  expect((await c.consume(who.user, key)).body.remaining).toBe(4);
  await advance(DAY);
  await bill(paymentInvoicePaid, invoiceData(randomUUID(), who.subscription, 0, [end, next]), who.user);
  await c.rest('POST', '/admin/cache/invalidate', { user_ids: [who.user] });
  expect((await c.all(who.user)).features.find((one: any) => one.key === key)).toMatchObject({ used: 1, remaining: 4, resets_at: next });
});

test('12: of two memberships the one without a limit counts, and the value of the higher rank though it is older', async () => {
  const [limited, config, user, brand] = [await metered(), await c.feature({ kind: 'config' }), c.stranger(), randomUUID()];
  const membership = await c.p.serviceToken('admin:membership');
  const post = (path: string, body?: object) => c.p.rest('POST', `/membership/v1${path}`, { token: membership, body });
  const tiers = [{ key: 'low', name: 'Low', rank: 1, benefits: [], feature_keys: [] }];
  const plan = (await post('/admin/plans', { key: 'other', brand_id: brand, name: 'Other', tiers })).body;
  await post(`/admin/plans/${plan.id}/publish`);
  const low = plan.tiers[0].id;
  await give(PLUS.tier, limited, { limit: 5 });
  await give(low, limited);
  await give(PLUS.tier, config, { value: 'high' });
  await give(low, config, { value: 'low' });
  await post('/admin/memberships', { user_id: user, plan_id: PLUS.plan, tier_key: 'plus', reason: 'a test' });
  await advance(DAY);
  await post('/admin/memberships', { user_id: user, plan_id: plan.id, tier_key: 'low', reason: 'a test' });
  const unlimited = (all: any) => all.features.find((one: any) => one.key === limited)?.limit === null;
  const { features } = await until('both memberships', () => c.all(user), unlimited);
  const of = (key: string) => features.find((one: any) => one.key === key);
  expect([of(limited), of(config), of('membership.tier')]).toMatchObject([{ limit: null }, { value: 'high' }, { value: 'plus' }]);
});

test('13: a basic member is denied what plus gives, and told of plus; a simulation gains it and changes the tier', async () => {
  const key = await c.feature();
  await give(PLUS.tier, key);
  const who = someone();
  await join(who);
  const denied = await c.check(who.user, key);
  expect(denied).toMatchObject({ allowed: false, reason: 'not_in_tier', upgrade_to: [{ id: PLUS.tier, key: 'plus' }] });
  expect((await c.check(c.stranger(), key)).upgrade_to).toMatchObject([{ key: 'plus' }]);
  const { status, body } = await c.rest('POST', `/admin/entitlements/${who.user}/simulate`, { tier_id: PLUS.tier });
  expect(status).toBe(200);
  expect(body.gained.map((one: any) => one.key)).toContain(key);
  expect(body.changed.find((one: any) => one.key === 'membership.tier')).toMatchObject({ from: { value: 'basic' }, to: { value: 'plus' } });
  expect((await c.check(who.user, key)).allowed).toBe(false);
  const change = {
    subscription_id: who.subscription,
    from_price_id: randomUUID(),
    to_price_id: randomUUID(),
    from_tier: 'basic',
    to_tier: 'plus',
  };
  await bill(subscriptionTierChanged, { kind: 'billing', ...change, direction: 'upgrade', effective_at: iso() }, who.user);
  expect(await c.check(who.user, key)).toMatchObject({ allowed: true, upgrade_to: [] });
});

test('14: an order that was settled by cash alone and is refunded in two halves: allowed after the first, denied after the second', async () => {
  const [user, order, product] = [c.stranger(), randomUUID(), randomUUID()];
  const key = await c.feature({ product_ids: [product] });
  const items = [{ product_id: product, variant_id: randomUUID(), quantity: 1, total_amount: 10_000 }];
  const money = { currency: 'USD', subtotal_amount: 10_000, discount_amount: 0, shipping_amount: 0, tax_amount: 0, total_amount: 10_000 };
  const about = { order_id: order, order_number: 'main-2', brand_id: BRAND, source: 'storefront', item_count: 1, first_order: true };
  const none = { promo_id: null, affiliate_code: null, subscription_id: null };
  await handled('entitlements.purchases', await append(orderPlaced, { ...about, ...money, ...none, items, placed_at: iso() }, user));
  const refund = async (sofar: number): Promise<void> => {
    const ids = { refund_id: randomUUID(), payment_id: randomUUID(), order_id: order, invoice_id: null, subscription_id: null };
    const card = { amount: 0, currency: 'USD', cash_return_amount: 5_000, tax_amount: 0, payment_amount: 0, total_refunded: 0 };
    const obligation = { obligation_type: 'order', obligation_id: order, obligation_amount: 10_000, obligation_refunded: sofar } as const;
    const how = {
      status: 'succeeded',
      reason: 'goodwill',
      origin: 'api',
      to_cash: false,
      credit_return_amount: 0,
      tax_region: null,
    } as const;
    await handled('entitlements.purchases', await append(paymentRefunded, { ...ids, ...card, ...how, ...obligation }, user));
  };
  await refund(5_000);
  expect((await c.check(user, key)).allowed).toBe(true);
  await refund(10_000);
  expect((await c.check(user, key)).allowed).toBe(false);
});
