import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { webhookReceived } from '../../events/catalogue/webhooks.js';
import { BRAND, DEMO, DEMO2, type Answer } from '../support/platform.js';
import { until } from '../support/until.js';
import { Shop, usd } from './shop.js';

let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open({}, ['identity', 'affiliates']);
  await emptyStorefront();
}, 400_000);

/** What was seeded, or is left, would be counted. */
async function emptyStorefront(): Promise<void> {
  for (const table of ['product', 'customer', 'order', 'fault']) await shop.p.sql(`delete from commerce.embedded_storefront_${table}`);
  await shop.p.sql('delete from commerce.storefront_link');
}

afterEach(emptyStorefront);

const PATHS = {
  products: '/products/sync',
  orders: '/admin/sync/channel-orders',
  customers: '/admin/sync/customer-profiles',
  profiles: '/admin/sync/profiles-to-storefront',
  groups: '/admin/sync/affiliate-storefront-customer-groups',
};

const start = (kind: keyof typeof PATHS, body: object = {}, token = shop.token): Promise<Answer> =>
  shop.rest('POST', PATHS[kind], body, token);
const readJob = (id: string): Promise<any> => shop.ok('GET', `/admin/sync/${id}`);
const OVER = ['succeeded', 'partial', 'failed', 'cancelled'];

/** A run from its start to its end. */
async function run(kind: keyof typeof PATHS, body: object = {}): Promise<any> {
  const { status, body: job } = await start(kind, body);
  expect({ status, job }).toMatchObject({ status: 202, job: { status: 'queued' } });
  return until(
    `${kind} to be over`,
    () => readJob(job.id),
    one => OVER.includes(one.status),
    20_000,
  );
}

const counts = (given: object): object => ({ seen: 0, created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0, ...given });

const put = (table: 'product' | 'customer' | 'order', id: string, data: object): Promise<unknown> =>
  shop.p.sql(
    `insert into commerce.embedded_storefront_${table} (external_id, brand_id, data ${table === 'customer' ? '' : ', updated_at'})
     values ($1, $2, $3 ${table === 'customer' ? '' : ', now()'}) on conflict (external_id) do update set data = excluded.data`,
    [id, BRAND, JSON.stringify(data)],
  );
const fault = (point: string, times = 1): Promise<unknown> =>
  shop.p.sql('insert into commerce.embedded_storefront_fault (point, times) values ($1, $2)', [point, times]);
const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(3, '0')}`);

const sku = (): string => `S-${randomUUID().slice(0, 13)}`;

function product(externalId: string, of: string, more: object = {}, variant: object = {}): object {
  const one = {
    externalId: `${externalId}-v`,
    sku: of,
    title: 'One',
    barcode: null,
    price: usd(1_500),
    weightGrams: 100,
    requiresShipping: true,
  };
  return {
    handle: of.toLowerCase(),
    title: 'From the storefront',
    descriptionHtml: '<p>Good</p><script>bad()</script>',
    status: 'active',
    tags: ['sale'],
    variants: [{ ...one, quantity: null, ...variant }],
    ...more,
  };
}

function order(of: string, quantity: number, more: object = {}): object {
  const line = { sku: of, title: 'One', quantity, unitPrice: 1_000, discount: 100, tax: 50 };
  const amounts = { shipping: 500, tax: 50, total: 1_000 * quantity - 100 + 500 + 50, taxIncluded: false };
  return { customer: null, currency: 'USD', country: 'US', lines: [line], ...amounts, isCancelled: false, personal: null, ...more };
}

const ordersOf = (ids: string[]): Promise<any[]> =>
  shop.p.sql(
    `select id, external_id as "externalId", user_id as "userId", status, payment_status as payment, total::int as total, is_oversold as oversold
     from commerce.shop_order where external_id = any($1) order by external_id`,
    [ids],
  );

describe('a run', () => {
  test('17: of two products/sync at once one is 202 and the other 409 sync_running', async () => {
    const answers = await Promise.all([start('products'), start('products')]);
    expect(answers.map(({ status, body }) => `${status} ${body.reason ?? body.status}`).toSorted()).toEqual([
      '202 queued',
      '409 sync_running',
    ]);
    const { id } = answers.find(one => one.status === 202)!.body;
    expect(
      await until(
        'the run',
        () => readJob(id),
        one => OVER.includes(one.status),
      ),
    ).toMatchObject({ status: 'succeeded', counts: counts({}) });
  });

  test('waits as long as the storefront says, and goes on', async () => {
    await put('product', 'p-busy', product('p-busy', sku()));
    await fault('rate_limit', 10); // more often than a storefront may fail
    const { body } = await start('products');
    const left = () => shop.p.sql('select times from commerce.embedded_storefront_fault');
    for (let times = 9; times >= 0; times -= 1) {
      await until(`limit ${10 - times}`, left, ([row]) => row.times <= times);
      await shop.advance('PT3S');
    }
    const over = () => readJob(body.id);
    expect(await until('its end', over, one => OVER.includes(one.status))).toMatchObject({
      status: 'succeeded',
      counts: counts({ seen: 1, created: 1 }),
    });
  });

  test('is stopped before its next record, keeps what it has, and cannot be stopped twice', async () => {
    await fault('rate_limit');
    const { body } = await start('products');
    const stopped = await shop.rest('POST', `/admin/sync/${body.id}/cancel`, {});
    expect(stopped).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect(await shop.rest('POST', `/admin/sync/${body.id}/cancel`, {})).toMatchObject({ status: 409, body: { reason: 'sync_over' } });
    expect(await shop.rest('GET', `/admin/sync/${randomUUID()}`)).toMatchObject({ status: 404 });
    expect((await shop.ok('GET', '/admin/sync?kind=products&status=cancelled')).data[0]).toMatchObject({ id: body.id });
  });

  test('that writes nothing counts what it would do', async () => {
    await put('product', 'p-dry', product('p-dry', 'DRY-1'));
    expect(await run('products', { dry_run: true })).toMatchObject({
      status: 'succeeded',
      dry_run: true,
      counts: counts({ seen: 1, created: 1 }),
    });
    expect(await shop.p.sql(`select 1 from commerce.product_variant where sku = 'DRY-1'`)).toEqual([]);
    expect(await shop.p.sql('select 1 from commerce.storefront_link')).toEqual([]);
  });

  test('sees no more than it may, and only the ids that are named', async () => {
    for (const id of numbered('p-lim', 3)) await put('product', id, product(id, sku()));
    expect((await run('products', { limit: 2 })).counts).toMatchObject({ seen: 2, created: 2 });
    expect((await run('products', { ids: ['p-lim-002', 'p-nobody'] })).counts).toMatchObject({ seen: 1, created: 1 });
  });

  test('lists every violation of what is asked, and is for keepers of the exchange alone', async () => {
    const bad = await start('products', { limit: 0, brand_id: 'x', since: 'yesterday' });
    expect({ status: bad.status, pointers: bad.body.errors.map((one: any) => one.pointer).toSorted() }).toEqual({
      status: 400,
      pointers: ['/brand_id', '/limit', '/since'],
    });
    expect(await start('products', {}, await shop.member(DEMO))).toMatchObject({ status: 403 });
    expect(await start('products', { brand_id: randomUUID() })).toMatchObject({ status: 404 });
  });
});

describe('products', () => {
  test('are taken over once, changed where they have changed, and a bad one is listed and stops no other', async () => {
    const of = sku();
    await put('product', 'p-1', product('p-1', of));
    await put('product', 'p-2', product('p-2', sku(), { handle: 'Not A Handle' }));
    const first = await run('products');
    expect(first).toMatchObject({
      status: 'partial',
      counts: counts({ seen: 2, created: 1, failed: 1 }),
      failures: [{ external_id: 'p-2', code: 'invalid_handle' }],
    });
    const { data } = await shop.ok('GET', `/products?q=${of}`);
    expect(data[0]).toMatchObject({
      title: 'From the storefront',
      description_html: '<p>Good</p>',
      variants: [{ sku: of, price: { amount: usd(1_500) } }],
    });
    expect((await run('products')).counts).toEqual(counts({ seen: 2, unchanged: 1, failed: 1 }));
    await shop.p.sql('update commerce.product_variant set lot_tracked = true where sku = $1', [of]);
    await put('product', 'p-1', product('p-1', of, { title: 'Another title' }, { price: usd(1_700) }));
    expect((await run('products')).counts).toMatchObject({ updated: 1 });
    expect((await shop.ok('GET', `/products/${data[0].id}`)).variants).toMatchObject([
      { sku: of, lot_tracked: true, price: { amount: usd(1_700) } },
    ]);
  });

  test('are told how much there is of them, but not of what needs a prescription', async () => {
    const [open, closed] = [
      await shop.sell({ stock: 7 }),
      await shop.sell({ stock: 5, product: { purchase_requirement: 'prescription', medication_code: 'M1' } }),
    ];
    const listed = (id: string, { sku: of }: { sku: string }) => put('product', id, product(id, of, {}, { quantity: 99 }));
    await listed('p-open', open);
    await listed('p-closed', closed);
    await run('products');
    const rows = await shop.p.sql(
      `select external_id as id, data->'variants'->0->>'quantity' as quantity from commerce.embedded_storefront_product order by 1`,
    );
    expect(rows).toEqual([
      { id: 'p-closed', quantity: '99' },
      { id: 'p-open', quantity: '7' },
    ]);
  });
});

describe('orders of the channel', () => {
  test('16: imported twice in another page order are the same rows, and the second run is all unchanged', async () => {
    const variant = await shop.sell({ price: 1_000, stock: 100 });
    const ids = numbered(`o-${randomUUID().slice(0, 8)}`, 45);
    for (const id of ids) await put('order', id, order(variant.sku, 2));
    await fault('repeated_page');
    expect((await run('orders')).counts).toEqual(counts({ seen: 45, created: 45 }));
    const rows = await ordersOf(ids);
    expect(rows).toHaveLength(45);
    expect(rows[0]).toMatchObject({ userId: null, status: 'placed', payment: 'external', total: 2_450, oversold: false });
    expect(await shop.available(variant)).toBe(10);
    await fault('reversed_pages');
    expect((await run('orders')).counts).toEqual(counts({ seen: 45, unchanged: 45 }));
    expect(await ordersOf(ids)).toEqual(rows);
    expect(await shop.events('order.placed.v1', rows[0].id)).toMatchObject([{ source: 'channel', total_amount: 2_450 }]);
  });

  test('a run that breaks after a page goes on at its cursor, and counts each record once', async () => {
    const variant = await shop.sell({ price: 1_000, stock: 100 });
    const ids = numbered(`o-${randomUUID().slice(0, 8)}`, 25);
    for (const id of ids) await put('order', id, order(variant.sku, 1));
    await fault('timeout_later');
    const { body } = await start('orders');
    const broken = () => shop.p.sql('select attempts from commerce.commerce_sync_job where id = $1', [body.id]);
    await until('a failure', broken, ([row]) => row.attempts === 1);
    expect(await readJob(body.id)).toMatchObject({ status: 'running', cursor: ids[19], counts: counts({ seen: 20, created: 20 }) });
    await shop.advance('PT1M');
    const over = () => readJob(body.id);
    expect(await until('its end', over, one => OVER.includes(one.status))).toMatchObject({
      status: 'succeeded',
      counts: counts({ seen: 25, created: 25 }),
    });
    expect(await ordersOf(ids)).toHaveLength(25);
  });

  test('count even where there is not enough, and what we do not sell, or no channel may, is listed', async () => {
    const [few, closed] = [
      await shop.sell({ stock: 1 }),
      await shop.sell({ product: { purchase_requirement: 'prescription', medication_code: 'M1' } }),
    ];
    await put('order', 'o-1', order(few.sku, 3));
    await put('order', 'o-2', order('NOT-OURS', 1));
    await put('order', 'o-3', order(closed.sku, 1));
    await put('order', 'o-4', order(few.sku, 1, { total: 1 }));
    await put('order', 'o-5', order(few.sku, 1, { isCancelled: true }));
    const { status, counts: found, failures } = await run('orders');
    expect({ status, found }).toEqual({ status: 'partial', found: counts({ seen: 5, created: 1, skipped: 1, failed: 3 }) });
    expect(failures.map((one: any) => `${one.external_id} ${one.code}`)).toEqual([
      'o-2 unknown_sku',
      'o-3 prescription_not_sold_here',
      'o-4 totals_mismatch',
      'o-5 cancelled_there',
    ]);
    expect(await ordersOf(['o-1'])).toMatchObject([{ status: 'placed', oversold: true }]);
  });

  test('that are given up there are given up here, and their stock is there again', async () => {
    const variant = await shop.sell({ stock: 5 });
    await put('order', 'o-gone', order(variant.sku, 2));
    await run('orders');
    expect(await shop.available(variant)).toBe(3);
    await put('order', 'o-gone', order(variant.sku, 2, { isCancelled: true }));
    expect((await run('orders')).counts).toMatchObject({ updated: 1 });
    expect(await ordersOf(['o-gone'])).toMatchObject([{ status: 'cancelled' }]);
    expect(await shop.available(variant)).toBe(5);
  });

  test('a call of the storefront names one, which is read anew; what is none of ours changes nothing', async () => {
    const variant = await shop.sell({ stock: 5 });
    await put('order', 'o-called', order(variant.sku, 1));
    const call = (topic: string, external_id: string) => {
      const data = { receipt_id: randomUUID(), source: 'storefront' as const, topic, vendor_event_id: randomUUID(), external_id };
      return shop.tell('webhooks', webhookReceived, { ...data, received_at: new Date().toISOString() }, null, 'commerce.storefront');
    };
    await call('orders/create', 'o-called');
    await call('orders/create', 'o-nobody');
    await call('themes/publish', 'o-called');
    expect(await ordersOf(['o-called', 'o-nobody'])).toMatchObject([{ externalId: 'o-called', status: 'placed' }]);
  });
});

describe('customers', () => {
  const MAIL = 'demo@example.test';

  test('are those whose verified address they have; unknown ones and doubtful ones are skipped', async () => {
    await put('customer', 'c-1', { emails: [MAIL] });
    await put('customer', 'c-2', { emails: [MAIL.toUpperCase()] });
    await put('customer', 'c-3', { emails: ['nobody@example.test'] });
    await put('customer', 'c-4', { emails: [MAIL, 'demo2@example.test'] });
    const { counts: found, failures } = await run('customers');
    expect(found).toEqual(counts({ seen: 4, created: 1, skipped: 3 }));
    expect(failures.map((one: any) => `${one.external_id} ${one.code}`)).toEqual([
      'c-2 ambiguous_customer',
      'c-3 unknown_customer',
      'c-4 ambiguous_customer',
    ]);
    const variant = await shop.sell();
    await put('order', 'o-mine', order(variant.sku, 1, { customer: { externalId: 'c-1', emails: [] } }));
    await run('orders');
    expect(await ordersOf(['o-mine'])).toMatchObject([{ userId: DEMO }]);
  });

  test('buyers are told to the storefront by address and name alone, once, and are forgotten there when they are erased (20)', async () => {
    await shop.order([{ variant: await shop.sell(), quantity: 1 }], DEMO2);
    const ids = [DEMO2, randomUUID()];
    expect((await run('profiles', { ids })).counts).toEqual(counts({ seen: 1, created: 1 }));
    const told = () =>
      shop.p.sql('select external_id as id, data, groups, erased_at is not null as erased from commerce.embedded_storefront_customer');
    const [customer] = await told();
    expect(Object.keys(customer.data).toSorted()).toEqual(['displayName', 'emails']);
    expect(customer.data.emails).toEqual(['demo2@example.test']);
    expect((await run('profiles', { ids })).counts).toEqual(counts({ seen: 1, unchanged: 1 }));
    expect(await shop.p.sql(`select 1 from commerce.storefront_link where content_hash like '%demo2%'`)).toEqual([]);
    await fault('timeout');
    await shop.ok('POST', '/admin/erasure', { user_id: DEMO2 });
    await until(
      'a failure of the storefront',
      () => shop.p.sql('select attempts from commerce.storefront_erasure'),
      ([row]) => row?.attempts === 1,
    );
    await shop.advance('PT10S');
    await until('the customer to be forgotten', told, ([row]) => row.erased);
    expect(await told()).toEqual([{ id: customer.id, data: {}, groups: [], erased: true }]);
    expect(await shop.p.sql('select 1 from commerce.storefront_link')).toEqual([]);
  });

  test('are not linked when they were forgotten while the storefront was told, and are forgotten there too', async () => {
    await shop.order([{ variant: await shop.sell(), quantity: 1 }], DEMO);
    const other = new pg.Client({ connectionString: shop.p.env.DATABASE_URL });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('select pg_advisory_xact_lock(hashtextextended($1, 45))', [DEMO]); // as an erasure has it
      const { body } = await start('profiles', { ids: [DEMO] });
      const told = () => shop.p.sql('select erased_at is not null as erased from commerce.embedded_storefront_customer');
      await until('the storefront to be told', told, rows => rows.length > 0);
      const FORGET = `insert into commerce.commerce_erasure (id, user_id, status, counts, created_at) values ($1, $2, 'completed', '{}', now())`;
      await other.query(FORGET, [randomUUID(), DEMO]);
      await other.query('commit');
      const over = () => readJob(body.id);
      expect(await until('its end', over, one => OVER.includes(one.status))).toMatchObject({
        counts: counts({ seen: 1, skipped: 1 }),
        failures: [{ code: 'erased' }],
      });
      await until('the customer to be forgotten', told, ([row]) => row.erased);
      expect(await shop.p.sql('select 1 from commerce.storefront_link')).toEqual([]);
    } finally {
      await other.end();
      await shop.p.sql('delete from commerce.commerce_erasure where user_id = $1', [DEMO]);
    }
  });

  test('who are affiliates are in their groups, and in none where they are no longer', async () => {
    const [{ id, userId, tier }] = await shop.p.sql(
      `select id, user_id as "userId", tier_key as tier from affiliates.affiliate where status = 'approved' order by created_at limit 1`,
    );
    await put('customer', 'c-partner', { emails: [] });
    await shop.p.sql(
      `insert into commerce.storefront_link (id, entity_type, entity_id, system, external_id, content_hash, synced_at) values (gen_random_uuid(), 'customer', $1, 'embedded', 'c-partner', '', now())`,
      [userId],
    );
    const groups = async () => (await shop.p.sql('select groups from commerce.embedded_storefront_customer'))[0].groups;
    const joinAnother = async (tier_key: string, brand_id: string) => {
      const [program_id, key] = [randomUUID(), randomUUID().slice(0, 8)];
      const copy = (table: string, where: string, change: object) =>
        shop.p.sql(
          `insert into affiliates.${table} select (jsonb_populate_record(one, $1)).* from affiliates.${table} one where ${where} limit 1`,
          [JSON.stringify(change), id],
        );
      const own = '(select program_id from affiliates.affiliate where id = $2)';
      await copy('affiliate_program', `id = ${own}`, { id: program_id, key, brand_id });
      await copy('commission_tier', `program_id = ${own}`, { id: randomUUID(), program_id, key: tier_key });
      await copy('affiliate', 'id = $2', { id: randomUUID(), program_id, tier_key, code: key.toUpperCase() });
    };
    expect((await run('groups')).counts).toMatchObject({ created: 1, failed: 0 });
    expect(await groups()).toEqual(['affiliate', `affiliate-${tier}`]);
    expect((await run('groups')).counts).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
    await joinAnother('gold', BRAND);
    await joinAnother('foreign', randomUUID());
    expect((await run('groups', { ids: [randomUUID()] })).counts).toEqual(counts({}));
    expect((await run('groups', { ids: [userId] })).counts).toEqual(counts({ seen: 1, updated: 1 }));
    expect(await groups()).toEqual(['affiliate', ...[`affiliate-${tier}`, 'affiliate-gold'].toSorted()]);
    await shop.p.sql(`delete from affiliates.affiliate where user_id = $1 and id <> $2`, [userId, id]);
    await shop.p.sql(`update affiliates.affiliate set status = 'suspended' where id = $1`, [id]);
    expect((await run('groups')).counts).toMatchObject({ updated: 1 });
    expect(await groups()).toEqual([]);
  });
});

describe('a storefront that does not answer', () => {
  test('is left alone after five failures in a row, and the run is given up after eight', async () => {
    await fault('timeout', 50);
    const { body } = await start('products');
    const attempts = () => shop.p.sql('select attempts, status from commerce.commerce_sync_job where id = $1', [body.id]);
    for (let failures = 1; failures <= 8; failures += 1) {
      await until(`failure ${failures}`, attempts, ([row]) => row.attempts >= failures);
      await shop.advance('PT61S');
    }
    const over = () => readJob(body.id);
    expect(await until('its end', over, one => OVER.includes(one.status))).toMatchObject({
      status: 'failed',
      failures: [{ external_id: null, code: 'storefront_unavailable' }],
    });
    const [{ times }] = await shop.p.sql('select times from commerce.embedded_storefront_fault');
    expect(times).toBe(45);
  });
});
