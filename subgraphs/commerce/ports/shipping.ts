import type { Context } from '../../../runtime/request/context.js';

/** A way to ship; minor units. */
export interface ShippingRate {
  code: string;
  name: string;
  amount: number;
  minDays: number;
  maxDays: number;
}

/** What a parcel is judged by. */
export interface Parcel {
  brandId: string;
  country: string;
  currency: string;
  grams: number;
  /** After discount, minor units. */
  subtotal: number;
}

/** Ways to ship a parcel, the cheapest first; none where the country is not served. Source: commerce 8. */
export async function shippingRates(ctx: Context, { brandId, country, currency, grams, subtotal }: Parcel): Promise<ShippingRate[]> {
  const text = `
    select r.code, r.name, r.amount::float8 as amount, r.min_days as "minDays", r.max_days as "maxDays"
    from commerce.shipping_zone z join commerce.shipping_rate r on r.zone_id = z.id
    where z.brand_id = $1 and $2 = any(z.countries) and r.currency = $3 and $4 >= r.min_grams and ($4 < r.max_grams or r.max_grams is null)
      and $5::bigint >= r.min_subtotal and ($5::bigint < r.max_subtotal or r.max_subtotal is null)
    order by r.amount, r.code`;
  return ctx.sql<ShippingRate>(text, [brandId, country, currency, grams, subtotal]);
}

/** Countries that a brand ships to. */
export async function shippingCountries(ctx: Context, brandIds: readonly string[]): Promise<Map<string, string[]>> {
  const text = `select brand_id as "brandId", array_agg(distinct country order by country) as countries
    from commerce.shipping_zone, unnest(countries) country where brand_id = any($1) group by brand_id`;
  const rows = await ctx.sql<{ brandId: string; countries: string[] }>(text, [brandIds]);
  return new Map(rows.map(row => [row.brandId, row.countries]));
}
