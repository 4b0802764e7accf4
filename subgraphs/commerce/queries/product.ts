import { holdsPermission } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { findRow } from '../../../runtime/data/rows.js';
import { ProductStatus } from '../entities/enums.js';
import { Product, ProductVariant, type VariantPrice } from '../entities/product.js';
import { componentsOf } from './stock.js';

/** Whether the caller edits the catalogue, and so sees drafts and every quantity. */
export const isEditor = ({ caller }: Context): boolean =>
  caller.kind === 'system' ||
  (caller.kind === 'service' && caller.scopes.has('admin:commerce')) ||
  holdsPermission(caller, 'admin:commerce:catalog');

/** @returns null for a draft, unless the caller edits the catalogue. */
export const productById = (ctx: Context, id: string): Promise<Product | null> =>
  findRow(ctx, Product, { id: id.toLowerCase(), ...(isEditor(ctx) ? {} : { status: ProductStatus.ACTIVE }) });

/** Variants of a product, by position, in a batch with all products that the request shows. */
export const loadVariants = async (ctx: Context, productId: string): Promise<ProductVariant[]> =>
  (await ctx.load('commerce.variants', productId, async ids => {
    const rows = await ctx.em.find(ProductVariant, { productId: { $in: ids as string[] } }, { orderBy: { position: 'asc', id: 'asc' } });
    return ids.map(id => rows.filter(one => one.productId === id));
  })) ?? [];

const PRICES = `
select distinct on (r.variant_id) r.id, r.variant_id as "variantId", r.brand_id as "brandId", r.currency, r.amount::float8 as amount,
  r.compare_at::float8 as "compareAt", nullif(r.country, '') as country, (extract(epoch from r.starts_at) * 1000)::float8 as "startsMs",
  (extract(epoch from r.ends_at) * 1000)::float8 as "endsMs", r.tax_inclusive as "taxInclusive"
from commerce.variant_price r where r.variant_id = any($1) and r.currency = $2 and r.country in ('', $3)
  and (r.starts_at is null or r.starts_at <= $4) and (r.ends_at is null or r.ends_at > $4) order by r.variant_id, r.country desc`;

type PriceRow = Omit<VariantPrice, 'amount' | 'compareAt' | 'startsAt' | 'endsAt'> & {
  amount: number;
  compareAt: number | null;
  currency: string;
  startsMs: number | null;
  endsMs: number | null;
};

function priceFrom({ amount, compareAt, currency, startsMs, endsMs, ...row }: PriceRow): VariantPrice {
  const at = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
  return {
    ...row,
    amount: { amount, currency },
    compareAt: compareAt === null ? null : { amount: compareAt, currency },
    startsAt: at(startsMs),
    endsAt: at(endsMs),
  };
}

/** The price of a variant in a market now, in a batch. */
export const loadPrice = (ctx: Context, variantId: string, currency: string, country: string): Promise<VariantPrice | null> =>
  ctx.load(`commerce.price.${currency}.${country}`, variantId, async ids => {
    const rows = await ctx.sql<PriceRow>(PRICES, [ids, currency, country, ctx.now().toISOString()]);
    const byVariant = new Map(rows.map(row => [row.variantId, priceFrom(row)]));
    return ids.map(id => byVariant.get(id) ?? null);
  });

/** Parts of a bundle, in a batch. */
export const loadComponents = async (ctx: Context, variantId: string): Promise<{ componentId: string; quantity: number }[]> =>
  (await ctx.load('commerce.components', variantId, async ids => {
    const rows = await componentsOf(ctx, ids as string[]);
    return ids.map(id => rows.filter(one => one.variantId === id));
  })) ?? [];
