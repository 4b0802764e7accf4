import type { Context } from '../../../runtime/request/context.js';

const PRODUCT = `insert into commerce.embedded_storefront_product (external_id, brand_id, data, updated_at) values ($1, $2, $3, $4)`;
const CUSTOMER = `insert into commerce.embedded_storefront_customer (external_id, brand_id, data) values ($1, $2, $3)`;
const ORDER = `insert into commerce.embedded_storefront_order (external_id, brand_id, data, updated_at) values ($1, $2, $3, $4)`;

const SKU = 'TOTE-1';

const product = {
  handle: 'tote-bag',
  title: 'Tote bag',
  descriptionHtml: '<p>Carries what the storefront sells.</p>',
  status: 'active',
  tags: ['storefront'],
  variants: [
    {
      externalId: 'variant-1',
      sku: SKU,
      title: 'Tote bag',
      barcode: null,
      price: { amount: 1_800, currency: 'USD' },
      weightGrams: 120,
      requiresShipping: true,
      quantity: 12,
    },
  ],
};

const order = {
  customer: { externalId: 'customer-1', emails: ['demo@example.test'] },
  currency: 'USD',
  country: 'US',
  lines: [{ sku: SKU, title: 'Tote bag', quantity: 1, unitPrice: 1_800, discount: 0, tax: 0 }],
  shipping: 500,
  tax: 0,
  total: 2_300,
  taxIncluded: false,
  isCancelled: false,
  personal: null,
};

/** What the embedded storefront has at first: a product, a customer who is the demo person, an order of theirs. */
export async function seedStorefront(ctx: Context, brandId: string): Promise<void> {
  const now = ctx.now().toISOString();
  await ctx.sql(PRODUCT, ['product-1', brandId, JSON.stringify(product), now]);
  await ctx.sql(CUSTOMER, ['customer-1', brandId, JSON.stringify({ emails: ['demo@example.test'] })]);
  await ctx.sql(ORDER, ['order-1', brandId, JSON.stringify(order), now]);
}
