/** Rows of the catalogue, as they come in and go out. Source: commerce 4.2. */

export interface CatalogueVariant {
  sku: string;
  prices?: object[];
  [key: string]: unknown;
}

/** A product by the names of the wire, what has no value left out. */
export interface CatalogueRow {
  slug: string;
  variants: CatalogueVariant[];
  [key: string]: unknown;
}

/** Columns of CSV; those of {@link isText} stand as they are, all others as JSON. */
export const COLUMNS: readonly string[] = [
  'slug',
  'title',
  'subtitle',
  'description_html',
  'kind',
  'status',
  'purchase_requirement',
  'entitlement_key',
  'medication_code',
  'tax_category',
  'categories',
  'tags',
  'options',
  'images',
  'subscription_offers',
  'variants',
];

const JSON_COLUMNS: ReadonlySet<string> = new Set(['categories', 'tags', 'options', 'images', 'subscription_offers', 'variants']);
export const isText = (column: string): boolean => !JSON_COLUMNS.has(column);

/** What a product is made with, and no change of it can touch. */
export const FIXED = ['kind', 'medication_code', 'tax_category', 'options'] as const;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const present = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));

/** Prices take the place of all others; a row without any says nothing about them. */
function mergedVariant(known: CatalogueVariant | undefined, given: Record<string, unknown>): Record<string, unknown> {
  const { prices, ...others } = given;
  const named = Array.isArray(prices) && prices.length > 0 ? { prices } : {};
  return present({ ...known, ...others, ...(known ? named : { ...(prices !== undefined && { prices }) }) });
}

function mergedVariants(known: readonly CatalogueVariant[], given: readonly unknown[]): unknown[] {
  const named = new Map(given.filter(isObject).map(one => [one.sku, one]));
  return [
    ...known.map(one => (named.has(one.sku) ? mergedVariant(one, named.get(one.sku)!) : one)),
    ...given.filter(one => !isObject(one) || !known.some(other => other.sku === one.sku)),
  ];
}

/** What a product is after a row: what the row does not name stays, null takes a value away, and variants are found by their sku. */
export function merged(known: CatalogueRow, given: Record<string, unknown>): Record<string, unknown> {
  const { variants, ...others } = given;
  const isList = Array.isArray(variants);
  return present({ ...known, ...others, variants: isList ? mergedVariants(known.variants, variants) : (variants ?? known.variants) });
}
