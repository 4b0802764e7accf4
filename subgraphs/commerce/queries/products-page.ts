import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { invalid } from '../../../runtime/request/errors.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { ProductSort, ProductStatus } from '../entities/enums.js';
import { Product } from '../entities/product.js';
import type { ProductsArgs } from '../inputs/product.js';
import type { Brand } from '../ports/brands.js';
import { fold, wordsOf } from '../rules/search.js';
import { isEditor } from './product.js';
import { todayOf } from './stock.js';

interface Sort {
  /** Null: the rank of what is searched for. */
  by: string | null;
  /** Of its key in a cursor. */
  cast: 'timestamptz' | 'text' | 'bigint' | 'float8';
  direction: 'asc' | 'desc';
}

const SORTS: Readonly<Record<ProductSort, Sort>> = {
  [ProductSort.NEWEST]: { by: 'p.created_at', cast: 'timestamptz', direction: 'desc' },
  [ProductSort.TITLE]: { by: 'p.title collate "und-x-icu"', cast: 'text', direction: 'asc' },
  [ProductSort.PRICE_ASC]: { by: 'coalesce(price.min, 9007199254740991)', cast: 'bigint', direction: 'asc' },
  [ProductSort.PRICE_DESC]: { by: 'coalesce(price.min, -1)', cast: 'bigint', direction: 'desc' },
  [ProductSort.RELEVANCE]: { by: null, cast: 'float8', direction: 'desc' },
};

/** How many prices are walked for a page by price, by products of the page: a product has some three, and some of what is met is not shown. */
const WALK = 10;

/** A statement with its parameters and conditions. */
class Query {
  readonly params: unknown[] = [];
  readonly conditions: string[] = [];
  readonly currency: string;
  readonly country: string;
  readonly now: string;
  readonly brand: string;

  constructor(ctx: Context, { currency, country }: ProductsArgs, brand: Brand) {
    this.currency = this.put(currency ?? brand.defaultCurrency);
    this.country = this.put(country ?? brand.countries[0] ?? '');
    this.now = this.put(ctx.now().toISOString());
    this.brand = this.put(brand.id);
  }

  /** A parameter's place. */
  put(value: unknown): string {
    this.params.push(value);
    return `$${this.params.length}`;
  }

  where(condition: string): void {
    this.conditions.push(condition);
  }

  /** Of a price `r`: whether it holds in the market now. */
  get holds(): string {
    return `r.currency = ${this.currency} and r.country in ('', ${this.country})
      and (r.starts_at is null or r.starts_at <= ${this.now}) and (r.ends_at is null or r.ends_at > ${this.now})`;
  }
}

const EACH_PRICE = 'commerce.product_variant v join commerce.variant_price r on r.variant_id = v.id';

/** Lowest and highest price of a product in a market now, of each by itself. */
const ownPrices = ({ holds }: Query): string => `lateral (
  select v.product_id, min(r.amount) as min, max(r.amount) as max from ${EACH_PRICE} where v.product_id = p.id and ${holds} group by v.product_id) price on true`;

/** The same of all, read once: beside 10,000 products that takes 44 ms where 10,000 look-ups take 178, and of 200 with a tag 25 where 200 look-ups take 4. */
const allPrices = ({ holds }: Query): string => `(
  select v.product_id, min(r.amount) as min, max(r.amount) as max from ${EACH_PRICE} where ${holds} group by v.product_id) price on price.product_id = p.id`;

/** Whether a variant of a product can be bought now: uncounted, backordered, on hand, or a bundle whose parts are there. */
const inStock = (today: string, now: string): string => `
  exists (select 1 from commerce.product_variant v where v.product_id = p.id and case when v.is_bundle then not exists (
    select 1 from commerce.variant_component c where c.variant_id = v.id and commerce.takeable(c.component_id, ${today}::date, ${now}) < c.quantity)
    else commerce.takeable(v.id, ${today}::date, ${now}) > 0 end)`;

/** Every word must be found: in the text as it is, or in its folded spelling, where codes are one word however they are written. */
function search(query: Query, q: string, isRanked: boolean): string {
  const [whole, words] = [fold(q), wordsOf(q)];
  if (whole === '') {
    query.where('false');
    return '0';
  }
  const wholeAt = query.put(`%${whole}%`);
  const each = words.filter(word => word !== whole).map(word => `p.folded_text like ${query.put(`%${word}%`)}`);
  query.where(`(p.folded_text like ${wholeAt}${each.length ? ` or (${each.join(' and ')})` : ''})`);
  if (!isRanked) return '0';
  return `(case when p.folded_title like ${wholeAt} then 2 else 0 end + extensions.similarity(p.search_text, ${query.put(q)}))::float8`;
}

function filter(ctx: Context, query: Query, args: ProductsArgs): void {
  query.where(`p.brand_id = ${query.brand}`);
  query.where(`p.status = ${query.put(isEditor(ctx) ? (args.status ?? ProductStatus.ACTIVE) : ProductStatus.ACTIVE)}`);
  if (args.category != null) {
    const category = query.put(args.category);
    query.where(`exists (select 1 from unnest(p.categories) c where c = ${category} or starts_with(c, ${category} || '/'))`);
  }
  if (args.tag?.length) query.where(`p.tags && ${query.put(args.tag)}::text[]`);
  if (args.requirement != null) query.where(`p.purchase_requirement = ${query.put(args.requirement)}`);
  if (args.minPrice != null) query.where(`price.max >= ${query.put(args.minPrice)}`);
  if (args.maxPrice != null) query.where(`price.min <= ${query.put(args.maxPrice)}`);
  if (args.inStock != null) query.where(`${args.inStock ? '' : 'not '}${inStock(query.put(todayOf(ctx)), query.now)}`);
}

type Key = readonly [key: string | number, id: string];

/** Whether a value is one that {@link shownKey} gives: what a database cannot read would be an error of ours. */
const IS_KEY: Readonly<Record<Sort['cast'], (key: unknown) => boolean>> = {
  timestamptz: key => typeof key === 'string' && /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/.test(key) && !Number.isNaN(Date.parse(key)),
  text: key => typeof key === 'string' && !key.includes('\0'),
  bigint: Number.isSafeInteger,
  float8: Number.isFinite,
};

/** Where a page begins. @throws Problem invalid_request for a cursor of another list. */
function keyOf({ after }: ProductsArgs, { cast }: Sort): Key | null {
  if (after == null) return null;
  const [key, id] = decodeCursor(after, 2);
  return IS_KEY[cast](key) && typeof id === 'string' && isUuid(id) ? [key as string | number, id] : (decodeCursor('', 2) as never);
}

/** Only what comes after a key. */
function beyond(query: Query, expression: string, { cast, direction }: Sort, [key, id]: Key): void {
  const operator = direction === 'desc' ? '<' : '>';
  const [keyAt, idAt] = [`${query.put(key)}::${cast}${cast === 'text' ? ' collate "und-x-icu"' : ''}`, `${query.put(id)}::uuid`];
  query.where(`(${expression} ${operator} ${keyAt} or (${expression} = ${keyAt} and p.id ${operator} ${idAt}))`);
}

/** Products by the prices that come next, each where its lowest is met. */
function walked(query: Query, { direction }: Sort, key: Key | null, first: number): string {
  const from = key ? `and r.amount ${direction === 'desc' ? '<=' : '>='} ${query.put(key[0])}::bigint` : '';
  query.where('price.min = walk.amount');
  return `(select distinct met.* from (
    select r.amount, v.product_id from commerce.variant_price r join commerce.product_variant v on v.id = r.variant_id
    where r.brand_id = ${query.brand} and ${query.holds} ${from} order by r.amount ${direction} fetch first ${WALK * (first + 1)} rows with ties) met) walk
    join commerce.product p on p.id = walk.product_id join ${ownPrices(query)}`;
}

function source(query: Query, args: ProductsArgs, { cast }: Sort): string {
  const isOfFew = args.tag != null || args.q != null;
  if (args.minPrice != null || args.maxPrice != null || cast === 'bigint')
    return `commerce.product p left join ${isOfFew ? ownPrices(query) : allPrices(query)}`;
  return `commerce.product p cross join (select ${query.currency}::text, ${query.country}::text, ${query.now}::timestamptz) given`;
}

const shownKey = (expression: string, cast: Sort['cast']): string =>
  cast === 'timestamptz'
    ? `to_char(p.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    : `(${expression})${cast === 'bigint' ? '::float8' : ''}`;

interface Row {
  id: string;
  key: string | number;
}

/** Ids of a page and of the one after it. @param isWalk only as far as a walk along the prices finds them. */
function idsOf(ctx: Context, args: ProductsArgs, brand: Brand, isWalk: boolean): Promise<Row[]> {
  const [query, sort] = [new Query(ctx, args, brand), SORTS[args.sort]];
  const key = keyOf(args, sort);
  filter(ctx, query, args);
  const rank = args.q == null ? '0' : search(query, args.q, args.sort === ProductSort.RELEVANCE);
  const expression = sort.by ?? rank;
  if (key) beyond(query, expression, sort, key);
  const from = isWalk ? walked(query, sort, key, args.first) : source(query, args, sort);
  return ctx.sql<Row>(
    `select p.id, ${shownKey(expression, sort.cast)} as key from ${from}
    where ${query.conditions.join(' and ')} order by ${expression} ${sort.direction}, p.id ${sort.direction} limit ${args.first + 1}`,
    query.params,
  );
}

/**
 * A page by price is found along the prices, from the first that may stand on it; what that leaves open, because much of it is not shown or the end
 * is near, where products without a price stand, is found among all. Beside 100,000 products all take 470 ms.
 */
async function found(ctx: Context, args: ProductsArgs, brand: Brand): Promise<Row[]> {
  const isByPrice = SORTS[args.sort].cast === 'bigint' && args.tag == null && args.q == null;
  const rows = isByPrice ? await idsOf(ctx, args, brand, true) : [];
  return rows.length > args.first ? rows : idsOf(ctx, args, brand, false);
}

/** A page of products and how to order it: ids first, then rows. Source: commerce 4.3. */
export async function productsPage(ctx: Context, args: ProductsArgs, brand: Brand): Promise<Connection<Product>> {
  if (args.sort === ProductSort.RELEVANCE && args.q == null) invalid('/sort', 'relevance needs q');
  if (args.ids != null) return byIds(ctx, args.ids, brand);
  const page = toConnection(await found(ctx, args, brand), args.first, row => [row.key, row.id]);
  const ids = page.nodes.map(one => one.id);
  return { ...page, nodes: await loadProducts(ctx, ids) };
}

/** Products that are there, in one statement; fields of their variants find them without another. */
const loadProducts = async (ctx: Context, ids: readonly string[]): Promise<Product[]> =>
  (await Promise.all(ids.map(id => loadRow(ctx, Product, 'id', id)))).filter(one => one !== null);

async function byIds(ctx: Context, ids: readonly string[], brand: Brand): Promise<Connection<Product>> {
  const known = new Set(ids.filter(isUuid).map(id => id.toLowerCase()));
  const mayShow = ({ brandId, status }: Product): boolean => brandId === brand.id && (status === ProductStatus.ACTIVE || isEditor(ctx));
  const nodes = (await loadProducts(ctx, [...known])).filter(mayShow);
  return { nodes, pageInfo: { endCursor: null, hasNextPage: false } };
}
