/** What readers get: published items only, of their audience, brand and language. Reads no revision. Source: content 4.3, rule 1. */
import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { COLLECTIONS } from '../entities/collections.js';
import type { ContentCollection } from '../entities/enums.js';
import { linkedItems, withoutLinks } from '../rules/rich-links.js';
import { mayReadCollection } from './readers.js';
import { itemOf, type Item, type ItemRow } from './present.js';
import type { View } from './view.js';

/** RFC 3339 of a column. */
export const instant = (column: string): string => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL text with its parameters, which are numbered as they are added. */
export class Statement {
  readonly values: unknown[] = [];

  /** `$1`, with a cast where one is named. */
  add(value: unknown, cast = ''): string {
    this.values.push(value);
    return `$${this.values.length}${cast}`;
  }
}

/** Collections that the caller may read. */
export const readableCollections = (view: View): ContentCollection[] =>
  COLLECTIONS.map(({ collection }) => collection).filter(one => mayReadCollection(view.readers, one));

/**
 * What `p`, a publication or document, must be for the view. Beside the brand's own item a shared one of the same slug is hidden; one that
 * the reader may not read hides nothing, for that would show that it is there.
 */
export function isReadable(view: View, sql: Statement, table = 'p'): string {
  const [brand, audiences] = [sql.add(view.brand.id, '::uuid'), sql.add(view.readers.audiences, '::text[]')];
  return `(${table}.brand_id is null or ${table}.brand_id = ${brand})
    and ${table}.audience = any(${audiences}) and ${table}.collection = any(${sql.add(readableCollections(view))}::text[])
    and (${table}.any_locale or ${table}.locale = any(${sql.add(view.chain)}::text[]))
    and (${table}.brand_id is not null or ${table}.slug is null or not exists (
      select 1 from content.content_publication own
      where own.collection = ${table}.collection and own.slug = ${table}.slug and own.brand_id = ${brand} and own.audience = any(${audiences})))`;
}

/** Those of the items, by their ids as `uuid[]`, that the view shows; as `text[]`. */
export const shownOf = (ids: string, view: View, sql: Statement): string =>
  `array(select t.item_id::text from content.content_publication t where t.item_id = any(${ids}::uuid[]) and ${isReadable(view, sql, 't')})`;

/** The best locale of each item first. */
export const bestLocale = (view: View, sql: Statement, table = 'p'): string =>
  `case when ${table}.any_locale then 0 else array_position(${sql.add(view.chain)}::text[], ${table}.locale) end`;

const COLUMNS = `p.item_id as id, p.collection, p.brand_id, p.slug, 'PUBLISHED' as status, p.locale, p.revision, p.audience, p.tags, p.data,
  ${instant('p.published_at')} as published_at, ${instant('p.first_published_at')} as first_published_at, ${instant('p.updated_at')} as updated_at,
  ${instant('p.created_at')} as created_at`;

/** In which locales an item is published. */
const ALTERNATES = `(select jsonb_agg(jsonb_build_object('locale', a.locale, 'slug', a.slug) order by a.locale)
  from content.content_publication a where a.item_id = p.item_id) as alternates`;

/** What editors see beside it. */
const EDITORS = `i.version, i.revision <> p.revision as unpublished, i.created_by, i.updated_by,
  (select jsonb_build_object('releaseId', r.id, 'publishAt', ${instant('r.publish_at')}, 'revision', ri.revision, 'stale', ri.revision <> i.revision)
    from content.content_release_item ri join content.content_release r on r.id = ri.release_id
    where ri.item_id = i.id and r.status = 'SCHEDULED' order by r.publish_at limit 1) as scheduled`;

export interface Found extends Omit<ItemRow, 'locales'> {
  sort_key?: string | number;
}

/** A delivered row, as an item. */
export function delivered(row: Found, view: View): Item {
  const alternates = row.alternates ?? [{ locale: row.locale, slug: row.slug }];
  return itemOf({ ...row, alternates, locales: alternates.map(({ locale }) => locale) }, view);
}

export interface Wanted {
  /** SQL on `p`. */
  where: readonly string[];
  /** SQL of what the list is ordered by, on `p`. */
  sort?: string;
  tail?: string;
}

/** Whether the view shows an item, in a batch; without its values, so that items may lead to each other. */
const isShown = (ctx: Context, view: View, id: string): Promise<boolean | null> =>
  ctx.load(`content:shown:${view.key}`, id, async ids => {
    const sql = new Statement();
    const [row] = await ctx.sql<{ shown: string[] }>(`select ${shownOf(sql.add(ids), view, sql)} as shown`, sql.values);
    return ids.map(one => row!.shown.includes(one));
  });

/** Values whose texts lead to nothing that the reader may not read; editors get them as they are. Source: content, rule 8. */
export async function withoutHiddenLinks<Row extends { data: object }>(ctx: Context, view: View, rows: readonly Row[]): Promise<Row[]> {
  if (view.readers.editor || view.bodyFormat === 'NONE' || view.bodyFormat === 'TEXT') return [...rows];
  const ids = [...new Set(rows.flatMap(({ data }) => linkedItems(data)))];
  const shown = await Promise.all(ids.map(id => isShown(ctx, view, id)));
  const hidden = new Set(ids.filter((_, at) => !shown[at]));
  return hidden.size === 0 ? [...rows] : rows.map(row => ({ ...row, data: withoutLinks(row.data, hidden) }));
}

/** Published rows for a view, one per item, in its best locale. */
export async function publishedRows(ctx: Context, view: View, sql: Statement, { where, sort, tail = '' }: Wanted): Promise<Found[]> {
  const editors = view.readers.editor;
  const text = `with best as (
      select distinct on (p.item_id) p.* from content.content_publication p
      where ${[isReadable(view, sql), ...where].join(' and ')}
      order by p.item_id, ${bestLocale(view, sql)})
    select ${COLUMNS}, ${ALTERNATES}, ${sort === undefined ? '' : `${sort} as sort_key,`} ${editors ? EDITORS : 'p.item_version as version'}
    from best p ${editors ? 'join content.content_item i on i.id = p.item_id' : ''} ${tail}`;
  return withoutHiddenLinks(ctx, view, await ctx.sql<Found>(text, sql.values));
}

/** Items by id, in the order of the ids; null for what the view does not show. One statement. */
export async function deliverByIds(ctx: Context, view: View, ids: readonly string[]): Promise<(Item | null)[]> {
  const known = ids.map(id => id.toLowerCase()).filter(isUuid);
  if (known.length === 0) return ids.map(() => null);
  const sql = new Statement();
  const rows = await publishedRows(ctx, view, sql, { where: [`p.item_id = any(${sql.add(known)}::uuid[])`] });
  return inOrder(
    ids.map(id => id.toLowerCase()),
    rows.map(row => delivered(row, view)),
    item => item.id,
  );
}

/** One item in a batch with all others that the request asks for. */
export const loadItem = (ctx: Context, view: View, id: string): Promise<Item | null> =>
  ctx.load(`content:item:${view.key}`, id, ids => deliverByIds(ctx, view, ids));

/** Items in a batch, without what the view does not show; never an id of one. Source: content, rule 8. */
export const loadItems = async (ctx: Context, view: View, ids: readonly string[]): Promise<Item[]> =>
  (await Promise.all(ids.map(id => loadItem(ctx, view, id)))).filter(one => one !== null);

const BY_SLUG = (sql: Statement, view: View, collection: ContentCollection, slug: string): string => `
  select item_id, state from content.content_slug
  where collection = ${sql.add(collection)} and slug = ${sql.add(slug)} and state <> 'RESERVED' and (brand_id is null or brand_id = ${sql.add(view.brand.id, '::uuid')})
  order by brand_id nulls last, state`;

/** An item by a current or retired slug. `isRetired`: it has another slug now. */
export async function deliverBySlug(
  ctx: Context,
  view: View,
  collection: ContentCollection,
  slug: string,
): Promise<{ item: Item; isRetired: boolean } | null> {
  const sql = new Statement();
  const text = BY_SLUG(sql, view, collection, slug);
  const rows = await ctx.sql<{ item_id: string; state: string }>(text, sql.values);
  for (const { item_id } of rows) {
    const item = await loadItem(ctx, view, item_id);
    if (item) return { item, isRetired: !item.alternates.some(one => one.slug === slug) };
  }
  return null;
}
