import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { locksInOrder } from '../support/locks.js';
import { BRAND, DEMO, DEMO2, type Answer } from '../support/platform.js';
import { until } from '../support/until.js';
import { ADDRESS, CARD, Shop, TEXAS, usd } from './shop.js';

let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open();
}, 400_000);

const reasons = (answers: { status: number; body: any }[]): string[] =>
  answers.map(({ status, body }) => `${status} ${body.reason ?? ''}`.trim());

describe('money', () => {
  test('1: lines 3 × 1999 and 1 × 4500, 10 %, 82500 ppm, shipping 599 cost 10825', async () => {
    const code = `TEN${Date.now()}`;
    await shop.promo(code, 1_000);
    const [a, b] = [await shop.sell({ price: 1_999 }), await shop.sell({ price: 4_500 })];
    const { cart } = await shop.cart(randomUUID(), [
      { variant: a, quantity: 3 },
      { variant: b, quantity: 1 },
    ]);
    const updated = await shop.ok('PATCH', `/carts/${cart.id}`, {
      promo_code: code,
      shipping_address: ADDRESS,
      recipient_name: 'A Buyer',
      shipping_method_code: 'standard',
    });
    expect(updated.items.map((one: any) => [one.discount.amount, one.tax.amount])).toEqual([
      [600, 445],
      [450, 334],
    ]);
    expect(updated.totals).toMatchObject({
      subtotal: usd(10_497),
      discount: usd(1_050),
      shipping: usd(599),
      tax: usd(779),
      total: usd(10_825),
      estimated: false,
    });
    const read = await shop.ok('GET', `/carts/${cart.id}`);
    expect(read.totals).toEqual(updated.totals);
    const done = await shop.checkout(cart.id, { shipping_address: ADDRESS, expected_total: usd(10_825) });
    expect(done).toMatchObject({
      status: 200,
      body: { status: 'placed', order: { payment_status: 'paid', totals: { total: usd(10_825) } } },
    });
    expect((await shop.payment(done.body.order.id)).amount).toBe(10_825);
  });

  test('a cart whose address lacks a name costs what it will cost, and says what is missing', async () => {
    const variant = await shop.sell({ price: 1_999 });
    const { cart } = await shop.cart(randomUUID(), [{ variant, quantity: 1 }]);
    expect(cart.problems).toMatchObject([{ code: 'address_required', message: 'An address is needed' }]);
    const seen = await shop.ok('PATCH', `/carts/${cart.id}`, { shipping_address: TEXAS });
    expect(seen.problems).toMatchObject([{ code: 'address_required', blocking: true, message: "The address needs a recipient's name" }]);
    expect([seen.totals.shipping, seen.shipping_options.length > 0]).toEqual([usd(599), true]);
    const { body } = await shop.checkout(cart.id, { shipping_address: undefined, expected_total: seen.totals.total });
    expect(body).toMatchObject({ status: 'placed', order: { totals: { total: seen.totals.total } } });
  });

  test('8: a price that rose after adding, with the old expected total, is a 409 price_changed and makes no order', async () => {
    const variant = await shop.sell({ price: 1_999 });
    const { cart } = await shop.cart(randomUUID(), [{ variant, quantity: 1 }]);
    await shop.ok('POST', `/admin/variants/${variant.id}/prices`, { prices: [{ amount: usd(2_099) }] });
    const seen = await shop.ok('GET', `/carts/${cart.id}`);
    expect(seen.problems).toContainEqual(
      expect.objectContaining({ code: 'price_changed', blocking: false, expected: '1999', actual: '2099' }),
    );
    const answer = await shop.checkout(cart.id, { expected_total: usd(1_999 + 599) });
    expect(answer).toMatchObject({ status: 409, body: { reason: 'price_changed', errors: [{ message: String(2_099 + 599) }] } });
    expect(await shop.p.sql('select 1 from commerce.shop_order where cart_id = $1', [cart.id])).toEqual([]);
  });

  test('16: a price in a request is an unknown key', async () => {
    const variant = await shop.sell();
    const { cart } = await shop.cart(randomUUID());
    const answer = await shop.put(cart.id, variant, 1, { unit_price: 1 });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/unit_price' }] } });
  });

  test('12: a promo of 100 % places the order without a session, and its redemption counts once', async () => {
    const code = `FREE${Date.now()}`;
    await shop.promo(code, 10_000);
    const variant = await shop.sell({ more: { requires_shipping: false } });
    const { cart } = await shop.cart(randomUUID(), [{ variant, quantity: 1 }]);
    const done = await shop.checkout(cart.id, { promo_code: code });
    expect(done).toMatchObject({ status: 200, body: { status: 'placed', checkout_session: null, order: { totals: { total: usd(0) } } } });
    const holds = () => shop.p.sql('select status from commerce.embedded_promo_hold where order_id = $1', [done.body.order.id]);
    expect(await until('the redemption', holds, rows => rows[0]?.status === 'redeemed')).toHaveLength(1);
    expect(await shop.payment(done.body.order.id)).toBeUndefined();
  });

  test('19: an unknown promo and one of another brand are answered alike', async () => {
    const variant = await shop.sell();
    await shop.p.sql(
      `insert into commerce.embedded_promo (brand_id, code, id, percent_bps) values (gen_random_uuid(), 'OTHERS', gen_random_uuid(), 1000)`,
    );
    const ask = (code: string) => shop.ok('POST', '/promo-codes/validate', { code, items: [{ variant_id: variant.id, quantity: 1 }] });
    const [unknown, foreign] = [await ask('NOPE'), await ask('OTHERS')];
    expect({ ...foreign, code: '' }).toEqual({ ...unknown, code: '' });
    expect(unknown).toMatchObject({ valid: false, reason: 'unknown', discount: usd(0) });
  });
});

describe('stock', () => {
  test('4: of 10 units 100 carts that add one at once get 10, and 90 are told insufficient_stock', async () => {
    const variant = await shop.sell({ stock: 10 });
    const carts = await Promise.all(Array.from({ length: 100 }, async () => (await shop.cart(randomUUID())).cart.id as string));
    const answers = await Promise.all(carts.map(id => shop.put(id, variant, 1)));
    expect(answers.filter(one => one.status === 200)).toHaveLength(10);
    expect(answers.filter(one => one.status === 409 && one.body.reason === 'insufficient_stock')).toHaveLength(90);
    expect(await shop.available(variant)).toBe(0);
  }, 60_000);

  test('5: a bundle of two A and one more A need three', async () => {
    const part = await shop.sell({ stock: 2 });
    const bundle = await shop.sell({ components: [{ sku: part.sku, quantity: 2 }] });
    const { cart } = await shop.cart(randomUUID(), [{ variant: bundle, quantity: 1 }]);
    expect(reasons([await shop.put(cart.id, part, 1)])).toEqual(['409 insufficient_stock']);
    await shop.ok('POST', '/admin/inventory/adjustments', { sku: part.sku, quantity: 1, receipt: true, reason: 'Delivery' });
    expect((await shop.put(cart.id, part, 1)).status).toBe(200);
    expect([await shop.available(part), await shop.available(bundle)]).toEqual([0, 0]);
  });

  test('24: an order of 3 is taken from the lot with 60 days left, not from that with 10', async () => {
    const variant = await shop.sell({
      lots: [
        { number: 'L1', quantity: 5, expires: '2026-12-04' },
        { number: 'L2', quantity: 5, expires: '2027-01-23' },
      ],
    });
    const order = await shop.order([{ variant, quantity: 3 }]);
    expect(order.items[0].lots).toEqual([{ sku: variant.sku, lot_number: 'L2', expires_on: '2027-01-23', quantity: 3 }]);
  });

  test('the lot that expires first is taken first, and two lots are taken where one is not enough', async () => {
    const variant = await shop.sell({
      lots: [
        { number: 'LATE', quantity: 5, expires: '2028-01-01' },
        { number: 'EARLY', quantity: 2, expires: '2027-06-01' },
      ],
    });
    const order = await shop.order([{ variant, quantity: 3 }]);
    expect(order.items[0].lots.map((one: any) => [one.lot_number, one.quantity])).toEqual([
      ['EARLY', 2],
      ['LATE', 1],
    ]);
  });

  test('lines of one order that need the same units never have the same ones: of a lot, and of a place', async () => {
    const lots = ['2027-06-01', '2028-01-01'].map((expires, index) => ({ number: `L${index}`, quantity: 1, expires }));
    const [dated, plain] = [await shop.sell({ lots }), await shop.sell({ stock: 1 })];
    const [west] = await shop.p.sql(`select id from commerce.inventory_location where code = 'west'`);
    const delivery = { sku: plain.sku, quantity: 1, location_id: west.id, receipt: true, reason: 'Delivery' };
    await shop.ok('POST', '/admin/inventory/adjustments', delivery);
    const components = [dated, plain].map(({ sku }) => ({ sku, quantity: 1 }));
    const both = await shop.sell({ components });
    const order = await shop.order([dated, plain, both].map(variant => ({ variant, quantity: 1 })));
    const taken = `select lot_number as lot, location_id as place from commerce.order_item_lot a join commerce.order_item i on i.id = a.order_item_id
      where i.order_id = $1 and a.variant_id = $2`;
    expect(new Set((await shop.p.sql(taken, [order.id, dated.id])).map(one => one.lot))).toEqual(new Set(['L0', 'L1']));
    expect(new Set((await shop.p.sql(taken, [order.id, plain.id])).map(one => one.place)).size).toBe(2);
    const levels =
      'select sum(allocated)::int as n, max(allocated - on_hand) as over from commerce.inventory_level where variant_id = any($1)';
    expect(await shop.p.sql(levels, [[dated.id, plain.id]])).toEqual([{ n: 4, over: 0 }]);
  });

  test.each(['quarantined', 'recalled'])(
    '26: of a lot that is %s nothing is available, a cart that had it is told, a checkout that is paid is cancelled and refunded',
    async state => {
      const variant = await shop.sell({
        price: 1_003,
        lots: [{ number: 'ONLY', quantity: 5, expires: '2028-01-01' }],
        more: { requires_shipping: false },
      });
      const paying = await shop.cart(randomUUID(), [{ variant, quantity: 2 }]);
      const user = paying.cart.user_id;
      const open = await shop.checkout(paying.cart.id, { payment_method_id: undefined });
      expect(open.body.status).toBe('requires_action');
      const other = await shop.cart(randomUUID(), [{ variant, quantity: 3 }]);
      const { data } = await shop.ok('GET', `/admin/inventory/lots?sku=${variant.sku}`);
      if (state === 'quarantined') await shop.ok('POST', `/admin/inventory/lots/${data[0].id}/quarantine`, { reason: 'Check' });
      else await shop.ok('POST', '/admin/inventory/recall', { sku: variant.sku, lot_number: 'ONLY', reason: 'Bad' });
      expect(await shop.available(variant)).toBe(0);
      expect(reasons([await shop.put((await shop.cart(randomUUID())).cart.id, variant, 1)])).toEqual(['409 insufficient_stock']);
      const seen = await shop.ok('GET', `/carts/${other.cart.id}`);
      expect(seen.items[0].problems.map((one: any) => one.code)).toEqual(['insufficient_stock']);
      const order = open.body.order;
      await shop.p.sql(`update commerce.embedded_payment set status = 'COMPLETE' where order_id = $1`, [order.id]);
      await shop.paid(order.id, user, { card: order.totals.total.amount });
      expect(await shop.read(order.id)).toMatchObject({ status: 'cancelled', cancel_reason: 'inventory' });
      await shop.refunded(order.id, order.totals.total.amount);
      expect(Object.keys((await shop.payment(order.id)).refunds)).toHaveLength(1);
    },
  );

  test('26: of a lot with 14 days left nothing is available', async () => {
    const variant = await shop.sell({ lots: [{ number: 'ENDS', quantity: 5, expires: '2026-12-08' }] });
    expect(await shop.available(variant)).toBe(0);
    const fresh = await shop.sell({ lots: [{ number: 'LASTS', quantity: 5, expires: '2026-12-09' }] });
    expect(await shop.available(fresh)).toBe(5);
  });

  test('33: a stock notice sends one message when a delivery comes, and none at the next', async () => {
    const user = DEMO;
    const token = await shop.member(user);
    const variant = await shop.sell({ stock: 0 });
    const notice = await shop.ok('POST', '/stock-notices', { variant_id: variant.id }, token);
    const receive = () =>
      shop.ok('POST', '/admin/inventory/adjustments', { sku: variant.sku, quantity: 5, receipt: true, reason: 'Delivery' });
    await receive();
    await receive();
    expect(await shop.events('comms.message.send_requested.v1', user)).toMatchObject([
      { template: 'back_in_stock', dedupe_key: `stock:${notice.id}` },
    ]);
    expect(reasons([await shop.rest('POST', '/stock-notices', { variant_id: variant.id }, token)])).toEqual(['409 in_stock']);
  });

  test('33: of more people who wait than one transaction may tell, each is told once', async () => {
    const variant = await shop.sell({ stock: 0 });
    const waiting = `insert into commerce.stock_notice (id, user_id, variant_id, created_at)
      select gen_random_uuid(), gen_random_uuid(), $1, now() from generate_series(1, 1100)`;
    await shop.p.sql(waiting, [variant.id]);
    await shop.ok('POST', '/admin/inventory/adjustments', { sku: variant.sku, quantity: 5, receipt: true, reason: 'Delivery' });
    await shop.advance('PT1S');
    const told = `select count(*)::int as told, count(distinct user_id)::int as people from events.outbox
      where type = 'comms.message.send_requested.v1' and data->>'template' = 'back_in_stock' and data->'params'->>'variant_id' = $1`;
    expect(await shop.p.sql(told, [variant.id])).toEqual([{ told: 1_100, people: 1_100 }]);
  });
});

describe('carts', () => {
  test('6: a guest cart is merged by sums, caps and moves, and a repeat merges nothing', async () => {
    const user = randomUUID();
    const [a, b] = [await shop.sell({ stock: 200 }), await shop.sell({ stock: 10 })];
    await shop.cart(user, [{ variant: a, quantity: 98 }]);
    const guest = await shop.cart(null, [
      { variant: a, quantity: 2 },
      { variant: b, quantity: 1 },
    ]);
    const body = { user_id: user, guest_cart_id: guest.cart.id, guest_token: guest.guest_token };
    const merged = await shop.rest('POST', '/carts', body);
    expect(merged).toMatchObject({ status: 200, body: { merged: true, guest_token: null } });
    expect(merged.body.cart.items.map((one: any) => [one.variant.id, one.quantity])).toEqual([
      [a.id, 99],
      [b.id, 1],
    ]);
    expect(merged.body.cart.problems.filter((one: any) => one.code === 'over_max_quantity')).toHaveLength(1);
    const [event] = await shop.events('commerce.cart.merged.v1', user);
    expect(event).toMatchObject({ items_moved: 1, items_summed: 1, items_capped: 1, items_dropped: 0 });
    const again = await shop.rest('POST', '/carts', body);
    expect(again).toMatchObject({ status: 200, body: { merged: false, cart: { version: merged.body.cart.version } } });
  });

  test("7: another user's cart is the 404 of a random id", async () => {
    const token = await shop.member(DEMO2);
    const { cart } = await shop.cart(randomUUID());
    const answers = [
      await shop.rest('GET', `/carts/${cart.id}`, undefined, token),
      await shop.rest('GET', `/carts/${randomUUID()}`, undefined, token),
    ];
    const shown = answers.map(({ status, body }) => ({ status, body: { ...body, request_id: null } }));
    expect(shown[0]).toEqual(shown[1]);
    expect(shown[0]!.status).toBe(404);
  });

  test('a guest cart answers to its token, in its header, and to no other', async () => {
    const variant = await shop.sell();
    const guest = await shop.cart(null, [{ variant, quantity: 1 }]);
    expect(guest.guest_token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const stranger = await shop.member(DEMO2);
    const ask = (token?: string) =>
      shop.rest('GET', `/carts/${guest.cart.id}`, undefined, stranger, token ? { 'x-platform-cart-token': token } : {});
    expect((await Promise.all([ask(guest.guest_token), ask(), ask('x'.repeat(43))])).map(one => one.status)).toEqual([200, 404, 404]);
    expect(JSON.stringify(await shop.p.sql('select * from commerce.cart where id = $1', [guest.cart.id]))).not.toContain(guest.guest_token);
  });

  test('23: a guest cart is not checked out, also by a service', async () => {
    const variant = await shop.sell();
    const guest = await shop.cart(null, [{ variant, quantity: 1 }]);
    expect(reasons([await shop.checkout(guest.cart.id)])).toEqual(['409 sign_in_required']);
  });

  test('a line is refused for what it is not sold in, for too many, and a cart that was changed', async () => {
    const [variant, euro] = [
      await shop.sell({ stock: 500 }),
      await shop.sell({ prices: [{ amount: { amount: 1_000, currency: 'EUR' } }] }),
    ];
    const { cart } = await shop.cart(randomUUID());
    const answers = [
      await shop.put(cart.id, euro, 1),
      await shop.put(cart.id, variant, 100),
      await shop.put(cart.id, variant, 1, { expected_version: 77 }),
      await shop.put(cart.id, variant, 0),
      await shop.put(cart.id, { ...variant, id: randomUUID() }, 1),
    ];
    expect(reasons(answers)).toEqual(['409 not_sold_here', '409 over_max_quantity', '409 cart_changed', '400', '404']);
    expect((await shop.ok('GET', `/carts/${cart.id}`)).items).toEqual([]);
  });
});

describe('checkout and payment', () => {
  test('9: the same Idempotency-Key and body is the same order with one session, another body is a 422', async () => {
    const variant = await shop.sell();
    const { cart } = await shop.cart(randomUUID(), [{ variant, quantity: 1 }]);
    const headers = { 'idempotency-key': randomUUID() };
    const first = await shop.checkout(cart.id, {}, shop.token, headers);
    const again = await shop.checkout(cart.id, {}, shop.token, headers);
    expect(first).toMatchObject({ status: 200, body: { status: 'placed' } });
    expect(again).toMatchObject({ status: 200, body: { order: { id: first.body.order.id } } });
    expect(await shop.checkout(cart.id, { use_cash: true }, shop.token, headers)).toMatchObject({ status: 422 });
    expect((await shop.payment(first.body.order.id)).attempts).toBe(1);
  });

  test('a repeat by the same key says of a cart, and of an order, what the first answer said, where there is an address, too', async () => {
    const [variant, user, token] = [await shop.sell(), randomUUID(), shop.token];
    const { cart } = await shop.cart(user);
    const address = { shipping_address: TEXAS, recipient_name: 'A Buyer' };
    expect((await shop.rest('PATCH', `/carts/${cart.id}`, address)).status).toBe(200);
    const repeated = async (ask: (headers: Record<string, string>) => Promise<Answer>): Promise<void> => {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await ask(headers);
      expect(first, JSON.stringify(first.body)).toMatchObject({ status: 200 });
      expect(await ask(headers)).toMatchObject({ status: 200, body: first.body, headers: { 'idempotent-replayed': 'true' } });
    };
    await repeated(headers =>
      shop.rest('POST', '/carts', { user_id: user, items: [{ variant_id: variant.id, quantity: 1 }] }, token, headers),
    );
    const document = `mutation Order($input: CheckoutCartInput!) { checkoutCart(input: $input) {
      cart { id status items { id quantity } } order { id items { id sku } shippingAddress { line1 } placedAt } } }`;
    const input = { id: cart.id, paymentMethodId: CARD };
    await repeated(async headers => {
      const answer = await shop.p.graphql(document, { input }, { token, headers });
      expect(answer.errors).toEqual([]);
      return answer;
    });
  });

  test('10: payment.paid three times is one PLACED and one order.placed', async () => {
    const user = randomUUID();
    const variant = await shop.sell({ price: 1_003, more: { requires_shipping: false } });
    const { cart } = await shop.cart(user, [{ variant, quantity: 1 }]);
    const { body } = await shop.checkout(cart.id);
    expect(body).toMatchObject({
      status: 'requires_action',
      checkout_session: { status: 'requires_action', next_action: { type: 'redirect_to_url' } },
      cart: { status: 'checking_out' },
    });
    expect(reasons([await shop.put(cart.id, variant, 1)])).toEqual(['409 cart_not_active']);
    for (let times = 0; times < 3; times++) await shop.paid(body.order.id, user, { card: 1_003 });
    expect(await shop.read(body.order.id)).toMatchObject({ status: 'placed', payment_status: 'paid' });
    expect(await shop.events('order.placed.v1', user)).toMatchObject([
      { order_id: body.order.id, total_amount: 1_003, first_order: true, source: 'web' },
    ]);
    expect(await shop.ok('GET', `/carts/${cart.id}`)).toMatchObject({ status: 'completed' });
    const moves = await shop.p.sql(`select kind from commerce.stock_movement where reference = $1`, [`order:${body.order.id}`]);
    expect(moves).toEqual([{ kind: 'allocation' }]);
  });

  test('a declined payment is a 402 that names the order, and the cart is open again', async () => {
    const variant = await shop.sell({ price: 1_002, more: { requires_shipping: false } });
    const { cart } = await shop.cart(randomUUID(), [{ variant, quantity: 1 }]);
    const answer = await shop.checkout(cart.id);
    expect(answer).toMatchObject({ status: 402, body: { code: 'payment_declined', decline_code: 'generic_decline', retryable: true } });
    expect(await shop.read(answer.body.order_id)).toMatchObject({ status: 'payment_failed', payment_status: 'failed' });
    expect(await shop.ok('GET', `/carts/${cart.id}`)).toMatchObject({ status: 'active', items: [{ quantity: 1, reserved: 1 }] });
  });

  test("rows are locked in one order: a checkout waits for the stock before it takes the brand's next number", async () => {
    const variant = await shop.sell();
    await shop.order([{ variant, quantity: 1 }]); // the brand has a number to lock
    const { cart } = await shop.cart(randomUUID(), [{ variant, quantity: 1 }]);
    const answer = await locksInOrder(
      shop.p,
      {
        held: ['select from commerce.inventory_level where variant_id = $1 for update', [variant.id]],
        waitsIn: 'inventory_level',
        free: ['select from commerce.order_counter where brand_id = $1 for update nowait', [BRAND]],
      },
      () => shop.checkout(cart.id),
    );
    expect(answer).toMatchObject({ status: 200, body: { status: 'placed' } });
  });

  test('the stock of all lines of a cart is locked at once, whatever their order: two who want the same wait for each other', async () => {
    const sold = [await shop.sell(), await shop.sell()].map(one => one.id);
    const level = (id: string, how = ''): [string, string[]] => [
      `select from commerce.inventory_level where variant_id = $1 for update ${how}`,
      [id],
    ];
    const ids = await shop.p.sql('select variant_id as id from commerce.inventory_level where variant_id = any($1) order by id', [sold]);
    const items = ids.toReversed().map(({ id }) => ({ variant_id: id, quantity: 1 }));
    const answer = await locksInOrder(
      shop.p,
      { held: level(ids[0].id), waitsIn: 'inventory_level', free: level(ids[1].id, 'nowait') },
      () => shop.rest('POST', '/carts', { user_id: randomUUID(), items }),
    );
    expect(answer).toMatchObject({ status: 201, body: { cart: { items: [{}, {}] } } });
  });

  test('15: concurrent checkouts of one cart make one order', async () => {
    const variant = await shop.sell();
    const { cart } = await shop.cart(randomUUID(), [{ variant, quantity: 1 }]);
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => shop.checkout(cart.id)));
    const placed = answers.filter(one => one.status === 200);
    expect(new Set(placed.map(one => one.body.order.id)).size).toBe(1);
    expect(await shop.p.sql('select 1 from commerce.shop_order where cart_id = $1', [cart.id])).toHaveLength(1);
    for (const other of answers.filter(one => one.status !== 200)) expect(other.status).toBe(409);
  });

  test('27: cash and card together settle an order, cash alone too, and another amount is refunded with an alert', async () => {
    const user = randomUUID();
    const variant = await shop.sell({ price: 10_803, stock: 3, more: { requires_shipping: false } });
    const open = async () => (await shop.checkout((await shop.cart(user, [{ variant, quantity: 1 }])).cart.id)).body.order.id as string;
    const [mixed] = [await open()];
    await shop.paid(mixed, user, { card: 7_803, cash: 3_000 });
    const cash = await open();
    await shop.paid(cash, user, { card: 0, cash: 10_803 });
    const wrong = await open();
    await shop.p.sql(`update commerce.embedded_payment set status = 'COMPLETE' where order_id = $1`, [wrong]);
    await shop.paid(wrong, user, { card: 7_803, cash: 2_999 });
    expect((await Promise.all([mixed, cash, wrong].map(id => shop.read(id)))).map(one => one.status)).toEqual([
      'placed',
      'placed',
      'pending_payment',
    ]);
    await shop.refunded(wrong, 10_803);
    expect(
      await shop.p.sql(`select 1 from commerce.audit_log where action = 'order.payment_mismatch' and target = $1`, [wrong]),
    ).toHaveLength(1);
  });

  test('22: what needs a membership is not sold while entitlements cannot be asked, and is with a grant', async () => {
    const user = randomUUID();
    const product = { purchase_requirement: 'membership', entitlement_key: 'shop.members' };
    const variant = await shop.sell({ product, more: { requires_shipping: false } });
    const { cart } = await shop.cart(user, [{ variant, quantity: 1 }]);
    expect(reasons([await shop.checkout(cart.id)])).toEqual(['403 requirement_not_met']);
    await shop.grant(user, 'membership:shop.members');
    expect((await shop.checkout(cart.id)).body.status).toBe('placed');
  });

  test('an empty cart, an address that is not served, and a return address of elsewhere are refused', async () => {
    const variant = await shop.sell();
    const [empty, far] = [await shop.cart(randomUUID()), await shop.cart(randomUUID(), [{ variant, quantity: 1 }])];
    const answers = [
      await shop.checkout(empty.cart.id),
      await shop.checkout(far.cart.id, { shipping_address: { ...ADDRESS, country_code: 'JP' } }),
      await shop.checkout(far.cart.id, { return_url: 'https://evil.example/' }),
      await shop.checkout(far.cart.id, { shipping_method_code: 'drone' }),
      await shop.checkout(far.cart.id, { return_url: 'https://main.example/thanks', shipping_method_code: 'express' }),
    ];
    expect(reasons(answers)).toEqual(['409 cart_empty', '409 cart_blocked', '400', '409 cart_blocked', '200']);
  });

  test("a buyer's own order shows the lot of each unit, and another member finds none of it", async () => {
    const user = DEMO;
    const variant = await shop.sell({ lots: [{ number: 'B-7', quantity: 4, expires: '2028-01-01' }] });
    const order = await shop.order([{ variant, quantity: 2 }], user);
    const mine = await shop.rest('GET', `/orders/${order.id}`, undefined, await shop.member(user));
    expect(mine).toMatchObject({
      status: 200,
      body: { recipient_name: 'A Buyer', shipping_address: { line1: TEXAS.line1 }, items: [{ lots: [{ lot_number: 'B-7' }] }] },
    });
    expect((await shop.rest('GET', `/orders/${order.id}`, undefined, await shop.member(DEMO2))).status).toBe(404);
    const stored = JSON.stringify(await shop.p.sql('select * from commerce.shop_order where id = $1', [order.id]));
    expect(stored).not.toContain('Main Street');
  });
});

describe('time', () => {
  test('a line is held for 15 minutes from its last change, 60 in a row at most; then anybody has its units', async () => {
    const variant = await shop.sell({ stock: 2 });
    const { cart } = await shop.cart(randomUUID(), [{ variant, quantity: 1 }]);
    for (const minutes of [14, 28, 42, 56]) {
      await shop.advance('PT14M');
      expect((await shop.put(cart.id, variant, 1, { mode: 'set' })).status, `after ${minutes} minutes`).toBe(200);
    }
    await shop.advance('PT3M');
    expect(await shop.available(variant)).toBe(1);
    await shop.advance('PT1M');
    expect(await shop.available(variant)).toBe(2);
    const { cart: other } = await shop.cart(randomUUID());
    expect((await shop.put(other.id, variant, 2)).status).toBe(200);
  });

  test('a reservation that has ended stops counting at once; the line stays and is held again at checkout', async () => {
    const variant = await shop.sell({ stock: 1 });
    const { cart } = await shop.cart(randomUUID(), [{ variant, quantity: 1 }]);
    expect(await shop.available(variant)).toBe(0);
    await shop.advance('PT16M');
    expect(await shop.available(variant)).toBe(1);
    expect((await shop.ok('GET', `/carts/${cart.id}`)).items).toMatchObject([{ quantity: 1, reserved: 0, problems: [] }]);
    expect((await shop.checkout(cart.id)).body.status).toBe('placed');
    await shop.advance('P31D');
    const late = await shop.cart(randomUUID());
    await shop.advance('P31D');
    expect(reasons([await shop.put(late.cart.id, variant, 1)])).toEqual(['409 cart_not_active']);
  });
});
