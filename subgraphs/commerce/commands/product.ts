import { lazyPackage } from '../../../runtime/lazy.js';
import { newId } from '../../../runtime/data/ids.js';
import { lockRow, requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { ProductKind, ProductStatus } from '../entities/enums.js';
import { Product, ProductVariant, type ProductImage } from '../entities/product.js';
import type {
  CreateProductInput,
  ProductImageInput,
  ProductVariantInput,
  SetVariantPricesInput,
  SubscriptionOfferInput,
  UpdateProductInput,
  VariantPriceInput,
} from '../inputs/product.js';
import { brandOf, type Brand } from '../ports/brands.js';
import { imageUrlFault } from '../rules/address.js';
import { isCadence } from '../rules/cadence.js';
import { ensureSomeLevel } from './inventory.js';

const sanitizeHtml = lazyPackage<typeof import('sanitize-html')>(import.meta.url, 'sanitize-html');

const ALLOWED = {
  allowedTags: ['p', 'br', 'b', 'strong', 'i', 'em', 'u', 'ul', 'ol', 'li', 'h2', 'h3', 'h4', 'a', 'blockquote'],
  allowedAttributes: { a: ['href'] },
  allowedSchemes: ['https', 'mailto'],
};

const clean = (html: string | null | undefined): string | null => (html == null ? null : sanitizeHtml()(html, ALLOWED));

/** The brand of a new product. */
export const productBrand = preparation((ctx: Context, { input }: { input: CreateProductInput }) =>
  brandOf(ctx.host, { id: input.brandId, fallbackId: ctx.caller.brandId }),
);

const PRODUCT_BRAND = 'select brand_id as "brandId" from commerce.product where id = $1';

/** The brand of a product that is changed. @throws Problem not_found. */
export const changedBrand = preparation(async (ctx: Context, { input }: { input: UpdateProductInput }) => {
  const [row] = await ctx.sql<{ brandId: string }>(PRODUCT_BRAND, [input.id.toLowerCase()]);
  return row ? brandOf(ctx.host, { id: row.brandId }) : fail('not_found', 'No such product');
});

const mediaHost = (ctx: Context): string | null => URL.parse(ctx.host.config.setting('MEDIA_BASE_URL') ?? '')?.hostname ?? null;

function imagesFrom(ctx: Context, { hosts }: Brand, images: readonly ProductImageInput[]): ProductImage[] {
  const allowed = { hosts, mediaHost: mediaHost(ctx), production: ctx.host.config.production };
  const faults = images.flatMap(({ url }, index) => {
    const message = imageUrlFault(url, allowed);
    return message === null ? [] : [{ pointer: `/input/images/${index}/url`, message }];
  });
  requireValid(faults);
  return images.map(({ url, alt = null, width = null, height = null }, position) => ({
    url,
    alt,
    width,
    height,
    position,
    variantIds: [],
  }));
}

function requireOffers(offers: readonly SubscriptionOfferInput[]): void {
  requireValid(
    offers.flatMap(({ cadence }, index) =>
      isCadence(cadence)
        ? []
        : [{ pointer: `/input/subscriptionOffers/${index}/cadence/count`, message: 'is 1 to 26 weeks or 1 to 12 months' }],
    ),
  );
}

const PRICE = `
insert into commerce.variant_price (id, variant_id, brand_id, currency, country, amount, compare_at, starts_at, ends_at, tax_inclusive)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

const isOverlap = (error: unknown): boolean => (error as { code?: string }).code === '23P01';

/** Takes the place of all prices of a variant. @throws Problem invalid_request, conflict where two would hold at once. */
export async function writePrices(
  ctx: Context,
  variantId: string,
  brandId: string,
  prices: readonly VariantPriceInput[],
  pointer = '/input/prices',
): Promise<void> {
  const faults = prices.flatMap(({ amount, compareAt, startsAt, endsAt }, index) => [
    ...(compareAt && (compareAt.currency !== amount.currency || compareAt.amount <= amount.amount)
      ? [{ pointer: `${pointer}/${index}/compareAt`, message: 'must be more, in the same currency' }]
      : []),
    ...(startsAt && endsAt && startsAt >= endsAt
      ? [{ pointer: `${pointer}/${index}/endsAt`, message: 'must be after the beginning' }]
      : []),
  ]);
  requireValid(faults);
  await ctx.sql('delete from commerce.variant_price where variant_id = $1', [variantId]);
  for (const { amount, compareAt, country, startsAt, endsAt, taxInclusive } of prices) {
    const values = [newId(), variantId, brandId, amount.currency, country ?? '', amount.amount, compareAt?.amount ?? null];
    await ctx.sql(PRICE, [...values, startsAt?.toISOString() ?? null, endsAt?.toISOString() ?? null, taxInclusive]).catch(error => {
      if (isOverlap(error))
        fail('conflict', 'Two prices would hold at once', { reason: 'price_overlap', errors: [{ pointer, message: 'overlap in time' }] });
      throw error;
    });
  }
}

async function writeComponents(ctx: Context, variant: ProductVariant, { components }: ProductVariantInput, pointer: string): Promise<void> {
  await ctx.sql('delete from commerce.variant_component where variant_id = $1', [variant.id]);
  for (const [index, { sku, quantity }] of components.entries()) {
    const part = await ctx.em.findOne(ProductVariant, { sku });
    const isFit = part && !part.isBundle && part.id !== variant.id;
    requireValid(isFit ? [] : [{ pointer: `${pointer}/components/${index}/sku`, message: 'is no plain variant' }]);
    await ctx.sql('insert into commerce.variant_component (variant_id, component_id, quantity) values ($1, $2, $3)', [
      variant.id,
      part!.id,
      quantity,
    ]);
  }
}

/** Makes a variant, or changes the product's one of this sku. @throws Problem invalid_request, conflict for another's sku. */
async function writeVariant(ctx: Context, product: Product, input: ProductVariantInput, index: number): Promise<void> {
  const pointer = `/input/variants/${index}`;
  const isBundle = input.components.length > 0;
  if (isBundle !== (product.kind === ProductKind.BUNDLE))
    requireValid([{ pointer: `${pointer}/components`, message: 'are those of a bundle' }]);
  const known = await ctx.em.findOne(ProductVariant, { sku: input.sku });
  if (known && known.productId !== product.id)
    fail('conflict', 'The sku is taken', { reason: 'sku_taken', errors: [{ pointer: `${pointer}/sku`, message: 'is taken' }] });
  const variant =
    known ?? Object.assign(new ProductVariant(), { productId: product.id, sku: input.sku, position: index, createdAt: ctx.now() });
  const {
    barcode = null,
    optionValues,
    backorder,
    backorderLimit,
    maxPerOrder,
    weightGrams = null,
    requiresShipping,
    hsCode = null,
    originCountry = null,
    lotTracked,
  } = input;
  const trackInventory = input.trackInventory && !isBundle;
  Object.assign(variant, {
    barcode,
    optionValues,
    backorder,
    backorderLimit,
    maxPerOrder,
    weightGrams,
    requiresShipping,
    hsCode,
    originCountry,
    lotTracked,
    trackInventory,
    isBundle,
    title: input.title ?? product.title,
    updatedAt: ctx.now(),
  });
  await ctx.em.persist(variant).flush();
  await writeComponents(ctx, variant, input, pointer);
  if (input.prices.length > 0) await writePrices(ctx, variant.id, product.brandId, input.prices, `${pointer}/prices`);
  if (trackInventory) await ensureSomeLevel(ctx, variant.id);
}

/** Makes variants of a product in addition to those that it has. @throws Problem conflict for another's sku. */
export async function writeNewVariants(ctx: Context, product: Product, inputs: readonly ProductVariantInput[]): Promise<void> {
  const known = await ctx.em.count(ProductVariant, { productId: product.id });
  for (const [index, input] of inputs.entries()) await writeVariant(ctx, product, input, known + index);
  await indexProduct(ctx, product.id);
}

const SEARCH = `
update commerce.product p set search_text = concat_ws(' ', p.title, p.subtitle, array_to_string(p.tags, ' '), array_to_string(p.categories, ' '),
  (select string_agg(v.sku || ' ' || v.title, ' ') from commerce.product_variant v where v.product_id = p.id)) where p.id = $1`;

/** What a product is found by. */
export async function indexProduct(ctx: Context, id: string): Promise<void> {
  await ctx.em.flush();
  await ctx.sql(SEARCH, [id]);
}

function setStatus(ctx: Context, product: Product, status: ProductStatus): void {
  product.status = status;
  if (status === ProductStatus.ACTIVE) product.publishedAt ??= ctx.now();
}

/** Makes a product with its variants. Used by the catalogue's import, too. */
export async function makeProduct(ctx: Context, brand: Brand, input: CreateProductInput): Promise<Product> {
  requireOffers(input.subscriptionOffers);
  const {
    slug,
    title,
    subtitle = null,
    kind,
    purchaseRequirement,
    entitlementKey = null,
    medicationCode = null,
    taxCategory,
    categories,
    tags,
    options,
  } = input;
  const given = {
    slug,
    title,
    subtitle,
    kind,
    purchaseRequirement,
    entitlementKey,
    medicationCode,
    taxCategory,
    categories,
    tags,
    options,
  };
  const product = Object.assign(new Product(), given, {
    brandId: brand.id,
    descriptionHtml: clean(input.descriptionHtml),
    images: imagesFrom(ctx, brand, input.images),
    createdAt: ctx.now(),
    updatedAt: ctx.now(),
  });
  product.offers = input.subscriptionOffers.map(({ cadence: { unit, count }, discountBps }) => ({ cadence: { unit, count }, discountBps }));
  setStatus(ctx, product, input.status);
  if (await ctx.em.findOne(Product, { brandId: brand.id, slug }))
    fail('conflict', 'The slug is taken', { reason: 'slug_taken', errors: [{ pointer: '/input/slug', message: 'is taken' }] });
  await ctx.em.persist(product).flush();
  for (const [index, variant] of input.variants.entries()) await writeVariant(ctx, product, variant, index);
  await indexProduct(ctx, product.id);
  ctx.audit('product.created', product.id, { variants: input.variants.length });
  return product;
}

export const createProduct = (ctx: Context, input: CreateProductInput): Promise<Product> => makeProduct(ctx, productBrand.of(ctx), input);

export const updateProduct = (ctx: Context, input: UpdateProductInput): Promise<Product> => changeProduct(ctx, changedBrand.of(ctx), input);

/** @throws Problem not_found, invalid_request, conflict. */
export async function changeProduct(ctx: Context, brand: Brand, input: UpdateProductInput): Promise<Product> {
  const product = await lockRow(ctx, Product, { id: input.id.toLowerCase() }, 'No such product');
  requireVersion(product, input.version);
  const { title, purchaseRequirement, categories, tags, subtitle, entitlementKey } = input;
  const required = { title, purchaseRequirement, categories, tags };
  Object.assign(product, Object.fromEntries(Object.entries(required).filter(([, value]) => value != null)));
  if (subtitle !== undefined) product.subtitle = subtitle;
  if (entitlementKey !== undefined) product.entitlementKey = entitlementKey;
  if (input.descriptionHtml !== undefined) product.descriptionHtml = clean(input.descriptionHtml);
  if (input.images != null) product.images = imagesFrom(ctx, brand, input.images);
  if (input.subscriptionOffers != null) {
    requireOffers(input.subscriptionOffers);
    product.offers = input.subscriptionOffers.map(({ cadence: { unit, count }, discountBps }) => ({
      cadence: { unit, count },
      discountBps,
    }));
  }
  if (input.status != null) setStatus(ctx, product, input.status);
  for (const [index, variant] of (input.variants ?? []).entries()) await writeVariant(ctx, product, variant, index);
  product.updatedAt = ctx.now();
  product.version += 1;
  await indexProduct(ctx, product.id);
  ctx.audit('product.updated', product.id);
  return product;
}

/** It is shown and sold no more; orders keep what they say. */
export async function archiveProduct(ctx: Context, id: string): Promise<Product> {
  const product = await lockRow(ctx, Product, { id: id.toLowerCase() }, 'No such product');
  Object.assign(product, { status: ProductStatus.ARCHIVED, updatedAt: ctx.now(), version: product.version + 1 });
  ctx.audit('product.archived', product.id);
  return product;
}

/** @throws Problem not_found, invalid_request, conflict. */
export async function setVariantPrices(ctx: Context, { variantId, prices }: SetVariantPricesInput): Promise<ProductVariant> {
  const variant = await lockRow(ctx, ProductVariant, { id: variantId.toLowerCase() }, 'No such variant');
  const product = (await ctx.em.findOne(Product, { id: variant.productId }))!;
  await writePrices(ctx, variant.id, product.brandId, prices);
  variant.updatedAt = ctx.now();
  ctx.audit('product_variant.prices_set', variant.id, { prices: prices.length });
  return variant;
}
