import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { paymentFailed } from '../../events/catalogue/payments.js';
import { holding, locksInOrder, waitingIn } from '../support/locks.js';
import { Shop, type Variant } from './shop.js';

let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open({ DATABASE_POOL_MAX: '4' });
});

const levelOf = ({ id }: Variant, how = ''): [string, string[]] => [
  `select from commerce.inventory_level where variant_id = $1 for update ${how}`,
  [id],
];

/** An order that waits for its payment. */
async function waiting(variant: Variant, user: string = randomUUID()): Promise<{ cart: string; order: string; user: string }> {
  const { cart } = await shop.cart(user, [{ variant, quantity: 1 }]);
  const { body } = await shop.checkout(cart.id, { payment_method_id: undefined });
  expect(body).toMatchObject({ status: 'requires_action' });
  return { cart: cart.id, order: body.order.id, user };
}

async function declined({ order, user }: { order: string; user: string }): Promise<any> {
  const data = { payment_id: randomUUID(), attempt: 1, amount: 1, currency: 'USD', category: 'insufficient_funds' };
  const none = { decline_code: null, retryable: true, next_attempt_at: null, invoice_id: null, subscription_id: null };
  await shop.tell('payments', paymentFailed, { ...data, ...none, order_id: order }, user, 'commerce.payments');
  return shop.rest('GET', `/orders/${order}`);
}

/** Who drops reservations without the lock of their stock, and who judges them under it, would lock each other out. Source: commerce 7.8. */
describe('whoever gives up what is reserved waits for its stock first:', () => {
  /** Sees that a call waits for the stock of a variant while all reservations of it are still free. */
  const waitsForStock = (variant: Variant, call: () => Promise<any>): Promise<any> => {
    const free = 'select from commerce.stock_reservation where variant_id = $1 for update nowait';
    return locksInOrder(shop.p, { held: levelOf(variant), waitsIn: 'inventory_level', free: [free, [variant.id]] }, call);
  };
  const left = (variant: Variant) => shop.p.sql('select kind from commerce.stock_reservation where variant_id = $1', [variant.id]);

  test('a payment that is declined', async () => {
    const variant = await shop.sell();
    const one = await waiting(variant);
    expect((await waitsForStock(variant, () => declined(one))).body).toMatchObject({ status: 'payment_failed' });
    expect(await shop.ok('GET', `/carts/${one.cart}`)).toMatchObject({ status: 'active', items: [{ reserved: 1 }] });
    expect(await left(variant)).toEqual([{ kind: 'cart' }]);
  });

  test.each<[string, (cart: any) => [method: string, path: string, body?: object]]>([
    ['a line that is removed', cart => ['DELETE', `/carts/${cart.id}/items/${cart.items[0].id}`]],
    ['a cart that is emptied', cart => ['POST', `/carts/${cart.id}/clear`, {}]],
    [
      'a line that is set to nothing',
      cart => ['POST', `/carts/${cart.id}/items`, { variant_id: cart.items[0].variant.id, quantity: 0, mode: 'set' }],
    ],
  ])('%s', async (_what, request) => {
    const variant = await shop.sell();
    const { cart } = await shop.cart(randomUUID(), [{ variant, quantity: 1 }]);
    const seen = await shop.ok('GET', `/carts/${cart.id}`);
    expect((await waitsForStock(variant, () => shop.rest(...request(seen)))).status).toBeLessThan(300);
    expect(await shop.ok('GET', `/carts/${cart.id}`)).toMatchObject({ items: [] });
    expect(await left(variant)).toEqual([]);
  });

  test('somebody who is forgotten', async () => {
    const variant = await shop.sell();
    const { user } = await waiting(variant);
    const erasure = await waitsForStock(variant, () => shop.rest('POST', '/admin/erasure', { user_id: user }));
    expect(erasure.status).toBeLessThan(300);
    expect(await left(variant)).toEqual([]);
  });

  test('orders that nobody has paid, one after the other', async () => {
    const variant = await shop.sell();
    const [first, second] = [await waiting(variant), await waiting(variant)];
    const answer = await locksInOrder(
      shop.p,
      {
        held: ['select from commerce.shop_order where id = $1 for update', [second.order]],
        waitsIn: 'shop_order',
        free: levelOf(variant, 'nowait'),
      },
      () => shop.advance('PT31M').then(() => shop.rest('GET', `/orders/${second.order}`)),
    );
    expect(answer.body).toMatchObject({ status: 'expired' });
    expect(await shop.read(first.order)).toMatchObject({ status: 'expired' });
  });

  test('stock that is judged again, for the other parts of what is held with it', async () => {
    const parts = [await shop.sell({ stock: 2 }), await shop.sell({ stock: 2 })] as const;
    const bundle = await shop.sell({ components: parts.map(({ sku }) => ({ sku, quantity: 1 })) });
    const { cart } = await shop.cart(randomUUID(), [{ variant: bundle, quantity: 2 }]);
    const adjust = { sku: parts[0].sku, quantity: -1, reason: 'Broken' };
    expect(await waitsForStock(parts[1], () => shop.rest('POST', '/admin/inventory/adjustments', adjust))).toMatchObject({ status: 200 });
    expect(await left(parts[1])).toEqual([]);
    expect(await shop.ok('GET', `/carts/${cart.id}`)).toMatchObject({ items: [{ reserved: 0 }] });
  });
});

test('carts whose time is over are locked in the order of their ids, however they lie', async () => {
  const carts = await Promise.all(
    [1, 2].map(async () => (await shop.cart(randomUUID(), [{ variant: await shop.sell(), quantity: 1 }])).cart.id),
  );
  const [first, second] = carts.toSorted((a, b) => (a < b ? -1 : 1)) as [string, string];
  const over = `update commerce.cart set expires_at = (select now + interval '20 seconds' from commerce.test_clock) where id = $1`;
  for (const id of [second, first]) await shop.p.sql(over, [id]);
  const locked = (id: string, how = ''): [string, string[]] => [`select from commerce.cart where id = $1 for update ${how}`, [id]];
  const answer = await locksInOrder(
    shop.p,
    { held: locked(first), waitsIn: "set status = 'expired'", free: locked(second, 'nowait') },
    () => shop.advance('PT1M').then(() => shop.rest('GET', `/carts/${second}`)),
  );
  expect(answer.body).toMatchObject({ status: 'expired', items: [{ reserved: 0 }] });
});

/** The foreign key of a note asks for its order at the commit, when the stock is locked: an order that is locked may be pointed to. */
test('a recall notes the buyer of an order that takes units back at the same time', async () => {
  const variant = await shop.sell({ lots: [{ number: 'L', quantity: 4, expires: '2028-01-01' }] });
  const order = await shop.order([{ variant, quantity: 2 }]);
  await shop.ok('POST', `/orders/${order.id}/fulfillments`, {});
  const answers = await holding(shop.p, levelOf(variant), async release => {
    const recall = shop.rest('POST', '/admin/inventory/recall', { sku: variant.sku, lot_number: 'L', reason: 'Bad' });
    await waitingIn(shop.p, 'inventory_level');
    const items = [{ item_id: order.items[0].id, quantity: 1, restock: false }];
    const back = shop.rest('POST', `/orders/${order.id}/returns`, { items, refund: false });
    await waitingIn(shop.p, 'inventory_level', 2);
    await release();
    return Promise.all([recall, back]);
  });
  expect(answers).toMatchObject([
    { status: 200, body: { notices_sent: 1 } },
    { status: 200, body: { items: [{ returned_quantity: 1 }] } },
  ]);
});
