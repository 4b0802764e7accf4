import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseNetworks } from '../../runtime/http/public-address.js';
import { ShopifyClient } from '../../subgraphs/commerce/ports/shopify-client.js';
import { StorefrontBusy } from '../../subgraphs/commerce/ports/storefront-port.js';
import { ShopifyStorefront } from '../../subgraphs/commerce/ports/storefront-shopify.js';
import { minorUnits } from '../../subgraphs/commerce/rules/money.js';
import { until } from '../support/until.js';
import { Shop } from './shop.js';
import { ShopifyDouble, type Reply } from './shopify-double.js';

let double: ShopifyDouble;
let shop: ShopifyStorefront;

const storefront = (token = 'shpat_test', allowed = parseNetworks('127.0.0.1/32')): ShopifyStorefront =>
  new ShopifyStorefront(new ShopifyClient({ url: double.url, token, locationId: 'gid://shopify/Location/1', allowed }));

beforeEach(async () => {
  double = await ShopifyDouble.open();
  shop = storefront();
});

afterEach(() => double.close());

const QUERY = { brandId: 'b', since: null, ids: null, cursor: null };
const data = (answer: object, extensions = {}): Reply => ({ body: { data: answer, extensions } });
const pages = (endCursor: string | null) => ({ endCursor, hasNextPage: endCursor !== null });
const money = (amount: string, currencyCode = 'USD') => ({ shopMoney: { amount, currencyCode } });
const busy = (call: Promise<unknown>): Promise<number | null | undefined> =>
  call.then(
    () => undefined,
    error => (error instanceof StorefrontBusy ? error.waitMs : Promise.reject(error)),
  );

const PRODUCT = {
  id: 'gid://shopify/Product/1',
  handle: 'bar',
  title: 'Bar',
  descriptionHtml: '<p>Good</p>',
  status: 'ACTIVE',
  tags: ['sale'],
  variants: {
    nodes: [
      {
        id: 'gid://shopify/ProductVariant/11',
        sku: 'BAR-1',
        title: 'Default Title',
        barcode: '',
        price: '19.9',
        inventoryQuantity: 4,
        inventoryItem: { tracked: true, requiresShipping: true, measurement: { weight: { unit: 'KILOGRAMS', value: 0.25 } } },
      },
    ],
  },
};

const ORDER = {
  id: 'gid://shopify/Order/5',
  cancelledAt: null,
  taxesIncluded: false,
  displayFinancialStatus: 'PAID',
  customer: { id: 'gid://shopify/Customer/7', defaultEmailAddress: { emailAddress: 'a@example.test' } },
  shippingAddress: {
    name: 'A Buyer',
    address1: '1 Main Street',
    address2: null,
    city: 'Austin',
    provinceCode: 'TX',
    zip: '73301',
    countryCodeV2: 'US',
    phone: null,
  },
  lineItems: {
    nodes: [
      {
        sku: 'BAR-1',
        title: 'Bar',
        quantity: 2,
        originalUnitPriceSet: money('19.90'),
        discountAllocations: [{ allocatedAmountSet: money('1.50') }, { allocatedAmountSet: money('0.50') }],
        taxLines: [{ priceSet: money('3.12') }],
      },
    ],
  },
  totalShippingPriceSet: money('5.00'),
  totalTaxSet: money('3.12'),
  totalPriceSet: money('45.92'),
};

describe("Shopify's Admin API", () => {
  test('lists products page by page, with prices in minor units of the shop', async () => {
    double.replies.push(data({ shop: { currencyCode: 'USD' }, products: { nodes: [PRODUCT], pageInfo: pages('c1') } }));
    const since = new Date('2026-11-24T12:00:00.000Z');
    const variant = { externalId: 'gid://shopify/ProductVariant/11', sku: 'BAR-1', title: 'Bar', barcode: null };
    expect(await shop.listProducts({ ...QUERY, since, cursor: 'c0' })).toEqual({
      records: [
        {
          externalId: PRODUCT.id,
          handle: 'bar',
          title: 'Bar',
          descriptionHtml: '<p>Good</p>',
          status: 'active',
          tags: ['sale'],
          variants: [{ ...variant, price: { amount: 1_990, currency: 'USD' }, weightGrams: 250, requiresShipping: true, quantity: 4 }],
        },
      ],
      malformed: [],
      next: 'c1',
    });
    expect(double.asked).toEqual([{ name: 'Products', variables: { after: 'c0', query: "updated_at:>='2026-11-24T12:00:00.000Z'" } }]);
  });

  test('reads what a call named by its number, and finds nothing where it is gone', async () => {
    double.replies.push(data({ nodes: [ORDER] }), data({ nodes: [null] }));
    const { records } = await shop.listOrders({ ...QUERY, ids: ['5'] });
    expect(records).toMatchObject([
      {
        externalId: ORDER.id,
        currency: 'USD',
        country: 'US',
        shipping: 500,
        tax: 312,
        total: 4_592,
        taxIncluded: false,
        isCancelled: false,
        customer: { externalId: 'gid://shopify/Customer/7', emails: ['a@example.test'] },
        lines: [{ sku: 'BAR-1', quantity: 2, unitPrice: 1_990, discount: 200, tax: 312 }],
        personal: { recipientName: 'A Buyer', shippingAddress: { line1: '1 Main Street', region: 'TX', countryCode: 'US' } },
      },
    ]);
    expect(await shop.listOrders({ ...QUERY, ids: ['6'] })).toEqual({ records: [], malformed: [], next: null });
    expect(double.asked.map(one => one.variables)).toEqual([{ ids: ['gid://shopify/Order/5'] }, { ids: ['gid://shopify/Order/6'] }]);
  });

  test('an order that is not paid yet is none', async () => {
    double.replies.push(data({ orders: { nodes: [{ ...ORDER, displayFinancialStatus: 'PENDING' }], pageInfo: pages(null) } }));
    expect(await shop.listOrders(QUERY)).toEqual({ records: [], malformed: [], next: null });
  });

  test('a customer is set by address where new, by id where known, with no more than address and name', async () => {
    const set = { customerSet: { customer: { id: 'gid://shopify/Customer/7' }, userErrors: [] } };
    double.replies.push(data(set), data(set));
    const customer = { userId: 'u', brandId: 'b', externalId: null, email: 'a@example.test', displayName: 'A' };
    const externalId = await shop.upsertCustomer(customer);
    await shop.upsertCustomer({ ...customer, externalId, displayName: null });
    expect(double.asked.map(one => one.variables)).toEqual([
      { identifier: { email: 'a@example.test' }, input: { email: 'a@example.test', firstName: 'A' } },
      { identifier: { id: externalId }, input: { email: 'a@example.test' } },
    ]);
  });

  test('groups are tags of ours; others stay', async () => {
    const done = { userErrors: [] };
    double.replies.push(
      data({ customer: { tags: ['vip', 'affiliate', 'affiliate-silver'] } }),
      data({ tagsRemove: done }),
      data({ tagsAdd: done }),
    );
    await shop.setCustomerGroups('gid://shopify/Customer/7', ['affiliate', 'affiliate-gold']);
    expect(double.asked.slice(1).map(one => [one.name, one.variables.tags])).toEqual([
      ['RemoveTags', ['affiliate-silver']],
      ['AddTags', ['affiliate-gold']],
    ]);
  });

  test('stock is set at the place that is configured, and customers are erased', async () => {
    double.replies.push(data({ productVariant: { inventoryItem: { id: 'gid://shopify/InventoryItem/3' } } }));
    double.replies.push(
      data({ inventorySetQuantities: { userErrors: [] } }),
      data({ customerRequestDataErasure: { customerId: 'x', userErrors: [] } }),
    );
    await shop.adjustStock('gid://shopify/ProductVariant/11', 6);
    await shop.eraseCustomer('gid://shopify/Customer/7');
    expect(double.asked[1]!.variables.input).toEqual({
      name: 'available',
      reason: 'correction',
      ignoreCompareQuantity: true,
      quantities: [{ inventoryItemId: 'gid://shopify/InventoryItem/3', locationId: 'gid://shopify/Location/1', quantity: 6 }],
    });
  });
});

/** A product with other fields, a variant of its own and an id by its number. */
const productOf = (number: number, more: object = {}) => {
  const [variant] = PRODUCT.variants.nodes;
  const own = { ...variant, id: `gid://shopify/ProductVariant/${number}`, sku: `SHOPIFY-${number}` };
  return { ...PRODUCT, id: `gid://shopify/Product/${number}`, handle: `bar-${number}`, variants: { nodes: [own] }, ...more };
};
const listed = (...nodes: object[]): Reply => data({ shop: { currencyCode: 'USD' }, products: { nodes, pageInfo: pages(null) } });

describe('a record that is none', () => {
  test('is named, and its page goes on: products, orders, customers', async () => {
    double.replies.push(listed(productOf(1, { variants: null }), PRODUCT, productOf(2, { title: null }), productOf(3, { id: 7 })));
    const { records, malformed } = await shop.listProducts({ ...QUERY, cursor: 'c0' });
    expect({ ids: records.map(one => one.externalId), malformed }).toEqual({
      ids: [PRODUCT.id],
      malformed: ['gid://shopify/Product/1', 'gid://shopify/Product/2', 'c0, 4'],
    });
    double.replies.push(data({ orders: { nodes: [{ ...ORDER, id: 'o-2', totalPriceSet: null }, ORDER], pageInfo: pages(null) } }));
    expect(await shop.listOrders(QUERY)).toMatchObject({ records: [{ externalId: ORDER.id }], malformed: ['o-2'] });
    double.replies.push(data({ customers: { nodes: [null, ORDER.customer], pageInfo: pages(null) } }));
    expect(await shop.listCustomers(QUERY)).toMatchObject({ records: [{ externalId: ORDER.customer.id }], malformed: ['first page, 1'] });
  });

  test('28: is counted as failed and named by the run, which takes over the others; a draft is a draft here, what is neither is archived', async () => {
    const real = await Shop.open({
      COMMERCE_STOREFRONT: 'shopify',
      COMMERCE_SHOPIFY_URL: double.url,
      COMMERCE_SHOPIFY_TOKEN: 'shpat_test',
      COMMERCE_SHOPIFY_LOCATION: 'gid://shopify/Location/1',
      COMMERCE_EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
    });
    const stock = data({ productVariant: null });
    double.replies.push(
      listed(productOf(1), productOf(2, { variants: null }), productOf(3, { status: 'DRAFT' }), productOf(4, { status: 'ARCHIVED' })),
      stock,
      stock,
      stock,
    );
    const { id } = await real.ok('POST', '/products/sync', {});
    const run = await until(
      'the run',
      () => real.ok('GET', `/admin/sync/${id}`),
      one => one.finished_at !== null,
      20_000,
    );
    expect(run).toMatchObject({
      status: 'partial',
      counts: { seen: 4, created: 3, failed: 1 },
      failures: [{ external_id: 'gid://shopify/Product/2', code: 'malformed_record' }],
    });
    const rows = await real.p.sql(`select slug, status from commerce.product where slug like 'bar-%' order by slug`);
    expect(rows.map(one => `${one.slug} ${one.status}`)).toEqual(['bar-1 active', 'bar-3 draft', 'bar-4 archived']);
  }, 400_000);
});

describe('limits and faults of Shopify', () => {
  test('30: a 429 is waited out as long as Retry-After says', async () => {
    double.replies.push({ status: 429, headers: { 'retry-after': '2.0' }, body: {} }, { status: 429, body: {} });
    expect([await busy(shop.listCustomers(QUERY)), await busy(shop.listCustomers(QUERY))]).toEqual([2_000, null]);
  });

  test('30: a document that was throttled, or would be, waits until the bucket holds its cost', async () => {
    const cost = { requestedQueryCost: 100, throttleStatus: { currentlyAvailable: 40, restoreRate: 20 } };
    double.replies.push({ body: { errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }], extensions: { cost } } });
    for (const _ of ['asked', 'not asked']) {
      const wait = await busy(shop.listCustomers(QUERY));
      expect(wait).toBeGreaterThan(2_000);
      expect(wait).toBeLessThanOrEqual(3_000);
    }
    expect(double.asked).toHaveLength(1);
  });

  test('errors, refused inputs, other statuses and private addresses are failures that name nobody', async () => {
    const refusal = { field: ['email'], message: 'a@example.test is taken' };
    double.replies.push(
      { body: { errors: [{ message: 'a@example.test is wrong' }] } },
      data({ customerSet: { customer: null, userErrors: [refusal] } }),
      { status: 502, body: {} },
    );
    const customer = { userId: 'u', brandId: 'b', externalId: null, email: 'a@example.test', displayName: null };
    for (const message of ['Shopify refused a document', 'Shopify refused an input', 'Shopify answered with 502'])
      await expect(shop.upsertCustomer(customer)).rejects.toThrow(message);
    await expect(storefront('another').listOrders(QUERY)).rejects.toThrow('Shopify answered with 401');
    await expect(storefront('shpat_test', []).listOrders(QUERY)).rejects.toThrow(/address|network|allowed/i);
    expect(double.asked).toHaveLength(3);
  });

  test('amounts are read without floats: JPY has no digits after the point, KWD three, and what is finer is no amount', () => {
    const read = [minorUnits('5940', 'JPY'), minorUnits('12.5', 'KWD'), minorUnits('0.29', 'USD'), minorUnits('19.90', 'USD')];
    expect(read).toEqual([5_940, 12_500, 29, 1_990]);
    expect([minorUnits('1.005', 'USD'), minorUnits('-1', 'USD'), minorUnits('1e3', 'USD')]).toEqual([NaN, NaN, NaN]);
    expect(minorUnits('5.0', 'JPY')).toBe(5);
  });
});
