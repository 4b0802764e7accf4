import { mayAccess } from '../../../runtime/access/access.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import type { RequestInfo } from '../../../runtime/request/request.js';
import { CATALOGUE_EDITORS } from '../entities/access.js';
import { Product, ProductVariant } from '../entities/product.js';
import type { CatalogueRow, CatalogueVariant } from '../rules/catalogue.js';

const PAGE = 100;

interface PriceRow {
  variantId: string;
  amount: number;
  compareAt: number | null;
  currency: string;
  country: string | null;
  startsAt: string | null;
  endsAt: string | null;
  taxInclusive: boolean;
}

const instant = (column: string): string => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const PRICES = `select variant_id as "variantId", amount::float8 as amount, compare_at::float8 as "compareAt", currency, nullif(country, '') as country,
  ${instant('starts_at')} as "startsAt", ${instant('ends_at')} as "endsAt", tax_inclusive as "taxInclusive"
from commerce.variant_price where variant_id = any($1) order by currency, country, starts_at nulls first, id`;
const COMPONENTS = `select c.variant_id as "variantId", v.sku, c.quantity from commerce.variant_component c join commerce.product_variant v on v.id = c.component_id
where c.variant_id = any($1) order by v.sku`;

const without = <Value extends object>(value: Value): Partial<Value> =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null && one !== undefined)) as Partial<Value>;

const priceOf = ({ amount, compareAt, currency, country, startsAt, endsAt, taxInclusive }: PriceRow): object => ({
  amount: { amount, currency },
  ...without({
    compare_at: compareAt === null ? null : { amount: compareAt, currency },
    country,
    starts_at: startsAt,
    ends_at: endsAt,
  }),
  tax_inclusive: taxInclusive,
});

const variantOf = (variant: ProductVariant, components: object[], prices: object[]): CatalogueVariant => ({
  sku: variant.sku,
  title: variant.title,
  ...without({
    barcode: variant.barcode,
    weight_grams: variant.weightGrams,
    hs_code: variant.hsCode,
    origin_country: variant.originCountry,
  }),
  option_values: variant.optionValues,
  track_inventory: variant.trackInventory,
  backorder: variant.backorder,
  backorder_limit: variant.backorderLimit,
  max_per_order: variant.maxPerOrder,
  requires_shipping: variant.requiresShipping,
  lot_tracked: variant.lotTracked,
  components,
  prices,
});

function rowOf(product: Product, variants: CatalogueVariant[], seesMedication: boolean): CatalogueRow {
  const { slug, title, subtitle, descriptionHtml, kind, status, purchaseRequirement, entitlementKey, medicationCode, taxCategory } =
    product;
  return {
    slug,
    title,
    ...without({ subtitle, description_html: descriptionHtml }),
    kind,
    status,
    purchase_requirement: purchaseRequirement,
    ...without({ entitlement_key: entitlementKey, medication_code: seesMedication ? medicationCode : null }),
    tax_category: taxCategory,
    categories: product.categories,
    tags: product.tags,
    options: product.options.map(({ name, values }) => ({ name, values })),
    images: product.images.map(({ url, alt, width, height }) => ({ url, ...without({ alt, width, height }) })),
    subscription_offers: product.offers.map(({ cadence: { unit, count }, discountBps }) => ({
      cadence: { unit, count },
      discount_bps: discountBps,
    })),
    variants,
  };
}

/** Products as an import takes them: four statements, whatever their number. */
export async function catalogueRows(ctx: Context, products: readonly Product[]): Promise<CatalogueRow[]> {
  const variants = await ctx.em.find(
    ProductVariant,
    { productId: { $in: products.map(one => one.id) } },
    { orderBy: { position: 'asc', id: 'asc' } },
  );
  const ids = variants.map(one => one.id);
  const prices = Map.groupBy(await ctx.sql<PriceRow>(PRICES, [ids]), one => one.variantId);
  const components = Map.groupBy(
    await ctx.sql<{ variantId: string; sku: string; quantity: number }>(COMPONENTS, [ids]),
    one => one.variantId,
  );
  const seesMedication = mayAccess(CATALOGUE_EDITORS, ctx.caller);
  const whole = (one: ProductVariant): CatalogueVariant =>
    variantOf(
      one,
      (components.get(one.id) ?? []).map(({ sku, quantity }) => ({ sku, quantity })),
      (prices.get(one.id) ?? []).map(priceOf),
    );
  return products.map(product => rowOf(product, variants.filter(one => one.productId === product.id).map(whole), seesMedication));
}

/** The catalogue of a brand by its slugs, a page in memory at a time. */
export async function* cataloguePages(host: ServiceHost, request: RequestInfo, brandId: string): AsyncGenerator<CatalogueRow[]> {
  for (let last = ''; ;) {
    const ctx = await host.context({ ...request, contexts: new Map() });
    const products = await ctx.em.find(Product, { brandId, slug: { $gt: last } }, { orderBy: { slug: 'asc' }, limit: PAGE });
    if (products.length > 0) yield await catalogueRows(ctx, products);
    if (products.length < PAGE) return;
    last = products.at(-1)!.slug;
  }
}
