import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { BRAND } from '../support/platform.js';
import { askedDuring, type Asked } from '../support/statements.js';
import { Shop, type Variant } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ ROLES: 'subgraphs,gateway,rest' }); // no timer that asks meanwhile
}, 400_000);

/** Statements on the tables of this service while something is done, with their parameters. */
async function asked(work: () => Promise<unknown>): Promise<Asked[]> {
  const all = await askedDuring(shop.p, work);
  return all.filter(({ text }) => /\bcommerce"?\.(?!test_clock\b)/.test(text)); // the clock is read in tests alone
}

const statements = async (work: () => Promise<unknown>): Promise<string[]> => (await asked(work)).map(({ text }) => text);

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

const idOf = (kind: string, number: string): string => `('0190b3a0-0000-7000-${kind}-' || lpad(to_hex(${number}), 12, '0'))::uuid`;

/** Products of two variants with a price each; their ids have the same beginning, as those of one import nearly have. */
async function manyProducts(count: number): Promise<void> {
  const products = `generate_series(1, ${count}) n`;
  const variants = `${products}, generate_series(0, 1) v`;
  const [product, variant] = [idOf('9001', 'n'), idOf('9002', 'n * 2 + v')];
  for (const rows of [
    `product (id, brand_id, slug, status, title, kind, purchase_requirement, tags, created_at, updated_at)
     select ${product}, '${BRAND}', 'many-' || n, 'active', 'Many ' || n, 'physical', 'none', array['many' || n % 100], now(), now() from ${products}`,
    `product_variant (id, product_id, sku, title, position, created_at, updated_at)
     select ${variant}, ${product}, 'MANY-' || n || '-' || v, 'Size', v, now(), now() from ${variants}`,
    `variant_price (id, variant_id, brand_id, currency, amount) select gen_random_uuid(), ${variant}, '${BRAND}', 'USD', 500 + n from ${variants}`,
  ])
    await shop.p.sql(`insert into commerce.${rows}`);
  await shop.p.sql('analyze commerce.product, commerce.product_variant, commerce.variant_price');
}

/** Pages that PostgreSQL touches for a statement, each as often as it does. */
async function pagesOf({ text, values }: Asked): Promise<number> {
  const [row] = await shop.p.sql(`explain (analyze, buffers, format json) ${text}`, values);
  const { Plan: plan } = row['QUERY PLAN'][0];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

test('a list of products asks at most six statements for variants, prices and stock, and as many for 100 as for 10', async () => {
  const list = (first: number): Promise<string[]> =>
    statements(async () => {
      const query = `{ products(first: ${first}) { nodes { id title available priceRange { min { amount } }
        variants { sku price { amount { amount } } availability { status } } } } }`;
      const { body } = await shop.p.graphql(query, {}, { token: shop.token });
      expect(body.data?.products.nodes).toHaveLength(first);
    });
  await manyProducts(2_000);
  await list(10); // what is asked once per process
  const [few, many] = [await list(10), await list(100)];
  expect(many).toHaveLength(few.length);
  expect(many.length, many.join('\n')).toBeLessThanOrEqual(6);
});

const byPrice = async (query: string): Promise<Asked[]> => {
  const all = await asked(() => shop.ok('GET', `/products?limit=50&sort=price_asc${query}`));
  return all.filter(({ text }) => text.includes('price.min'));
};

test('a list by price reads the prices that may stand on it, and the catalogue once where that is not enough', async () => {
  const [walk, ...more] = await byPrice('');
  expect([walk!.text.includes('order by r.amount asc fetch first 510 rows'), more]).toEqual([true, []]);
  const [{ pages }] = await shop.p.sql(
    "select sum(pg_relation_size(t) / 8192)::int as pages from unnest('{commerce.product, commerce.product_variant, commerce.variant_price}'::regclass[]) t",
  );
  const [, all] = await byPrice('&requirement=prescription');
  expect(await pagesOf(all!)).toBeLessThanOrEqual(2 * pages);
  const [ofTag] = await byPrice('&tag=many7');
  expect(await pagesOf(ofTag!)).toBeLessThanOrEqual(20 * 20); // of 20 products; a look-up through a bad index is 50 and more
});

/** Prices with ties, some for a market or a time of their own, some gone. */
const MIXED = [
  `update commerce.variant_price set amount = 500 + (('x' || left(md5(variant_id::text), 8))::bit(32)::int & 15) where amount >= 500`,
  `update commerce.variant_price set country = 'DE' where amount % 7 = 0`,
  `update commerce.variant_price set starts_at = '2020-01-01', ends_at = '2021-01-01' where amount % 7 = 1`,
  `delete from commerce.variant_price where amount % 7 = 2`,
  `update commerce.product set purchase_requirement = 'membership' where ('x' || left(md5(slug), 2))::bit(8)::int % 8 = 0`,
  'with gone as (delete from commerce.variant_price returning *) insert into commerce.variant_price select * from gone order by md5(id::text)',
  'analyze commerce.product, commerce.variant_price',
];

const IN_ORDER = (direction: string): string => `
  select p.id from commerce.product p left join (
    select v.product_id, min(r.amount) as min from commerce.product_variant v join commerce.variant_price r on r.variant_id = v.id
    where r.currency = 'USD' and r.country in ('', $2) and r.ends_at is null group by 1) price on price.product_id = p.id
  where p.brand_id = $1 and p.status = 'active' and ($3 = '' or p.purchase_requirement = $3) order by price.min ${direction} nulls last, p.id ${direction}`;

test.each([
  ['price_asc', 'US', ''],
  ['price_desc', 'US', ''],
  ['price_asc', 'DE', ''],
  ['price_asc', 'US', 'membership'],
  ['price_desc', 'US', 'membership'],
])(
  'pages by %s in %s (%s) have each product once, by its lowest price that holds, those without one last',
  async (sort, country, requirement) => {
    for (const statement of MIXED) await shop.p.sql(statement);
    const expected = await shop.p.sql<{ id: string }>(IN_ORDER(sort.slice(6)), [BRAND, country, requirement]);
    const query = `sort=${sort}&country=${country}${requirement && `&requirement=${requirement}`}`;
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: any = await shop.ok('GET', `/products?${query}&limit=100${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.data.map((one: any) => one.id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(expected.map(({ id }) => id));
  },
);
