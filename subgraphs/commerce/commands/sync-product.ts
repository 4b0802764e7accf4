import { newId } from '../../../runtime/data/ids.js';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { PurchaseRequirement } from '../entities/enums.js';
import { Product, ProductVariant } from '../entities/product.js';
import { CreateProductInput, ProductVariantInput, UpdateProductInput, VariantPriceInput } from '../inputs/product.js';
import type { Brand } from '../ports/brands.js';
import { linkOf } from '../queries/storefront-link.js';
import { stockOf } from '../queries/stock.js';
import type { StorefrontPort } from '../ports/storefront-port.js';
import { failed, productFault, productHash, type Outcome } from '../rules/storefront.js';
import type { StorefrontProduct, StorefrontVariant } from '../rules/storefront-record.js';
import { changeProduct, makeProduct, writeNewVariants } from './product.js';
import { writeLink } from './storefront-link.js';

const variantInput = ({ sku, title, barcode, price, weightGrams, requiresShipping }: StorefrontVariant): ProductVariantInput =>
  Object.assign(new ProductVariantInput(), {
    sku,
    title,
    barcode,
    weightGrams,
    requiresShipping,
    components: [],
    optionValues: [],
    prices: [Object.assign(new VariantPriceInput(), { amount: price })],
  });

const PRICE = `
with changed as (
  update commerce.variant_price set amount = $3, compare_at = case when compare_at > $3 then compare_at end
  where variant_id = $1 and currency = $2 and country = '' and starts_at is null and ends_at is null returning 1)
insert into commerce.variant_price (id, variant_id, brand_id, currency, country, amount, tax_inclusive)
select $4, $1, $5, $2, '', $3, false where not exists (select 1 from changed)`;

/** A variant that is here already keeps what only we say of it: lots, limits, prices in other currencies. */
async function changeVariant(ctx: Context, product: Product, variant: ProductVariant, given: StorefrontVariant): Promise<void> {
  const { title, barcode, weightGrams, requiresShipping, price } = given;
  Object.assign(variant, { title, barcode, weightGrams, requiresShipping, updatedAt: ctx.now() });
  await ctx.em.flush();
  await ctx.sql(PRICE, [variant.id, price.currency, price.amount, newId(), product.brandId]);
}

/** What we sell of a product is changed; what the storefront has in addition is made. */
async function updateFrom(ctx: Context, brand: Brand, id: string, record: StorefrontProduct): Promise<Product> {
  const known = await ctx.em.find(ProductVariant, { productId: id });
  const bySku = new Map(known.map(one => [one.sku, one]));
  const { title, descriptionHtml, tags, status } = record;
  const change = Object.assign(new UpdateProductInput(), { id, title, descriptionHtml, tags, status });
  const product = await changeProduct(ctx, brand, change);
  for (const one of record.variants) {
    const variant = bySku.get(one.sku);
    if (variant) await changeVariant(ctx, product, variant, one);
  }
  await writeNewVariants(ctx, product, record.variants.filter(one => !bySku.has(one.sku)).map(variantInput));
  return product;
}

const createInput = (record: StorefrontProduct): CreateProductInput => {
  const { handle: slug, title, descriptionHtml, tags, status, variants } = record;
  return Object.assign(new CreateProductInput(), {
    slug,
    title,
    descriptionHtml,
    tags,
    status,
    variants: variants.map(variantInput),
    categories: [],
    options: [],
    images: [],
    subscriptionOffers: [],
  });
};

/** Takes a product of the storefront over; one of the same handle is the same product. Source: commerce 7.28. */
export async function takeProduct(ctx: Context, system: string, brand: Brand, record: StorefrontProduct): Promise<Outcome> {
  const { externalId } = record;
  const link = await linkOf(ctx, system, 'product', externalId);
  const contentHash = productHash(record);
  if (link?.contentHash === contentHash) return { kind: 'unchanged' };
  const fault = productFault(record);
  if (fault !== null) return failed(fault);
  const known = link ? { id: link.entityId } : await ctx.em.findOne(Product, { brandId: brand.id, slug: record.handle });
  if (known) await lockRow(ctx, Product, { id: known.id, brandId: brand.id }, 'No such product');
  const product = known ? await updateFrom(ctx, brand, known.id, record) : await makeProduct(ctx, brand, createInput(record));
  await writeLink(ctx, system, 'product', { entityId: product.id, externalId, contentHash });
  return { kind: known ? 'updated' : 'created' };
}

const SOLD = `select v.id, v.sku from commerce.product_variant v join commerce.product p on p.id = v.product_id
where v.sku = any($1) and p.brand_id = $2 and p.purchase_requirement <> '${PurchaseRequirement.PRESCRIPTION}'`;

/** Tells the storefront how much of a product there is, where it believes otherwise. What needs a prescription is none of its business. */
export async function tellStock(ctx: Context, port: StorefrontPort, brandId: string, { variants }: StorefrontProduct): Promise<void> {
  const counted = variants.filter(one => one.quantity !== null);
  const told = await ctx.host.read(async own => {
    const rows = await own.sql<{ id: string; sku: string }>(SOLD, [counted.map(one => one.sku), brandId]);
    const stock = await stockOf(
      own,
      rows.map(one => one.id),
    );
    return new Map(rows.flatMap(({ id, sku }) => (stock.get(id)?.tracked ? [[sku, Math.max(0, stock.get(id)!.available)] as const] : [])));
  });
  for (const { sku, externalId, quantity } of counted) {
    const available = told.get(sku);
    if (available !== undefined && available !== quantity) await port.adjustStock(externalId, available);
  }
}
