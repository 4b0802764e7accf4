import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO } from '../support/platform.js';
import { bulkOf, lines, report } from '../support/bulk.js';
import { Shop, usd } from './shop.js';

let shop: Shop;
let bulk: ReturnType<typeof bulkOf>;

beforeAll(async () => {
  shop = await Shop.open();
  bulk = bulkOf(shop.p, '/commerce/v1/admin/catalogue', shop.token);
}, 400_000);

const slug = (): string => `row-${randomUUID().slice(0, 13)}`;
const row = (of: string, more: object = {}, variant: object = {}): object => ({
  slug: of,
  title: `Thing ${of}`,
  variants: [{ sku: of.toUpperCase(), prices: [{ amount: usd(1_500) }], ...variant }],
  ...more,
});
const productsOf = (slugs: string[]): Promise<any[]> =>
  shop.p.sql('select slug, title, subtitle, version from commerce.product where slug = any($1) order by slug', [slugs]);

describe('import of the catalogue', () => {
  test('34: of 3 rows, one bad, dry_run: created 2, failed 1 with row and pointer, nothing stored; an export imported again is all unchanged', async () => {
    const [one, bad, two] = [slug(), slug(), slug()];
    const file = lines([row(one), row(bad, { title: '', images: [{ url: 'http://elsewhere.test/x.png' }] }), row(two)]);
    const expected = report({
      rows: 3,
      created: 2,
      failed: 1,
      errors: [{ row: 2, pointer: '/title', message: expect.any(String) }],
    });
    expect(await bulk.take(file, 'format=jsonl&dry_run=true')).toMatchObject({ status: 200, body: expected });
    expect(await productsOf([one, bad, two])).toEqual([]);
    expect(await bulk.take(file)).toMatchObject({ status: 200, body: expected });
    expect((await productsOf([one, bad, two])).map(product => product.slug)).toEqual([one, two].toSorted());
    for (const format of ['jsonl', 'csv']) {
      const exported = await bulk.file(`format=${format}`);
      expect(exported).toContain(one);
      const { body } = await bulk.take(exported, `format=${format}`);
      expect(body).toEqual(report({ rows: body.rows, unchanged: body.rows }));
      expect(body.rows).toBeGreaterThanOrEqual(7); // what was seeded, too
    }
  });

  test('a row changes what it names: products by slug, variants by sku, prices in place of all others', async () => {
    const of = slug();
    await bulk.take(lines([row(of, { subtitle: 'As it was', tags: ['kept'] })]));
    const change = { slug: of, subtitle: null, variants: [{ sku: of.toUpperCase(), prices: [{ amount: usd(900) }] }, { sku: `${of}-b` }] };
    expect((await bulk.take(lines([change, change]))).body).toEqual(report({ rows: 2, updated: 1, unchanged: 1 }));
    expect(await productsOf([of])).toMatchObject([{ subtitle: null, title: `Thing ${of}`, version: 2 }]);
    const [{ id }] = await shop.p.sql('select id from commerce.product where slug = $1', [of]);
    expect(await shop.ok('GET', `/products/${id}`)).toMatchObject({
      tags: ['kept'],
      variants: [
        { sku: of.toUpperCase(), price: { amount: usd(900) } },
        { sku: `${of}-b`, title: `Thing ${of}` },
      ],
    });
  });

  test("what a product is for ever, another's sku and a command's own refusals are listed by the names of the row", async () => {
    const [of, other] = [slug(), slug()];
    await bulk.take(lines([row(of)]));
    const { body } = await bulk.take(
      lines([
        { slug: of, kind: 'bundle', tax_category: 'food' },
        row(other, {}, { sku: of.toUpperCase() }),
        row(slug(), { subscription_offers: [{ cadence: { unit: 'week', count: 40 } }] }),
        row(slug(), { brand_id: randomUUID() }),
        row(slug(), { colour: 'red' }),
      ]),
    );
    expect(body).toMatchObject({ rows: 5, failed: 5, created: 0, updated: 0 });
    expect(body.errors.map((error: any) => `${error.row} ${error.pointer}`)).toEqual([
      '1 /kind',
      '1 /tax_category',
      '2 /variants/0/sku',
      '3 /subscription_offers/0/cadence/count',
      '4 /brand_id',
      '5 /colour',
    ]);
    expect(await productsOf([other])).toEqual([]);
  });

  test('a cell that a spreadsheet would run as a formula is none in the file, and comes back as it was', async () => {
    const of = slug();
    await bulk.take(lines([row(of, { title: '=1+1', subtitle: "'=2+2" })]));
    const file = await bulk.file('format=csv');
    expect(file).toContain(`${of},'=1+1,''=2+2,`);
    expect((await bulk.take(file, 'format=csv')).body.updated).toBe(0);
  });

  test('a file that is none, a line that is none, too many rows and an unknown query are refused', async () => {
    expect(await bulk.take('slug,title\n"', 'format=csv')).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect((await bulk.take('[1]\n{"slug"')).body).toMatchObject({ rows: 2, failed: 2, errors: [{ row: 1 }, { row: 2 }] });
    expect(await bulk.take('{}\n'.repeat(1_001))).toMatchObject({ status: 413 });
    const bad = await bulk.take('', 'format=xml&dry_run=maybe&colour=red');
    expect(bad.status).toBe(400);
    expect(bad.body.errors.map((error: any) => error.pointer).toSorted()).toEqual(['/colour', '/dry_run', '/format']);
    expect(await bulk.take('', 'brand=nobody')).toMatchObject({ status: 404 });
  });

  test('36: staff with admin:commerce:read export, without what is prescribed, and import nothing; nobody else does either', async () => {
    const reader = bulkOf(
      shop.p,
      '/commerce/v1/admin/catalogue',
      await shop.p.userToken(ADMIN, [], { permissions: ['admin:commerce:read'], roles: ['analyst'] } as never),
    );
    expect(await reader.file()).not.toContain('medication_code');
    expect(await reader.take('{}')).toMatchObject({ status: 403 });
    const member = bulkOf(shop.p, '/commerce/v1/admin/catalogue', await shop.member(DEMO));
    expect(await member.take('{}')).toMatchObject({ status: 403 });
    await expect(member.file()).rejects.toThrow('403');
  });
});
