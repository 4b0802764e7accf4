/**
 * Goals of the shop, commerce 9: lists of products, setting a cart's item and checking out beside 10,000 products of two variants each. The
 * platform runs on embedded PostgreSQL with the embedded ports; requests come one after the other, by REST. How many statements a list and a
 * checkout ask is held by tests/commerce/statements. Exits with 1 when a goal is missed.
 *
 *   npm run bench:commerce
 *   PRODUCTS=100000 npm run bench:commerce      ten times as much, where the goals are only shown
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { clientOf, judgeTimes, startPlatform, timesOf, withServer } from './one-service.mjs';

const PRODUCTS = Number(process.env.PRODUCTS ?? 10_000);
const CALLS = Number(process.env.CALLS ?? 300);
const BRAND = '0190b3a0-0000-7000-8000-000000000001';
const PLACE = '0190b3a0-0000-7000-8000-000000c00001';
const CARD = '0190b3a0-1111-7000-8000-0000000c0001';
/** Untaxed: the double of payments takes the last digit of an amount for what it should do. */
const ADDRESS = { line1: '1 Main Street', city: 'Austin', region: 'TX', postal_code: '73301', country_code: 'US' };
/** The double of payments, a table of grants, and no limits of carts and checkouts an hour. */
const EMBEDDED_PORTS = {
  CLOCK: 'manual',
  COMMERCE_PAYMENTS: 'double',
  COMMERCE_ELIGIBILITY: 'table',
  COMMERCE_CARTS_PER_HOUR: 'off',
  COMMERCE_CHECKOUTS_PER_HOUR: 'off',
};

const idOf = (kind, column) => `('0190b3a0-0000-7000-${kind}-' || lpad(to_hex(${column}), 12, '0'))::uuid`;
const [PRODUCT, VARIANT] = ['9001', '9002'];

/** Products, each with a variant of one lot and one that is only counted; every hundredth is sold out. */
const ROWS = [
  `insert into commerce.product (id, brand_id, slug, status, title, kind, purchase_requirement, tax_category, categories, tags, options, images, offers, seo,
     search_text, published_at, created_at, updated_at, version)
   select ${idOf(PRODUCT, 'n')}, '${BRAND}', 'bench-' || n, 'active', 'Bench thing ' || n, 'physical', 'none', 'standard',
     array['bench/c' || n % 20], array['t' || n % 50], '[]', '[]', '[]', '{}', 'Bench thing ' || n || ' t' || n % 50 || ' bench/c' || n % 20,
     at, at, at, 1 from (select n, now() - n * interval '1 minute' as at from generate_series(1, $1::int) n) given`,
  `insert into commerce.product_variant (id, product_id, sku, title, position, option_values, track_inventory, backorder, backorder_limit, max_per_order,
     weight_grams, requires_shipping, lot_tracked, is_bundle, created_at, updated_at)
   select ${idOf(VARIANT, 'n * 2 + v')}, ${idOf(PRODUCT, 'n')}, 'BENCH-' || n || '-' || v, 'Size ' || v, v, '[]', true, 'deny', 0, 99, 200, true, v = 1, false, now(), now()
   from generate_series(1, $1::int) n, generate_series(0, 1) v`,
  `insert into commerce.variant_price (id, variant_id, brand_id, currency, country, amount, tax_inclusive)
   select gen_random_uuid(), ${idOf(VARIANT, 'n * 2 + v')}, '${BRAND}', 'USD', '', 500 + (n * 37 + v) % 200 * 100, false
   from generate_series(1, $1::int) n, generate_series(0, 1) v`,
  `insert into commerce.inventory_level (id, variant_id, location_id, on_hand, created_at, updated_at)
   select gen_random_uuid(), ${idOf(VARIANT, 'n * 2 + v')}, '${PLACE}', case when n % 100 = 0 then 0 else 100000 end, now(), now()
   from generate_series(1, $1::int) n, generate_series(0, 1) v`,
  `insert into commerce.inventory_lot (id, variant_id, location_id, lot_number, expires_on, on_hand, status, created_at, updated_at)
   select gen_random_uuid(), ${idOf(VARIANT, 'n * 2 + 1')}, '${PLACE}', 'L-' || n, current_date + 700, 100000, 'available', now(), now()
   from generate_series(1, $1::int) n where n % 100 > 0`,
];

async function writeProducts(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const text of ROWS) await client.query(text, [PRODUCTS]);
    await client.query('analyze');
  } finally {
    await client.end();
  }
}

const LISTS = [
  ['page of 20, newest', 'limit=20'],
  ['page of 100, newest', 'limit=100'],
  ['page of 50 by title', 'limit=50&sort=title'],
  ['page of 50 by price', 'limit=50&sort=price_asc'],
  ['page of 50 in stock of a category', 'limit=50&in_stock=true&category=bench'],
  ['page of 50 of a tag within prices', 'limit=50&tag=t7&min_price=1000&max_price=9000'],
  ['page of 20 searched', 'limit=20&q=thing&sort=relevance'],
];

const variantOf = at =>
  `0190b3a0-0000-7000-${VARIANT}-${(((at * 7919) % (PRODUCTS - 1)) * 2 + 2 + (at % 2)).toString(16).padStart(12, '0')}`;
/** Not one that is sold out. */
const sellable = at => variantOf(((at * 7919) % (PRODUCTS - 1)) % 100 === 99 ? at + 1 : at);

async function cartOf(call, lines) {
  const items = Array.from({ length: lines }, (_, n) => ({ variant_id: sellable(Math.floor(Math.random() * PRODUCTS) + n), quantity: 1 }));
  return (await call('/v1/carts', { user_id: randomUUID(), items })).cart.id;
}

async function measure(call) {
  const goal = ms => (PRODUCTS <= 10_000 ? ms : null);
  const sized = `${PRODUCTS.toLocaleString('en')} products`;
  for (const [what, query] of LISTS) {
    const times = await timesOf(CALLS, async () => {
      const { data } = await call(`/v1/products?${query}`);
      if (data.length === 0) throw new Error(`no products: ${query}`);
    });
    judgeTimes(`${what}, ${sized}`, times, goal(60));
  }
  const cart = await cartOf(call, 5);
  const set = at => call(`/v1/carts/${cart}/items`, { variant_id: sellable(at % 5), quantity: 1 + (at % 9), mode: 'set' });
  judgeTimes(`item of a cart set, ${sized}`, await timesOf(CALLS, set), goal(40));
  for (const lines of [1, 5]) {
    const carts = [];
    for (let n = 0; n < CALLS / 3 + 30; n++) carts.push(await cartOf(call, lines));
    const checkout = at =>
      call(`/v1/carts/${carts[at]}/checkout`, { shipping_address: ADDRESS, recipient_name: 'A Buyer', payment_method_id: CARD });
    judgeTimes(`checkout of ${lines}, paid, ${sized}`, await timesOf(CALLS / 3, checkout), goal(300));
  }
}

await withServer('commerce', async (url, folder) => {
  const base = await startPlatform(url, folder, 'commerce', EMBEDDED_PORTS);
  await writeProducts(url);
  await measure(await clientOf(base, '/commerce'));
});
