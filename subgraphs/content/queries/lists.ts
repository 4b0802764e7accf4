import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { fieldAt, type CollectionDefinition, type FilterRule } from '../entities/definition.js';
import type { ContentOrder, ContentSort, ContentStatusFilter } from '../entities/enums.js';
import { filtersOf } from '../inputs/collection.js';
import { delivered, instant, publishedRows, shownOf, Statement } from './delivery.js';
import { draftRows } from './editors.js';
import type { Item } from './present.js';
import { requireEditor, viewOf, type Asked, type View } from './view.js';

export interface ListAsked extends Asked {
  first: number;
  after?: string | null;
  status?: ContentStatusFilter | null;
  sort?: ContentSort | null;
  order?: ContentOrder | null;
}

export type Filter = Readonly<Record<string, unknown>>;

interface Sorting {
  sql: string;
  cast: string;
  order: ContentOrder;
}

/** Titles sort alike under every locale of the server. */
const SORTS: Readonly<Record<ContentSort, Sorting>> = {
  PUBLISHED_AT: { sql: instant('p.published_at'), cast: '::text collate "C"', order: 'DESC' },
  UPDATED_AT: { sql: instant('p.updated_at'), cast: '::text collate "C"', order: 'DESC' },
  TITLE: { sql: 'p.title collate "und-x-icu"', cast: '::text collate "und-x-icu"', order: 'ASC' },
  POSITION: { sql: 'coalesce(p.position, 1e9)', cast: '::double precision', order: 'ASC' },
  TESTED_ON: { sql: 'coalesce(p.tested_on, \'\') collate "C"', cast: '::text collate "C"', order: 'DESC' },
};

const collated = ({ sql, cast }: Sorting): string => (cast.includes('"C"') && !sql.includes('collate') ? `(${sql}) collate "C"` : sql);

/** One of several values; of references those that the reader may see, so that a filter tells of no hidden one. */
function oneOf(value: unknown, isReference: boolean, view: View, sql: Statement): string {
  const values = [value].flat().map(one => String(one).toLowerCase());
  return isReference ? shownOf(sql.add(values), view, sql) : sql.add(values, '::text[]');
}

interface Condition extends FilterRule {
  isReference: boolean;
}

function keyCondition({ field, op, isReference }: Condition, value: unknown, view: View, sql: Statement): string {
  if (op === 'text')
    return `content.fold(p.title) like '%' || replace(replace(content.fold(${sql.add(value)}::text), '%', ''), '_', '') || '%'`;
  const isNumber = typeof value === 'number';
  const compared =
    op === 'eq'
      ? `lower(k.value) = any(${oneOf(value, isReference, view, sql)})`
      : `k.${isNumber ? 'number' : 'value'} ${op === 'from' ? '>=' : '<='} ${sql.add(value, isNumber ? '::double precision' : '::text')}`;
  return `exists (select 1 from content.content_key k where k.item_id = p.item_id and not k.is_unique and k.name = ${sql.add(field)}
    and (k.locale is null or k.locale = p.locale) and ${compared})`;
}

/** Filters of a list as SQL on `p`. */
export function filterConditions(definition: CollectionDefinition, filter: Filter, view: View, sql: Statement): string[] {
  const isReference = ({ field }: FilterRule): boolean => fieldAt(definition.fields, field)?.kind === 'ref';
  const conditions = Object.entries(filtersOf(definition))
    .filter(([name]) => filter[name] != null)
    .map(([name, rule]) => keyCondition({ ...rule, isReference: isReference(rule) }, filter[name], view, sql));
  if (filter.tag != null) conditions.push(`p.tags && ${sql.add([filter.tag].flat().map(one => String(one).toLowerCase()))}::text[]`);
  if (filter.ids != null) conditions.push(`p.item_id = any(${sql.add(filter.ids)}::uuid[])`);
  if (filter.slugs != null) conditions.push(`p.slug = any(${sql.add(filter.slugs)}::text[])`);
  if (filter.audience != null) conditions.push(`p.audience = any(${sql.add(filter.audience)}::text[])`);
  if (filter.updatedSince != null)
    conditions.push(`p.updated_at >= ${sql.add((filter.updatedSince as Date).toISOString(), '::timestamptz')}`);
  return conditions;
}

function sortingOf(definition: CollectionDefinition, asked: ListAsked): Sorting {
  const sort = asked.sort ?? 'PUBLISHED_AT';
  if ((sort === 'POSITION' || sort === 'TESTED_ON') && !definition.sorts?.includes(sort))
    fail('invalid_request', 'The input is invalid', { errors: [{ pointer: '/sort', message: 'is not for this collection' }] });
  return { ...SORTS[sort], order: asked.order ?? SORTS[sort].order };
}

/** Rows after a cursor, in order. */
function tailOf(sorting: Sorting, { first, after }: ListAsked, sql: Statement): string {
  const [key, direction] = [collated(sorting), sorting.order === 'DESC' ? 'desc' : 'asc'];
  const order = `order by ${key} ${direction}, p.item_id ${direction} limit ${sql.add(first + 1, '::int')}`;
  if (after == null) return order;
  const [value, id] = decodeCursor(after, 2);
  if (typeof id !== 'string' || !/^[0-9a-f-]{36}$/.test(id) || (sorting.cast === '::double precision') !== (typeof value === 'number'))
    decodeCursor('', 2);
  const than = sorting.order === 'DESC' ? '<' : '>';
  return `where (${key}, p.item_id) ${than} (${sql.add(value)}${sorting.cast}, ${sql.add(id)}::uuid) ${order}`;
}

/** A page of published items. */
async function publishedPage(
  ctx: Context,
  view: View,
  definition: CollectionDefinition,
  filter: Filter,
  asked: ListAsked,
): Promise<Connection<Item>> {
  const [sql, sorting] = [new Statement(), sortingOf(definition, asked)];
  const where = [`p.collection = ${sql.add(definition.collection)}`, ...filterConditions(definition, filter, view, sql)];
  const rows = await publishedRows(ctx, view, sql, { where, sort: sorting.sql, tail: tailOf(sorting, asked, sql) });
  const page = toConnection(rows, asked.first, row => [row.sort_key!, row.id]);
  return { ...page, nodes: page.nodes.map(row => delivered(row, view)) };
}

/** Items of a collection; for editors, by `status`, what is not published, too. Source: content 4.3. */
export async function itemsPage(
  ctx: Context,
  definition: CollectionDefinition,
  filter: Filter,
  asked: ListAsked,
): Promise<Connection<Item>> {
  const view = await viewOf(ctx, asked, 'NONE');
  if (asked.status == null || asked.status === 'PUBLISHED') return publishedPage(ctx, view, definition, filter, asked);
  requireEditor(view);
  return draftRows(ctx, view, definition, filter, asked.status, asked);
}
