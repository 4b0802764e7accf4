import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { vialDiscarded } from '../../events/catalogue/clinical.js';
import { medicationPrescribed } from '../../events/catalogue/patient-graph.js';
import { paymentFailed } from '../../events/catalogue/payments.js';
import { locksInOrder } from '../support/locks.js';
import { DEMO, DEMO2, type Answer } from '../support/platform.js';
import { until } from '../support/until.js';
import { CARD, Shop, TEXAS, usd, type Variant } from './shop.js';

let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open();
}, 400_000);

/** A year passes between tests: what they have begun would be ordered in it. */
afterEach(async () => {
  await shop.p.sql(
    "update commerce.scheduled_order set status = 'cancelled', next_attempt_at = null where status in ('scheduled', 'processing')",
  );
  await shop.p.sql(
    "update commerce.product_subscription set status = 'cancelled', next_order_on = null, paused_until = null where status <> 'cancelled'",
  );
});

const MONTHLY = { unit: 'month', count: 1 };
const OFFERS = [
  { cadence: MONTHLY, discount_bps: 1_000 },
  { cadence: { unit: 'week', count: 1 }, discount_bps: 0 },
];
const NO_SHIPPING = { requires_shipping: false };

const sell = (price = 2_000, more: object = {}): Promise<Variant> =>
  shop.sell({ price, stock: 50, more: NO_SHIPPING, product: { subscription_offers: OFFERS, ...more } });

const subscribe = (variant: Variant, more: object = {}, token = shop.token, userId: string | null = randomUUID()): Promise<Answer> => {
  const body = { items: [{ variant_id: variant.id, quantity: 1 }], cadence: MONTHLY, payment_method_id: CARD, time_zone: 'UTC', ...more };
  return shop.rest('POST', '/subscriptions', { ...(userId && token === shop.token && { user_id: userId }), ...body }, token);
};

const read = (id: string): Promise<any> => shop.ok('GET', `/subscriptions/${id}`);
const change = (id: string, path: string, body: object = {}, token = shop.token): Promise<Answer> =>
  shop.rest('POST', `/subscriptions/${id}/${path}`, body, token);
const told = ({ status, body }: Answer): string => `${status} ${body.reason ?? body.code ?? body.status}`;
const dates = (subscription: any): string[] => subscription.upcoming.map((one: any) => one.order_on);
const ordersOf = (id: string): Promise<any[]> =>
  shop.p.sql(
    'select id, status, total::int as total, checkout_session_id as session from commerce.shop_order where subscription_id = $1 order by created_at',
    [id],
  );
const cyclesOf = (id: string): Promise<any[]> =>
  shop.p.sql(
    'select cycle_index as cycle, order_on::text as "on", status, attempts, failure_code as code from commerce.scheduled_order where subscription_id = $1 order by cycle_index',
    [id],
  );
const becomes = (what: string, id: string, holds: (subscription: any) => boolean): Promise<any> =>
  until(what, () => read(id), holds, 20_000);

/** The clock never goes back, so each test has a year of its own. Dates are written as if it were 2026, and the next one 2027. */
let year = 2025;
const y = (date: string): string => date.replace(/^202[67]/, written => String(Number(written) - 2026 + year));
const at = (now: string): Promise<void> => shop.clock(now);
const begin = (): Promise<void> => ((year += 1), at(y('2026-11-24T12:00:00.000Z')));

describe('a recurring order', () => {
  test('13: monthly from the 31st keeps its anchor; a skip names its day, and a second one of the same day is already_skipped', async () => {
    await begin();
    const { body } = await subscribe(await sell(), { first_order_on: y('2027-01-31') });
    expect(dates(body).slice(0, 4)).toEqual([y('2027-01-31'), y('2027-02-28'), y('2027-03-31'), y('2027-04-30')]);
    const skipped = await change(body.id, 'skip', { order_on: y('2027-02-28') });
    expect(skipped).toMatchObject({
      status: 200,
      body: { skipped: { cycle_index: 1, order_on: y('2027-02-28') }, next_order_on: y('2027-01-31') },
    });
    expect(told(await change(body.id, 'skip', { order_on: y('2027-02-28') }))).toBe('409 already_skipped');
    expect((await read(body.id)).upcoming.map((one: any) => `${one.order_on} ${one.status}`).slice(0, 4)).toEqual([
      y('2027-01-31 scheduled'),
      y('2027-02-28 skipped'),
      y('2027-03-31 scheduled'),
      y('2027-04-30 scheduled'),
    ]);
    await at(y('2027-01-31T09:00:00.000Z'));
    expect(await becomes('the order of January', body.id, one => one.cycle_index === 2)).toMatchObject({ next_order_on: y('2027-03-31') });
    expect(told(await change(body.id, 'unskip', { cycle_index: 1 }))).toBe('200 active');
    expect(await read(body.id)).toMatchObject({ cycle_index: 1, next_order_on: y('2027-02-28') });
    await at(y('2027-02-28T09:00:00.000Z'));
    expect(await becomes('the order of February', body.id, one => one.cycle_index === 2)).toMatchObject({ next_order_on: y('2027-03-31') });
    expect(await ordersOf(body.id)).toHaveLength(2);
  });

  test('locks the stock of a renewal before the subscription, as whoever settles an order does', async () => {
    await begin();
    const variant = await sell();
    const { body } = await subscribe(variant, { first_order_on: y('2026-11-25') });
    await locksInOrder(
      shop.p,
      {
        held: ['select from commerce.inventory_level where variant_id = $1 for update', [variant.id]],
        waitsIn: 'inventory_level',
        free: ['select from commerce.product_subscription where id = $1 for update nowait', [body.id]],
      },
      () => change(body.id, 'order-now'),
    );
    expect(await becomes('the order of the renewal', body.id, one => one.cycle_index === 1)).toMatchObject({ status: 'active' });
  });

  test('that is cancelled while its order waits locks the stock of that order before the subscription', async () => {
    await begin();
    const variant = await sell(2_002, { subscription_offers: [{ cadence: MONTHLY, discount_bps: 0 }] });
    const { body } = await subscribe(variant, { first_order_on: y('2026-11-25') });
    await at(y('2026-11-25T09:00:00.000Z'));
    await becomes('the decline', body.id, one => one.status === 'past_due');
    const answer = await locksInOrder(
      shop.p,
      {
        held: ['select from commerce.inventory_level where variant_id = $1 for update', [variant.id]],
        waitsIn: 'inventory_level',
        free: ['select from commerce.product_subscription where id = $1 for update nowait', [body.id]],
      },
      () => change(body.id, 'cancel', { reason: 'too_expensive' }),
    );
    expect(answer).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect(await ordersOf(body.id)).toMatchObject([{ status: 'expired' }]);
  });

  test('is made with 201, its price locked, its first order on its day at 09:00, and an event that tells no price', async () => {
    await begin();
    const variant = await sell();
    const user = randomUUID();
    const { status, body } = await subscribe(variant, { first_order_on: y('2026-11-25') }, shop.token, user);
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        status: 'active',
        next_order_on: y('2026-11-25'),
        cycle_index: 0,
        anchor_day: 25,
        time_zone: 'UTC',
        out_of_stock: 'wait',
        user: { id: user },
      },
    });
    expect(body.items).toMatchObject([
      { variant: { id: variant.id }, quantity: 1, unit_price: usd(2_000), discount_bps: 1_000, pending_price: null },
    ]);
    expect(body.upcoming[0]).toMatchObject({
      cycle_index: 0,
      status: 'scheduled',
      estimated_total: usd(1_800),
      editable_until: y('2026-11-24T09:00:00.000Z'),
    });
    expect(await shop.events('subscription.created.v1', user)).toEqual([
      {
        kind: 'product',
        subscription_id: body.id,
        brand_id: expect.any(String),
        cadence_unit: 'month',
        cadence_count: 1,
        next_order_on: y('2026-11-25'),
        item_count: 1,
      },
    ]);
    await at(y('2026-11-25T08:59:59.000Z'));
    expect(await ordersOf(body.id)).toEqual([]);
    await at(y('2026-11-25T09:00:00.000Z'));
    const after = await becomes('the first order', body.id, one => one.next_order_on === y('2026-12-25'));
    expect(after).toMatchObject({ status: 'active', cycle_index: 1 });
    expect(await ordersOf(body.id)).toMatchObject([{ status: 'placed', total: 1_800 }]);
    expect(await shop.events('order.placed.v1', user)).toMatchObject([
      { source: 'subscription', subscription_id: body.id, total_amount: 1_800 },
    ]);
    expect(await shop.available(variant)).toBe(49);
  });

  test('14: renewals declined at 0, 24, 72 and 120 hours: past due, then paused with payment_failed; one order, one session, four attempts', async () => {
    await begin();
    const user = randomUUID();
    const variant = await sell(2_002, { subscription_offers: [{ cadence: MONTHLY, discount_bps: 0 }] });
    const { body } = await subscribe(variant, { first_order_on: y('2026-11-25') }, shop.token, user);
    await at(y('2026-11-25T09:00:00.000Z'));
    const late = await becomes('the first decline', body.id, one => one.status === 'past_due');
    expect(late).toMatchObject({
      past_due_since: y('2026-11-25T09:00:00.000Z'),
      upcoming: [{ attempts: 1, failure_code: 'generic_decline', status: 'processing' }, {}, {}, {}, {}, {}],
    });
    expect(told(await change(body.id, 'pause'))).toBe('409 not_active');
    const [order] = await ordersOf(body.id);
    for (const [time, attempts] of [
      [y('2026-11-26T09:00:00.000Z'), 2],
      [y('2026-11-28T09:00:00.000Z'), 3],
    ] as const) {
      await at(time);
      await until(
        'the next attempt',
        () => cyclesOf(body.id),
        rows => rows[0].attempts === attempts,
        20_000,
      );
      expect(await read(body.id)).toMatchObject({ status: 'past_due' });
      expect(await shop.read(order.id)).toMatchObject({ status: 'pending_payment' });
    }
    await at(y('2026-11-30T08:59:00.000Z'));
    expect((await cyclesOf(body.id))[0]).toMatchObject({ attempts: 3 });
    await at(y('2026-11-30T09:00:00.000Z'));
    await becomes('the pause', body.id, one => one.status === 'paused');
    expect(await shop.events('subscription.paused.v1', user)).toEqual([
      { kind: 'product', subscription_id: body.id, reason: 'payment_failed', until: null },
    ]);
    expect(await ordersOf(body.id)).toEqual([{ ...order, status: 'expired' }]);
    expect(await shop.payment(order.id)).toMatchObject({ attempts: 4 });
    expect(await cyclesOf(body.id)).toMatchObject([{ status: 'failed', attempts: 4, code: 'generic_decline' }]);
    expect(await shop.available(variant)).toBe(50);
    expect(await change(body.id, 'resume', { next_order_on: y('2026-12-20') })).toMatchObject({
      status: 200,
      body: { status: 'active', next_order_on: y('2026-12-20'), cycle_index: 1 },
    });
  });

  test('28: a renewal that is declined at first and paid at 120 hours is placed by the same session', async () => {
    await begin();
    const { body } = await subscribe(await sell(2_002, { subscription_offers: [{ cadence: MONTHLY, discount_bps: 0 }] }), {
      first_order_on: y('2026-11-25'),
    });
    await at(y('2026-11-25T09:00:00.000Z'));
    await becomes('the decline', body.id, one => one.status === 'past_due');
    const [order] = await ordersOf(body.id);
    for (const time of [y('2026-11-26T09:00:00.000Z'), y('2026-11-28T09:00:00.000Z')]) {
      await at(time);
      const tries = time.includes('-26T') ? 2 : 3;
      await until(
        'the attempt',
        () => cyclesOf(body.id),
        rows => rows[0].attempts === tries,
        20_000,
      );
    }
    await shop.p.sql(`update commerce.embedded_payment set status = 'COMPLETE' where order_id = $1`, [order.id]);
    await at(y('2026-11-30T09:00:00.000Z'));
    expect(await becomes('the payment', body.id, one => one.status === 'active')).toMatchObject({ past_due_since: null, cycle_index: 1 });
    expect(await ordersOf(body.id)).toEqual([{ ...order, status: 'placed' }]);
  });

  test('payments that charges and never answers is asked again by the same key: one charge, one order', async () => {
    await begin();
    const variant = await sell(2_004, { subscription_offers: [{ cadence: MONTHLY, discount_bps: 0 }] });
    const { body } = await subscribe(variant, { first_order_on: y('2026-11-25') });
    await at(y('2026-11-25T09:00:00.000Z'));
    const waiting = (rows: any[]): boolean => rows[0].status === 'processing' && rows[0].next === y('2026-11-25T09:05:00.000Z');
    const text =
      'select status, to_json(next_attempt_at at time zone $2)#>>$3 as next from commerce.scheduled_order where subscription_id = $1';
    const read_ = async () =>
      (await shop.p.sql(text, [body.id, 'UTC', '{}'])).map(row => ({ ...row, next: row.next && `${row.next.slice(0, 19)}.000Z` }));
    await until('the silence', read_, waiting, 40_000);
    const [order] = await ordersOf(body.id);
    expect(order).toMatchObject({ status: 'pending_payment' });
    expect(await shop.payment(order.id)).toMatchObject({ status: 'COMPLETE', attempts: 1 });
    await at(y('2026-11-25T09:05:00.000Z'));
    await becomes('the order', body.id, one => one.cycle_index === 1);
    expect(await ordersOf(body.id)).toMatchObject([{ id: order.id, status: 'placed' }]);
    expect(await shop.payment(order.id)).toMatchObject({ attempts: 1, refunded: 0 });
  });

  test('15: a swap of the next order alone leaves the following one as it was', async () => {
    await begin();
    const [old, other] = [await sell(), await sell(3_000)];
    const { body } = await subscribe(old, { first_order_on: y('2026-12-01') });
    const variants = (subscription: any): string[] => subscription.upcoming.slice(0, 2).map((one: any) => one.items[0].variant.id);
    const swapped = await change(body.id, 'swap', { from_variant_id: old.id, to_variant_id: other.id, apply_to: 'next_only' });
    expect(swapped.status).toBe(200);
    expect(variants(swapped.body)).toEqual([other.id, old.id]);
    expect(swapped.body.upcoming[0]).toMatchObject({ estimated_total: usd(2_700) });
    expect(swapped.body.items).toMatchObject([{ variant: { id: old.id } }]);
    await at(y('2026-12-01T09:00:00.000Z'));
    await becomes('the order', body.id, one => one.cycle_index === 1);
    expect(await ordersOf(body.id)).toMatchObject([{ status: 'placed', total: 2_700 }]);
    const forAll = await change(body.id, 'swap', { item_id: body.items[0].id, to_variant_id: other.id, quantity: 2 });
    expect(forAll.body.items).toMatchObject([{ variant: { id: other.id }, quantity: 2, unit_price: usd(3_000) }]);
    expect(variants(forAll.body)).toEqual([other.id, other.id]);
    const gone = await shop.sell({ stock: 0, more: NO_SHIPPING, product: { subscription_offers: OFFERS } });
    expect(told(await change(body.id, 'swap', { item_id: body.items[0].id, to_variant_id: gone.id }))).toBe('409 out_of_stock');
    const never = await shop.sell({ more: NO_SHIPPING });
    expect(told(await change(body.id, 'swap', { item_id: body.items[0].id, to_variant_id: never.id }))).toBe('409 offer_not_available');
    expect((await change(body.id, 'swap', { item_id: body.items[0].id, from_variant_id: old.id, to_variant_id: other.id })).status).toBe(
      400,
    );
  });

  test('changes close 24 hours before the order', async () => {
    await begin();
    const variant = await sell();
    const { body } = await subscribe(variant, { first_order_on: y('2026-11-26') });
    await at(y('2026-11-25T09:00:00.000Z'));
    const attempts = [
      await change(body.id, 'skip'),
      await change(body.id, 'cadence', { cadence: { unit: 'week', count: 1 } }),
      await change(body.id, 'swap', { item_id: body.items[0].id, to_variant_id: variant.id }),
    ];
    expect(attempts.map(told)).toEqual(Array(3).fill('409 cutoff_passed'));
  });

  test('rests until a day, for cycles, or until it is resumed; what rests can be given another rhythm and another variant', async () => {
    await begin();
    const user = randomUUID();
    const variant = await sell();
    const { body } = await subscribe(variant, { first_order_on: y('2026-12-01') }, shop.token, user);
    expect((await change(body.id, 'pause', { until: y('2026-12-24'), cycles: 1 })).status).toBe(400);
    expect((await change(body.id, 'pause', { until: y('2027-06-01') })).status).toBe(400);
    const paused = await change(body.id, 'pause', { cycles: 1 });
    expect(paused.body).toMatchObject({ status: 'paused', next_order_on: null, paused_until: y('2026-12-31'), upcoming: [] });
    expect(await shop.events('subscription.paused.v1', user)).toMatchObject([{ reason: 'staff', until: y('2026-12-31') }]);
    expect([told(await change(body.id, 'pause')), told(await change(body.id, 'skip'))]).toEqual(['409 not_active', '409 not_active']);
    expect(told(await change(body.id, 'cadence', { cadence: { unit: 'week', count: 1 } }))).toBe('200 paused');
    expect(told(await change(body.id, 'cadence', { cadence: MONTHLY }))).toBe('200 paused');
    await at(y('2026-12-30T23:59:00.000Z'));
    expect(await read(body.id)).toMatchObject({ status: 'paused' });
    await at(y('2026-12-31T00:00:00.000Z'));
    expect(await becomes('the end of the rest', body.id, one => one.status === 'active')).toMatchObject({
      paused_until: null,
      cycle_index: 1,
    });
    expect(told(await change(body.id, 'resume'))).toBe('409 not_paused');
    expect(await shop.events('subscription.resumed.v1', user)).toHaveLength(1);
  });

  test('is cancelled now, or after the next order; then every change is refused, and its reason is told to nobody', async () => {
    await begin();
    const user = randomUUID();
    const variant = await sell();
    const [now, later] = [
      (await subscribe(variant, { first_order_on: y('2026-12-01') }, shop.token, user)).body,
      (await subscribe(variant, { first_order_on: y('2026-12-02') })).body,
    ];
    const ended = await change(now.id, 'cancel', { reason: 'side_effects', comment: 'It made me dizzy' });
    expect(ended).toMatchObject({ status: 200, body: { status: 'cancelled', next_order_on: null, upcoming: [] } });
    expect(await shop.events('subscription.cancelled.v1', user)).toEqual([{ kind: 'product', subscription_id: now.id, reason: 'staff' }]);
    const [row] = await shop.p.sql('select * from commerce.product_subscription where id = $1', [now.id]);
    for (const secret of ['side_effects', 'dizzy'])
      expect(JSON.stringify(row) + (row.cancel_reason as Buffer).toString() + (row.cancel_comment as Buffer).toString()).not.toContain(
        secret,
      );
    expect(told(await change(now.id, 'cancel', { reason: 'other' }))).toBe('409 already_cancelled');
    expect(told(await change(now.id, 'cadence', { cadence: MONTHLY }))).toBe('409 already_cancelled');
    expect((await change(later.id, 'cancel', { reason: 'moving', at: 'after_next_order' })).body).toMatchObject({
      status: 'active',
      cancel_after_cycle: 0,
    });
    await at(y('2026-12-02T09:00:00.000Z'));
    await becomes('the end', later.id, one => one.status === 'cancelled');
    expect(await ordersOf(later.id)).toMatchObject([{ status: 'placed' }]);
    expect(await cyclesOf(now.id)).toMatchObject([{ status: 'cancelled' }]);
  });

  test('waits seven days at most for stock instead of charging, then leaves the cycle out; or leaves it out at once', async () => {
    await begin();
    const variant = await shop.sell({ stock: 0, more: NO_SHIPPING, product: { subscription_offers: OFFERS } });
    const [waits, skips] = [
      (await subscribe(variant, { first_order_on: y('2026-11-25') })).body,
      (await subscribe(variant, { first_order_on: y('2026-11-25'), out_of_stock: 'skip' })).body,
    ];
    const patient = (await subscribe(variant, { first_order_on: y('2026-11-25') })).body;
    await at(y('2026-11-25T09:00:00.000Z'));
    await until(
      'one that waits',
      () => cyclesOf(waits.id),
      rows => rows[0].code === 'out_of_stock',
      20_000,
    );
    await becomes('one that is left out', skips.id, one => one.cycle_index === 1);
    expect(await cyclesOf(skips.id)).toMatchObject([{ status: 'skipped', code: 'out_of_stock' }, { status: 'scheduled' }]);
    await shop.ok('POST', '/admin/inventory/adjustments', { sku: variant.sku, quantity: 1, receipt: true, reason: 'Delivery' });
    await at(y('2026-11-25T15:00:00.000Z'));
    const placed = await until(
      'one of them to be ordered',
      async () => [...(await ordersOf(waits.id)), ...(await ordersOf(patient.id))],
      rows => rows.length === 1,
      20_000,
    );
    expect(placed).toMatchObject([{ status: 'placed' }]);
    await at(y('2026-12-02T09:00:00.000Z'));
    const rest = (await ordersOf(waits.id)).length === 0 ? waits.id : patient.id;
    await until(
      'the other to be left out',
      () => cyclesOf(rest),
      rows => rows[0].status === 'skipped',
      20_000,
    );
    expect(await ordersOf(rest)).toEqual([]);
  });

  test('rule 21: after downtime the oldest cycle is ordered once, and those that were missed besides are left out', async () => {
    await begin();
    const { body } = await subscribe(await sell(), { cadence: { unit: 'week', count: 1 }, first_order_on: y('2026-11-25') });
    // nothing runs for three weeks, and the clock goes on: `at` would stop at every cycle
    await shop.p.sql('update commerce.test_clock set now = $1', [y('2026-12-16T10:00:00.000Z')]);
    await at(y('2026-12-16T10:00:00.000Z'));
    await becomes('the order', body.id, one => one.cycle_index === 4);
    expect((await cyclesOf(body.id)).map(one => `${one.on} ${one.status}`)).toEqual([
      y('2026-11-25 placed'),
      y('2026-12-02 skipped'),
      y('2026-12-09 skipped'),
      y('2026-12-16 skipped'),
      y('2026-12-23 scheduled'),
    ]);
    expect(await ordersOf(body.id)).toHaveLength(1);
  });

  test('keeps its price until an announced day, at least 14 days ahead', async () => {
    await begin();
    const { body } = await subscribe(await sell(), { first_order_on: y('2026-12-05') });
    const announce = (effective_on: string, amount = usd(3_000)) =>
      shop.rest('POST', `/admin/subscriptions/${body.id}/price-changes`, { item_id: body.items[0].id, amount, effective_on });
    expect((await announce(y('2026-12-07'))).status).toBe(400);
    expect((await announce(y('2027-01-01'), { amount: 3_000, currency: 'EUR' })).status).toBe(400);
    const announced = await announce(y('2027-01-01'));
    expect(announced.body.items[0]).toMatchObject({
      unit_price: usd(2_000),
      pending_price: { amount: usd(3_000), effective_on: y('2027-01-01') },
    });
    expect(announced.body.upcoming.slice(0, 2).map((one: any) => one.estimated_total)).toEqual([usd(1_800), usd(2_700)]);
    await at(y('2026-12-05T09:00:00.000Z'));
    expect(await becomes('the first order', body.id, one => one.cycle_index === 1)).toMatchObject({
      items: [{ unit_price: usd(3_000), pending_price: null }],
    });
    await at(y('2027-01-05T09:00:00.000Z'));
    await becomes('the second', body.id, one => one.cycle_index === 2);
    expect((await ordersOf(body.id)).map(one => one.total)).toEqual([1_800, 2_700]);
  });

  test('is ordered now when somebody asks, once, and goes on from today', async () => {
    await begin();
    const { body } = await subscribe(await sell(), { first_order_on: y('2026-12-20') });
    expect((await change(body.id, 'order-now')).status).toBe(200);
    await becomes('the order', body.id, one => one.cycle_index === 1);
    expect(await read(body.id)).toMatchObject({ next_order_on: y('2026-12-20') });
    expect(await ordersOf(body.id)).toMatchObject([{ status: 'placed' }]);
  });

  test('a rhythm changes from the next cycle on, or moves the next order as well', async () => {
    await begin();
    const { body } = await subscribe(await sell(), { first_order_on: y('2026-12-10') });
    const next = await change(body.id, 'cadence', { cadence: { unit: 'week', count: 1 } });
    expect(dates(next.body).slice(0, 3)).toEqual([y('2026-12-10'), y('2026-12-17'), y('2026-12-24')]);
    expect(next.body.items[0]).toMatchObject({ discount_bps: 0, unit_price: usd(2_000) });
    const now = await change(body.id, 'cadence', { cadence: { unit: 'week', count: 1 }, effective: 'now' });
    expect(dates(now.body).slice(0, 2)).toEqual([y('2026-12-01'), y('2026-12-08')]);
    const on = await change(body.id, 'cadence', { cadence: MONTHLY, effective: 'now', next_order_on: y('2026-12-31') });
    expect(dates(on.body).slice(0, 2)).toEqual([y('2026-12-31'), y('2027-01-31')]); // February has a day more in some years
    expect(told(await change(body.id, 'cadence', { cadence: { unit: 'month', count: 3 } }))).toBe('409 offer_not_available');
    expect((await change(body.id, 'cadence', { cadence: { unit: 'month', count: 13 } })).status).toBe(400);
  });
});

describe('whose it is, and what it may be', () => {
  test("a member has the own ones; another's is as unknown as a random id, and the list of another is 404", async () => {
    await begin();
    const [mine, theirs] = [await shop.member(DEMO), await shop.member(DEMO2)];
    const variant = await sell();
    const { status, body } = await subscribe(variant, {}, mine);
    expect(status).toBe(201);
    const unknown = await shop.rest('GET', `/subscriptions/${randomUUID()}`, undefined, theirs);
    const foreign = await shop.rest('GET', `/subscriptions/${body.id}`, undefined, theirs);
    expect([foreign.status, foreign.body.detail]).toEqual([404, unknown.body.detail]);
    for (const path of ['pause', 'resume', 'skip', 'order-now']) expect((await change(body.id, path, {}, theirs)).status).toBe(404);
    expect((await change(body.id, 'cancel', { reason: 'other' }, theirs)).status).toBe(404);
    expect((await shop.rest('GET', `/subscriptions/customer/${DEMO}`, undefined, theirs)).status).toBe(404);
    const listed = await shop.ok('GET', `/subscriptions/customer/${DEMO}`, undefined, mine);
    expect(listed.data.map((one: any) => one.id)).toContain(body.id);
    const reader = await shop.p.userToken(DEMO, ['read:subscriptions']);
    expect((await change(body.id, 'pause', {}, reader)).status).toBe(403);
    expect((await shop.rest('GET', `/subscriptions/${body.id}`, undefined, reader)).status).toBe(200);
  });

  test('lists every violation of where and when; refuses what is not offered, and a method that is not there', async () => {
    await begin();
    const shipped = await shop.sell({ product: { subscription_offers: OFFERS } });
    const bad = await subscribe(shipped, { first_order_on: y('2027-05-01') });
    expect(bad.status).toBe(400);
    expect(bad.body.errors.map((one: any) => one.pointer).sort()).toEqual(['/first_order_on', '/shipping_address']);
    expect((await subscribe(shipped, { shipping_address: TEXAS })).body.errors).toMatchObject([{ pointer: '/recipient_name' }]);
    expect((await subscribe(shipped, { shipping_address: TEXAS, recipient_name: 'A Buyer' })).body).toMatchObject({
      shipping_address: { city: 'Los Angeles' },
      recipient_name: 'A Buyer',
    });
    expect(told(await subscribe(await sell(), { cadence: { unit: 'month', count: 6 } }))).toBe('409 offer_not_available');
    expect(told(await subscribe(await sell(), { payment_method_id: '00000000-1111-7000-8000-00000000dead' }))).toBe('404 not_found');
  });

  test('what needs a membership is refused without it, waits at a renewal while it is gone, and is never charged then', async () => {
    await begin();
    const variant = await sell(2_000, { purchase_requirement: 'membership', entitlement_key: 'shop.members' });
    const user = randomUUID();
    expect(told(await subscribe(variant, {}, shop.token, user))).toBe('403 requirement_not_met');
    await shop.grant(user, 'membership:shop.members');
    const { body } = await subscribe(variant, { first_order_on: y('2026-11-25') }, shop.token, user);
    await shop.p.sql('delete from commerce.embedded_grant where user_id = $1', [user]);
    await at(y('2026-11-25T09:00:00.000Z'));
    await until(
      'a renewal that waits',
      () => cyclesOf(body.id),
      rows => rows[0].code === 'requirement_not_met',
      20_000,
    );
    expect(await ordersOf(body.id)).toEqual([]);
    await shop.grant(user, 'membership:shop.members');
    const prescription = {
      medication_request_id: randomUUID(),
      medication: 'semaglutide',
      intent: 'order' as const,
      authored_on: y('2026-11-25'),
    };
    await shop.tell('patient-graph', medicationPrescribed, prescription, user, 'commerce.subscriptions');
    await becomes('the renewal', body.id, one => one.cycle_index === 1);
    expect(await ordersOf(body.id)).toMatchObject([{ status: 'placed' }]);
  });

  test('a vial that is used up suggests a refill, one that expired does not, and nothing is ordered', async () => {
    await begin();
    const user = randomUUID();
    const { body } = await subscribe(await sell(), { first_order_on: y('2026-12-24') }, shop.token, user);
    const say = (reason: 'expired' | 'used_up') =>
      shop.tell(
        'clinical',
        vialDiscarded,
        { vial_id: randomUUID(), reason, discarded_at: y('2026-11-24T12:00:00.000Z') },
        user,
        'commerce.subscriptions',
      );
    await say('expired');
    expect(await read(body.id)).toMatchObject({ refill_suggested: false });
    await say('used_up');
    expect(await read(body.id)).toMatchObject({ refill_suggested: true });
    expect(await ordersOf(body.id)).toEqual([]);
  });

  test('a decline that payments tells of later counts once, whether the answer or the event comes first', async () => {
    await begin();
    const user = randomUUID();
    const { body } = await subscribe(
      await sell(2_002, { subscription_offers: [{ cadence: MONTHLY, discount_bps: 0 }] }),
      { first_order_on: y('2026-11-25') },
      shop.token,
      user,
    );
    await at(y('2026-11-25T09:00:00.000Z'));
    await becomes('the decline', body.id, one => one.status === 'past_due');
    const [order] = await ordersOf(body.id);
    await at(y('2026-11-25T10:00:00.000Z'));
    const data = {
      payment_id: randomUUID(),
      attempt: 1,
      amount: 2_002,
      currency: 'USD',
      category: 'soft',
      decline_code: 'generic_decline',
      retryable: true,
    };
    await shop.tell(
      'payments',
      paymentFailed,
      { ...data, next_attempt_at: null, invoice_id: null, order_id: order.id, subscription_id: null },
      user,
      'commerce.payments',
    );
    expect(await cyclesOf(body.id)).toMatchObject([{ attempts: 1, status: 'processing' }]);
    expect((await read(body.id)).upcoming[0]).toMatchObject({ next_attempt_at: y('2026-11-26T09:00:00.000Z') });
  });
});

describe('lines of a cart that come again', () => {
  test('begin a recurring order when the cart is ordered, whose first cycle that order is, at the price that was paid', async () => {
    await begin();
    const user = randomUUID();
    const [again, once] = [await sell(), await sell(500)];
    const { cart } = await shop.cart(user, [{ variant: once, quantity: 1 }]);
    expect((await shop.put(cart.id, again, 2, { cadence: { unit: 'month', count: 7 } })).body.reason).toBe('not_sold_here');
    expect((await shop.put(cart.id, again, 2, { cadence: MONTHLY })).status).toBe(200);
    expect((await shop.checkout(cart.id, { payment_method_id: undefined })).status).toBe(400);
    const { body } = await shop.checkout(cart.id);
    expect(body).toMatchObject({ status: 'placed', order: { totals: { total: usd(4_100) } } });
    const { data } = await shop.ok('GET', `/subscriptions/customer/${user}`);
    expect(data).toMatchObject([
      {
        status: 'active',
        cycle_index: 1,
        cadence: MONTHLY,
        next_order_on: y('2026-12-24'),
        items: [{ variant: { id: again.id }, quantity: 2, unit_price: usd(2_000), discount_bps: 1_000 }],
      },
    ]);
    expect(await cyclesOf(data[0].id)).toMatchObject([
      { cycle: 0, status: 'placed' },
      { cycle: 1, status: 'scheduled' },
    ]);
  });
});
