import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import type pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { Shop, type Variant } from './shop.js';

/** The ORM has a PostgreSQL client of its own. */
const { Client } = createRequire(createRequire(import.meta.url).resolve('@mikro-orm/postgresql'))('pg') as typeof pg;

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ ROLES: 'subgraphs,gateway,rest' }); // no timer that asks meanwhile
}, 400_000);

/** Statements on the tables of this service while something is done. */
async function statements(work: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(Client.prototype, 'query');
  await work();
  const texts = query.mock.calls.map(([one]) => String((one as unknown as { text?: string }).text ?? one));
  query.mockRestore();
  return texts.filter(text => /\bcommerce"?\./.test(text));
}

/** What a checkout asks that is paid at once, or is to be paid at payments' page. */
async function ofCheckout(variants: readonly Variant[], isPaid = false): Promise<string[]> {
  const { cart } = await shop.cart(
    randomUUID(),
    variants.map(variant => ({ variant, quantity: 2 })),
  );
  const told = isPaid
    ? { status: 'placed', order: { status: 'placed' } }
    : { status: 'requires_action', order: { status: 'pending_payment' } };
  return statements(async () =>
    expect(await shop.checkout(cart.id, isPaid ? {} : { payment_method_id: undefined })).toMatchObject({ status: 200, body: told }),
  );
}

test('a checkout asks as much for 20 lines as for one: a statement for all lines, and one for all that is held', async () => {
  const variants: Variant[] = [];
  for (let n = 0; n < 20; n++) variants.push(await shop.sell({ price: 500 + n }));
  await ofCheckout(variants.slice(0, 1)); // what is asked once per process
  const one = await ofCheckout(variants.slice(0, 1));
  const all = await ofCheckout(variants);
  expect(all).toHaveLength(one.length);
  expect(all.filter(text => /insert into commerce\.(order_item|stock_reservation)\b/.test(text))).toHaveLength(2);
});

test('an order of 20 lines, of lots and of none, is allocated in one statement', async () => {
  const variants: Variant[] = [];
  for (let n = 0; n < 20; n++)
    variants.push(
      await shop.sell({ price: 510 + n, ...(n % 2 === 0 && { lots: [{ number: `L${n}`, quantity: 9, expires: '2028-01-01' }] }) }),
    );
  await ofCheckout(variants.slice(0, 1), true);
  const one = await ofCheckout(variants.slice(0, 1), true);
  const all = await ofCheckout(variants, true);
  expect(all).toHaveLength(one.length);
  expect(
    all.filter(text => /(insert into|update) commerce\.(order_item_lot|stock_movement|inventory_level|inventory_lot)\b/.test(text)),
  ).toHaveLength(1);
});
