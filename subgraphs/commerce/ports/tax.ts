import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { within } from './neighbour.js';
import { stripeTax } from './stripe-tax.js';
import type { TaxableLine, TaxPlace, TaxQuote, TaxRate } from './tax-quote.js';

export type { TaxableLine, TaxPlace, TaxQuote, TaxRate } from './tax-quote.js';

/** Rates by category from the table: region and category first, then the country's; none: untaxed. Source: commerce 8. */
export async function tableRates(
  ctx: Context,
  { country, region }: TaxPlace,
  categories: readonly string[],
): Promise<ReadonlyMap<string, TaxRate>> {
  const text = `
    select distinct on (wanted) wanted, t.name, t.ppm, t.region from unnest($3::text[]) wanted
    join commerce.tax_rate t on t.country = $1 and t.region in ('', $2) and t.category in ('', wanted)
    order by wanted, (t.region <> '') desc, (t.category <> '') desc`;
  const rows = await ctx.sql<{ wanted: string; name: string; ppm: number; region: string }>(text, [
    country,
    region ?? '',
    [...new Set(categories)],
  ]);
  const place = (of: string): string => (of ? `${country}-${of}` : country).toLowerCase();
  return new Map(rows.map(row => [row.wanted, { jurisdiction: place(row.region), name: row.name, ppm: row.ppm }]));
}

export const hasOutsideTax = (ctx: Context): boolean => (ctx.host.config.setting('COMMERCE_TAX') ?? 'table') === 'stripe';

/** How long a checkout waits for taxes, ms. */
const DEADLINE_MS = 3_000;

/**
 * Taxes from the outside service; outside transactions.
 * @throws Problem unavailable after three seconds, or where it fails. Source: commerce 8.
 */
export async function quoteTax(ctx: Context, place: TaxPlace, currency: string, lines: readonly TaxableLine[]): Promise<TaxQuote> {
  try {
    return await within(DEADLINE_MS, stripeTax(ctx.host.config).quote(place, currency, lines));
  } catch (cause) {
    throw new Problem('unavailable', 'Taxes cannot be found out right now', { retryAfter: 5, cause });
  }
}
