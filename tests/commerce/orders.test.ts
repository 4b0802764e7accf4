import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { paymentRefunded } from '../../events/catalogue/payments.js';
import { locksInOrder, waitingIn } from '../support/locks.js';
import { ADMIN, DEMO, DEMO2, type Answer } from '../support/platform.js';
import { until } from '../support/until.js';
import { Shop, usd, type Variant } from './shop.js';

let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open();
}, 400_000);

const NO_SHIPPING = { requires_shipping: false };
const reasons = (answers: { status: number; body: any }[]): string[] =>
  answers.map(({ status, body }) => `${status} ${body.reason ?? ''}`.trim());

/** As many orders as are wanted beside one of one line out of one lot, of other people and paid elsewhere. */
async function copies(order: any, count: number): Promise<void> {
  await shop.p.sql(
    `with copied as materialized (
       select gen_random_uuid() as order_id, gen_random_uuid() as user_id, gen_random_uuid() as item_id, n from generate_series(1, $2::int) n
     ), orders as (
       insert into commerce.shop_order select (jsonb_populate_record(o, jsonb_build_object('id', c.order_id, 'user_id', c.user_id, 'number', o.number || '-' || c.n,
         'cart_id', null, 'personal', null, 'payment_status', 'external', 'checkout_session_id', null))).* from commerce.shop_order o, copied c where o.id = $1
     ), items as (
       insert into commerce.order_item select (jsonb_populate_record(i, jsonb_build_object('id', c.item_id, 'order_id', c.order_id))).*
       from commerce.order_item i, copied c where i.order_id = $1
     )
     insert into commerce.order_item_lot select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'order_item_id', c.item_id))).*
     from commerce.order_item_lot a join commerce.order_item i on i.id = a.order_item_id, copied c where i.order_id = $1`,
    [order.id, count],
  );
}

/** An order that waits for its payment. */
async function unpaid(variant: Variant, quantity: number, user: string, more: object = {}): Promise<any> {
  const { cart } = await shop.cart(user, [{ variant, quantity }]);
  const { body } = await shop.checkout(cart.id, { payment_method_id: undefined, ...more });
  return body.order;
}

const complete = (id: string) => shop.p.sql(`update commerce.embedded_payment set status = 'COMPLETE' where order_id = $1`, [id]);

describe('orders that nobody pays in time', () => {
  test('11: one that is paid late is placed while stock is left, else cancelled with one refund of its total', async () => {
    const [lucky, late] = [randomUUID(), randomUUID()];
    const variant = await shop.sell({ price: 2_000, stock: 2, more: NO_SHIPPING });
    const orders = [await unpaid(variant, 1, lucky), await unpaid(variant, 1, late)];
    await shop.advance('PT31M');
    expect((await Promise.all(orders.map(one => shop.read(one.id)))).map(one => one.status)).toEqual(['expired', 'expired']);
    const carts = await shop.p.sql('select status from commerce.cart where user_id = any($1)', [[lucky, late]]);
    expect(carts.map(one => one.status)).toEqual(['active', 'active']);
    await shop.advance('PT61M'); // the reopened carts hold nothing any more
    await complete(orders[0].id);
    await shop.paid(orders[0].id, lucky, { card: 2_000 });
    expect(await shop.read(orders[0].id)).toMatchObject({ status: 'placed', payment_status: 'paid' });
    expect(
      await shop.p.sql(`select 1 from commerce.audit_log where action = 'order.revived' and target = $1`, [orders[0].id]),
    ).toHaveLength(1);
    await shop.order([{ variant, quantity: 1 }]);
    await complete(orders[1].id);
    await shop.paid(orders[1].id, late, { card: 2_000 });
    expect(await shop.read(orders[1].id)).toMatchObject({ status: 'cancelled', cancel_reason: 'late_payment' });
    await shop.refunded(orders[1].id, 2_000);
    expect(Object.keys((await shop.payment(orders[1].id)).refunds)).toHaveLength(1);
  });

  test('29: an order that expired, whose promo another has used up, is placed with its discount when it is paid late; both count', async () => {
    const code = `ONCE${Date.now()}`;
    await shop.promo(code, 1_000, 1);
    const variant = await shop.sell({ price: 2_000, stock: 5, more: NO_SHIPPING });
    const user = randomUUID();
    const order = await unpaid(variant, 1, user, { promo_code: code });
    expect(order.totals.discount).toEqual(usd(200));
    await shop.advance('PT31M');
    const hold = () => shop.p.sql('select status from commerce.embedded_promo_hold where order_id = $1', [order.id]);
    await until('the code to be released', hold, rows => rows[0]?.status === 'released');
    const other = await shop.order([{ variant, quantity: 1 }], randomUUID(), { promo_code: code });
    await complete(order.id);
    await shop.paid(order.id, user, { card: 1_800 });
    expect(await shop.read(order.id)).toMatchObject({ status: 'placed', totals: { discount: usd(200), total: usd(1_800) } });
    const redeemed = () => shop.p.sql(`select order_id from commerce.embedded_promo_hold where code = $1 and status = 'redeemed'`, [code]);
    const rows = await until('both to count', redeemed, found => found.length === 2);
    expect(new Set(rows.map(one => one.order_id))).toEqual(new Set([order.id, other.id]));
  });
});

describe('after an order is placed', () => {
  test('one that expired, was paid late and is cancelled after all is paid back', async () => {
    const [user, variant] = [randomUUID(), await shop.sell({ price: 2_000, more: NO_SHIPPING })];
    const order = await unpaid(variant, 1, user);
    await complete(order.id);
    await shop.advance('PT31M');
    await shop.paid(order.id, user, { card: 2_000 });
    expect(await shop.read(order.id)).toMatchObject({ status: 'placed' });
    expect(await shop.ok('POST', `/orders/${order.id}/cancel`, {})).toMatchObject({ status: 'cancelled' });
    await shop.refunded(order.id, 2_000);
  });

  test('a member cancels the own order until it is shipped: stock comes back and all is refunded', async () => {
    const variant = await shop.sell({ price: 3_000, stock: 3 });
    const order = await shop.order([{ variant, quantity: 2 }], DEMO);
    const token = await shop.member(DEMO);
    expect((await shop.rest('POST', `/orders/${order.id}/cancel`, {}, await shop.member(DEMO2))).status).toBe(404);
    const cancelled = await shop.rest('POST', `/orders/${order.id}/cancel`, {}, token);
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled', cancel_reason: 'customer' } });
    expect(await shop.available(variant)).toBe(3);
    await shop.refunded(order.id, order.totals.total.amount);
    expect((await shop.rest('POST', `/orders/${order.id}/cancel`, {}, token)).status).toBe(409);
    const shipped = await shop.order([{ variant, quantity: 1 }], DEMO);
    await shop.ok('POST', `/orders/${shipped.id}/fulfillments`, { carrier: 'ups', tracking_number: '1Z' });
    expect(reasons([await shop.rest('POST', `/orders/${shipped.id}/cancel`, {}, token)])).toEqual(['409 shipped']);
  });

  test('an order that is shipped in parts and delivered goes from unfulfilled to delivered, and is complete', async () => {
    const variant = await shop.sell({ stock: 5 });
    const order = await shop.order([{ variant, quantity: 3 }]);
    const [item] = order.items;
    const first = await shop.ok('POST', `/orders/${order.id}/fulfillments`, { items: [{ item_id: item.id, quantity: 1 }] });
    expect(first).toMatchObject({ status: 'placed', fulfillment_status: 'partially_fulfilled' });
    const all = await shop.ok('POST', `/orders/${order.id}/fulfillments`, {});
    expect(all).toMatchObject({ status: 'completed', fulfillment_status: 'fulfilled' });
    for (const parcel of all.fulfillments) await shop.ok('POST', `/fulfillments/${parcel.id}/delivered`);
    expect(await shop.read(order.id)).toMatchObject({ fulfillment_status: 'delivered' });
    const level = (await shop.ok('GET', `/admin/inventory/levels?sku=${variant.sku}`)).data[0];
    expect(level).toMatchObject({ on_hand: 2, allocated: 0 });
  });

  test('a return that is restocked is sold again, and the units are paid back by their share', async () => {
    const variant = await shop.sell({ price: 333, stock: 3, more: NO_SHIPPING });
    const order = await shop.order([{ variant, quantity: 3 }]);
    const body = (quantity: number) => ({ items: [{ item_id: order.items[0].id, quantity, restock: true }], refund: true });
    expect(reasons([await shop.rest('POST', `/orders/${order.id}/returns`, body(1))])).toEqual(['409 not_shipped']);
    await shop.ok('POST', `/orders/${order.id}/fulfillments`, {});
    const returned = await shop.ok('POST', `/orders/${order.id}/returns`, body(1));
    expect(returned.items[0]).toMatchObject({ returned_quantity: 1, refunded_quantity: 1 });
    await shop.refunded(order.id, 333);
    await shop.ok('POST', `/orders/${order.id}/returns`, body(2));
    await shop.refunded(order.id, 999);
    expect(await shop.read(order.id)).toMatchObject({ fulfillment_status: 'returned' });
    expect(await shop.available(variant)).toBe(3);
  });

  test('a bundle that comes back by the lot of one part comes back whole; of a lot that it was not of, nothing does', async () => {
    const part = await shop.sell({ stock: 10 });
    const lots = ['2028-01-01', '2028-02-01'].map((expires, index) => ({ number: `P${index}`, quantity: 1, expires }));
    const dated = await shop.sell({ lots });
    const components = [part, dated].map(({ sku }) => ({ sku, quantity: 1 }));
    const order = await shop.order([{ variant: await shop.sell({ price: 5_000, components }), quantity: 2 }]);
    await shop.ok('POST', `/orders/${order.id}/fulfillments`, {});
    const giveBack = (lot_number: string) =>
      shop.rest('POST', `/orders/${order.id}/returns`, { items: [{ item_id: order.items[0].id, quantity: 1, lot_number, restock: true }] });
    expect(reasons([await giveBack('NONE')])).toEqual(['409 not_shipped']);
    expect((await giveBack('P1')).body).toMatchObject({ items: [{ returned_quantity: 1 }] });
    expect([await shop.available(part), await shop.available(dated)]).toEqual([9, 1]);
  });

  test('a refund that payments tells of changes payment status and what was refunded', async () => {
    const user = randomUUID();
    const variant = await shop.sell({ price: 5_000, more: NO_SHIPPING });
    const order = await shop.order([{ variant, quantity: 1 }], user);
    const tell = (amount: number, refundedSoFar: number) =>
      shop.tell(
        'payments',
        paymentRefunded,
        {
          refund_id: randomUUID(),
          payment_id: randomUUID(),
          amount,
          currency: 'USD',
          status: 'succeeded',
          reason: 'goodwill',
          origin: 'staff',
          to_cash: false,
          cash_return_amount: 0,
          tax_amount: 0,
          order_id: order.id,
          invoice_id: null,
          subscription_id: null,
          payment_amount: 5_000,
          total_refunded: refundedSoFar,
          credit_return_amount: 0,
          obligation_type: 'order',
          obligation_id: order.id,
          obligation_amount: 5_000,
          obligation_refunded: refundedSoFar,
        },
        user,
        'commerce.payments',
      );
    await tell(1_000, 1_000);
    expect(await shop.read(order.id)).toMatchObject({ payment_status: 'partially_refunded', totals: { refunded: usd(1_000) } });
    await tell(4_000, 5_000);
    expect(await shop.read(order.id)).toMatchObject({ payment_status: 'refunded', status: 'placed', totals: { refunded: usd(5_000) } });
  });
});

/** What a line has comes from another lot when a call has begun and waits for stock: it could not know of it. */
async function takesMeanwhile(itemId: string, lotId: string, held: [string, unknown[]], call: () => Promise<Answer>): Promise<Answer> {
  const other = new pg.Client({ connectionString: shop.p.env.DATABASE_URL });
  await other.connect();
  try {
    await other.query('begin');
    await other.query(...held);
    const answer = call();
    await waitingIn(shop.p, 'inventory_level');
    const taken = `with gone as (update commerce.inventory_lot set allocated = 0 where id = (select lot_id from commerce.order_item_lot where order_item_id = $1)),
      come as (update commerce.inventory_lot set allocated = 1 where id = $2 returning id, lot_number)
      update commerce.order_item_lot a set lot_id = come.id, lot_number = come.lot_number from come where a.order_item_id = $1`;
    await other.query(taken, [itemId, lotId]);
    await other.query('commit');
    return await answer;
  } finally {
    await other.end();
  }
}

describe('recalls', () => {
  test('30 and 31: a recalled lot is moved or cancelled where it was not shipped, each buyer is warned once, and nothing of it comes back', async () => {
    const [west] = await shop.p.sql(`select id from commerce.inventory_location where code = 'west'`);
    const variant = await shop.sell({ price: 1_500, more: NO_SHIPPING, lots: [{ number: 'L', quantity: 4, expires: '2028-01-01' }] });
    await shop.lot(variant.sku, 'L', 1, '2028-01-01', west.id);
    const [a, b] = [randomUUID(), randomUUID()];
    const first = await shop.order([{ variant, quantity: 2 }], a);
    await shop.ok('POST', `/orders/${first.id}/fulfillments`, {});
    const second = await shop.order([{ variant, quantity: 3 }], b);
    await shop.lot(variant.sku, 'OTHER', 1, '2028-06-01');
    const bystander = await shop.sell({ more: NO_SHIPPING });
    await shop.order([{ variant: bystander, quantity: 1 }]);

    const report = await shop.ok('POST', '/admin/inventory/recall', { sku: variant.sku, lot_number: 'L', reason: 'Bad' });
    expect(report).toMatchObject({ status: 'recalled', moved_to_other_lots: 1, cancelled: 2, notices_sent: 2 });
    const lots = (await shop.ok('GET', `/admin/inventory/lots?sku=${variant.sku}&lot_number=L`)).data;
    expect(lots.map((one: any) => one.status)).toEqual(['recalled', 'recalled']);
    const after = await shop.read(second.id);
    expect(after).toMatchObject({ status: 'placed', items: [{ cancelled_quantity: 2, lots: [{ lot_number: 'OTHER', quantity: 1 }] }] });
    await shop.refunded(second.id, 3_000);
    for (const user of [a, b]) {
      const messages = await shop.events('comms.message.send_requested.v1', user);
      expect(messages).toMatchObject([
        { template: 'product_recall', params: { lot_number: 'L', order_count: 1 }, dedupe_key: `recall:${report.recall_id}:${user}` },
      ]);
    }
    const again = await shop.ok('POST', '/admin/inventory/recall', { sku: variant.sku, lot_number: 'L', reason: 'Bad' });
    expect(again).toMatchObject({ recall_id: report.recall_id, moved_to_other_lots: 0, cancelled: 0, notices_sent: 0 });
    expect(await shop.events('comms.message.send_requested.v1', b)).toHaveLength(1);

    const traced = await shop.ok('GET', `/admin/inventory/recall?sku=${variant.sku}&lot_number=L`);
    expect(traced.orders).toEqual([{ order_id: first.id, number: first.number, user: { id: a }, shipped: 2, unshipped: 0, returned: 0 }]);
    const before = (await shop.ok('GET', `/admin/inventory/levels?sku=${variant.sku}`)).data.map((one: any) => one.on_hand);
    const giveBack = (restock: boolean) =>
      shop.rest('POST', `/orders/${first.id}/returns`, { items: [{ item_id: first.items[0].id, quantity: 2, restock }] });
    expect(reasons([await giveBack(true)])).toEqual(['409 not_restockable']);
    expect((await giveBack(false)).body).toMatchObject({ fulfillment_status: 'returned', items: [{ returned_quantity: 2 }] });
    expect((await shop.ok('GET', `/admin/inventory/levels?sku=${variant.sku}`)).data.map((one: any) => one.on_hand)).toEqual(before);
  });

  test('an order of which a recall leaves nothing is paid back in full, what was paid for its way too', async () => {
    const variant = await shop.sell({ price: 1_500, lots: [{ number: 'S', quantity: 4, expires: '2028-01-01' }] });
    const order = await shop.order([{ variant, quantity: 2 }]);
    expect(order.totals).toMatchObject({ shipping: usd(599), total: usd(3_599) });
    await shop.ok('POST', '/admin/inventory/recall', { sku: variant.sku, lot_number: 'S', reason: 'Bad' });
    expect(await shop.read(order.id)).toMatchObject({ status: 'cancelled', cancel_reason: 'recall' });
    await shop.refunded(order.id, 3_599);
  });

  test('a recall locks an order that takes from the lot while its stock is waited for before the stock, as everybody does', async () => {
    const variant = await shop.sell({ more: NO_SHIPPING, lots: [{ number: 'OLD', quantity: 1, expires: '2028-01-01' }] });
    const order = await shop.order([{ variant, quantity: 1 }]);
    const lot = await shop.lot(variant.sku, 'NEW', 1, '2028-02-01');
    const level = 'select from commerce.inventory_level where variant_id = $1 for update';
    const recall = () => shop.rest('POST', '/admin/inventory/recall', { sku: variant.sku, lot_number: 'NEW', reason: 'Bad' });
    const answer = await locksInOrder(
      shop.p,
      {
        held: ['select from commerce.shop_order where id = $1 for update', [order.id]],
        waitsIn: 'shop_order',
        free: [`${level} nowait`, [variant.id]],
      },
      () => takesMeanwhile(order.items[0].id, lot.id, [level, [variant.id]], recall),
    );
    expect(answer).toMatchObject({ status: 200, body: { moved_to_other_lots: 1, cancelled: 0 } });
    expect((await shop.read(order.id)).items).toMatchObject([{ lots: [{ lot_number: 'OLD', quantity: 1 }] }]);
  });

  test('of a bundle that a recall cancels nothing stays allocated, of no part of it', async () => {
    const [part, dated] = [
      await shop.sell({ stock: 10 }),
      await shop.sell({ lots: [{ number: 'B', quantity: 4, expires: '2028-01-01' }] }),
    ];
    const bundle = await shop.sell({
      price: 5_000,
      components: [
        { sku: part.sku, quantity: 1 },
        { sku: dated.sku, quantity: 2 },
      ],
    });
    const order = await shop.order([{ variant: bundle, quantity: 2 }]);
    await shop.lot(dated.sku, 'LATER', 1, '2028-06-01');
    const recalled = { sku: dated.sku, lot_number: 'B', reason: 'Bad' };
    expect(await shop.ok('POST', '/admin/inventory/recall', recalled)).toMatchObject({ cancelled: 2 });
    expect(await shop.read(order.id)).toMatchObject({ status: 'cancelled', items: [{ cancelled_quantity: 2, lots: [] }] });
    expect([await shop.available(part), await shop.available(dated)]).toEqual([10, 1]);
  });

  test('of a lot with more orders and buyers than one transaction may tell each order is settled and each buyer warned once, and nobody else', async () => {
    const variant = await shop.sell({ more: NO_SHIPPING, lots: [{ number: 'M', quantity: 70, expires: '2028-01-01' }] });
    const [sent, waiting] = [await shop.order([{ variant, quantity: 1 }]), await shop.order([{ variant, quantity: 1 }])];
    await shop.ok('POST', `/orders/${sent.id}/fulfillments`, {});
    await copies(sent, 1_200);
    await copies(waiting, 60);
    await shop.p.sql(
      `with lot as (update commerce.inventory_lot set allocated = allocated + 60 where lot_number = 'M' and variant_id = $1),
         movement as (insert into commerce.stock_movement select (jsonb_populate_record(m, '{"quantity": 60}' || jsonb_build_object('id', gen_random_uuid()))).*
           from commerce.stock_movement m where m.kind = 'allocation' and m.variant_id = $1 limit 1)
       update commerce.inventory_level set allocated = allocated + 60 where variant_id = $1`,
      [variant.id],
    );
    const report = await shop.ok('POST', '/admin/inventory/recall', { sku: variant.sku, lot_number: 'M', reason: 'Bad' });
    expect(report).toMatchObject({ status: 'recalled', cancelled: 50, notices_sent: 400 });
    await shop.advance('PT1M');

    const told = await shop.events('comms.message.send_requested.v1', `recall:${report.recall_id}`);
    const buyers = await shop.p.sql(`select user_id from commerce.shop_order where starts_with(number, $1) or starts_with(number, $2)`, [
      sent.number,
      waiting.number,
    ]);
    expect(buyers).toHaveLength(1_262);
    const ids = (rows: any[]): string[] => rows.map(one => one.recipient_id ?? one.user_id);
    expect(ids(told).toSorted()).toEqual(ids(buyers).toSorted());
    const states = `select status, cancel_reason, count(*)::int from commerce.shop_order where starts_with(number, $1) group by 1, 2`;
    expect(await shop.p.sql(states, [waiting.number])).toEqual([{ status: 'cancelled', cancel_reason: 'recall', count: 61 }]);
    expect((await shop.ok('GET', `/admin/inventory/recall?sku=${variant.sku}&lot_number=M`)).totals).toEqual({
      shipped: 1_201,
      unshipped: 0,
      returned: 0,
    });
    const [lot] = (await shop.ok('GET', `/admin/inventory/lots?sku=${variant.sku}&lot_number=M`)).data;
    expect(lot).toMatchObject({ on_hand: 69, allocated: 0 });
    await shop.p.sql(`delete from commerce.shop_order where starts_with(number, $1 || '-') or starts_with(number, $2 || '-')`, [
      sent.number,
      waiting.number,
    ]);
  });

  test('units of a lot that is quarantined are not shipped', async () => {
    const variant = await shop.sell({ lots: [{ number: 'Q', quantity: 4, expires: '2028-01-01' }] });
    const order = await shop.order([{ variant, quantity: 1 }]);
    const [lot] = (await shop.ok('GET', `/admin/inventory/lots?sku=${variant.sku}`)).data;
    await shop.ok('POST', `/admin/inventory/lots/${lot.id}/quarantine`, { reason: 'Check' });
    expect(reasons([await shop.rest('POST', `/orders/${order.id}/fulfillments`, {})])).toEqual(['409 lot_blocked']);
    await shop.ok('POST', `/admin/inventory/lots/${lot.id}/quarantine`, { reason: 'Fine', release: true });
    expect((await shop.rest('POST', `/orders/${order.id}/fulfillments`, {})).status).toBe(200);
  });
});

describe('catalogue', () => {
  test('35: a code is found in any spelling', async () => {
    const found = await Promise.all(['bpc157', 'BPC-157', 'bpc 157'].map(q => shop.ok('GET', `/products?q=${encodeURIComponent(q)}`)));
    const ids = found.map(one => one.data.map((product: any) => product.slug));
    expect(ids).toEqual([['bpc-157'], ['bpc-157'], ['bpc-157']]);
  });

  test('each word of a question is found in any spelling and order; what has it in the title comes before what is more alike', async () => {
    const slugs = async (query: string): Promise<string[]> => (await shop.ok('GET', `/products?${query}`)).data.map((one: any) => one.slug);
    expect(await slugs(`q=${encodeURIComponent('157 b.p.c')}`)).toEqual(['bpc-157']);
    expect(await slugs(`q=${encodeURIComponent('157 b.p.c nowhere')}`)).toEqual([]);
    const [before] = await shop.p.sql<{ text: string }>(`select search_text as text from commerce.product where slug = 'bpc-157'`);
    const rewrite = (text: string) => shop.p.sql(`update commerce.product set search_text = $1 where slug = 'bpc-157'`, [text]);
    await rewrite('omega');
    expect(await slugs('sort=relevance&q=omega')).toEqual(['omega-3', 'bpc-157']);
    await rewrite(before!.text);
  });

  test('pages keep their order and lose nothing, whatever they are sorted by', async () => {
    for (let index = 0; index < 5; index++) await shop.sell({ price: 100 * (index % 3) + 100, product: { tags: ['paged'] } });
    for (const sort of ['newest', 'title', 'price_asc', 'price_desc']) {
      const all = (await shop.ok('GET', `/products?tag=paged&sort=${sort}&limit=100`)).data.map((one: any) => one.id);
      const seen: string[] = [];
      let cursor = '';
      do {
        const page = await shop.ok('GET', `/products?tag=paged&sort=${sort}&limit=2${cursor && `&cursor=${cursor}`}`);
        seen.push(...page.data.map((one: any) => one.id));
        cursor = page.next_cursor ?? '';
      } while (cursor);
      expect(seen).toEqual(all);
    }
    expect((await shop.rest('GET', '/products?sort=relevance')).status).toBe(400);
    expect((await shop.ok('GET', '/products?sort=relevance&q=omega')).data[0].slug).toBe('omega-3');
    expect((await shop.rest('GET', '/products?brand=nowhere')).status).toBe(404);
  });

  test.each([
    ['newest', '2026'],
    ['newest', '+275760-09-13T00:00:00.000Z'],
    ['newest', 5],
    ['title', 'a\0'],
    ['title', 5],
    ['price_asc', 1.5],
    ['price_desc', 1e300],
    ['price_asc', null],
    ['relevance', 'x'],
  ])('a cursor of %s that was made up, %j, is a 400', async (sort, key) => {
    const cursor = Buffer.from(JSON.stringify([key, randomUUID()])).toString('base64url');
    const answer = await shop.rest('GET', `/products?sort=${sort}&cursor=${cursor}${sort === 'relevance' ? '&q=omega' : ''}`);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/cursor' }] } });
  });

  test('filters: in stock, price, requirement, category, ids; a draft is seen by those who edit the catalogue only', async () => {
    const [none, some] = [
      await shop.sell({ stock: 0, price: 700, product: { tags: ['filtered'] } }),
      await shop.sell({ price: 900, product: { tags: ['filtered'], categories: ['food/bars'] } }),
    ];
    const list = async (query: string) => (await shop.ok('GET', `/products?tag=filtered&${query}`)).data.map((one: any) => one.id).sort();
    expect(await list('in_stock=true')).toEqual([some.product]);
    expect(await list('in_stock=false')).toEqual([none.product]);
    expect(await list('max_price=800')).toEqual([none.product]);
    expect(await list('min_price=800')).toEqual([some.product]);
    expect(await list('category=food')).toEqual([some.product]);
    expect((await shop.ok('GET', `/products?ids=${some.product}&ids=${none.product}`)).data.map((one: any) => one.id)).toEqual([
      some.product,
      none.product,
    ]);
    const draft = await shop.sell({ stock: 0, product: { status: 'draft', tags: ['filtered'] } });
    const member = await shop.member(DEMO2);
    expect([
      (await shop.rest('GET', `/products/${draft.product}`, undefined, member)).status,
      (await shop.rest('GET', `/products/${draft.product}`)).status,
    ]).toEqual([404, 200]);
    expect(await list('status=draft')).toEqual([draft.product]);
  });

  test('two prices of one market never hold at once, and a script in a description is gone', async () => {
    const variant = await shop.sell({ product: { description_html: '<p>Good</p><script>alert(1)</script>' } });
    const overlapping = {
      prices: [
        { amount: usd(1), starts_at: '2026-01-01T00:00:00.000Z' },
        { amount: usd(2), starts_at: '2027-01-01T00:00:00.000Z' },
      ],
    };
    expect(reasons([await shop.rest('POST', `/admin/variants/${variant.id}/prices`, overlapping)])).toEqual(['409 price_overlap']);
    expect((await shop.ok('GET', `/products/${variant.product}`)).description_html).toBe('<p>Good</p>');
    const image = {
      slug: `img-${Date.now()}`,
      title: 'X',
      images: [{ url: 'https://evil.example/x.png' }],
      variants: [{ sku: `IMG-${Date.now()}` }],
    };
    expect(await shop.rest('POST', '/admin/products', image)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/images/0/url' }] },
    });
  });
});

describe('administration', () => {
  test('18: a local address is not unfurled, and a product of ours is answered from the catalogue', async () => {
    const answer = await shop.rest('POST', '/unfurl', { url: 'http://169.254.169.254/' });
    expect(answer).toMatchObject({ status: 400, body: { reason: 'url_not_allowed' } });
    const card = await shop.ok('POST', '/unfurl', { url: 'https://main.example/products/omega-3' });
    expect(card).toMatchObject({ kind: 'product', title: 'Omega-3 1000 mg', product: { slug: 'omega-3' } });
    expect((await shop.rest('POST', '/unfurl', { url: 'https://other.example/page' })).status).toBe(503);
  });

  test('20: erasure keeps amounts, clears the person, and a second run is the same record', async () => {
    const user = randomUUID();
    const variant = await shop.sell({ lots: [{ number: 'E', quantity: 5, expires: '2028-01-01' }] });
    const order = await shop.order([{ variant, quantity: 1 }], user);
    const open = await shop.cart(user, [{ variant, quantity: 1 }]);
    const done = await shop.rest('POST', '/admin/erasure', { user_id: user });
    expect(done).toMatchObject({ status: 202, body: { status: 'completed', counts: { orders: 1, carts: 2 } } });
    expect(await shop.read(order.id)).toMatchObject({
      totals: order.totals,
      shipping_address: null,
      recipient_name: null,
      items: [{ total: order.items[0].total }],
    });
    const rows = await shop.p.sql('select user_id, personal from commerce.shop_order where id = $1', [order.id]);
    expect(rows[0].personal).toBeNull();
    expect(rows[0].user_id).not.toBe(user);
    expect(await shop.ok('GET', `/carts/${open.cart.id}`)).toMatchObject({ status: 'abandoned', user_id: null, items: [] });
    expect(await shop.ok('POST', '/admin/erasure', { user_id: user })).toMatchObject({ id: done.body.id, counts: done.body.counts });
    expect(await shop.ok('GET', `/admin/inventory/recall?sku=${variant.sku}&lot_number=E`)).toMatchObject({
      orders: [],
      erased_buyers: 1,
      totals: { unshipped: 1 },
    });
    expect((await shop.ok('POST', '/admin/erasure', { user_id: randomUUID() })).counts).toEqual({
      carts: 0,
      orders: 0,
      subscriptions: 0,
      links: 0,
    });
  });

  test('36: staff who read see orders, levels, lots and movements, and recall nothing', async () => {
    const staff = await shop.p.userToken(ADMIN, [], { permissions: ['admin:commerce:read'], roles: ['analyst'] } as never);
    const reads = ['/orders', '/admin/inventory/levels', '/admin/inventory/lots', '/admin/inventory/movements'];
    expect(await Promise.all(reads.map(async path => (await shop.rest('GET', path, undefined, staff)).status))).toEqual([
      200, 200, 200, 200,
    ]);
    expect((await shop.rest('POST', '/admin/inventory/recall', { sku: 'OMEGA-1000', lot_number: 'X', reason: 'x' }, staff)).status).toBe(
      403,
    );
  });

  test('every placed order is paid, every payment has an order or a refund, and stock is the sum of its movements', async () => {
    const period = 'from=2020-01-01T00:00:00.000Z&to=2040-01-01T00:00:00.000Z';
    const report = await shop.ok('GET', `/admin/reconciliation?${period}`);
    expect(report.orders_checked).toBeGreaterThan(5);
    expect(report.breaches).toEqual([]);
  });
});
