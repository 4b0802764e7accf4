/** What editors see: the newest revision of an item, whatever its state. */
import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { fail } from '../../../runtime/request/errors.js';
import { definitionOf } from '../entities/collections.js';
import { isLocalised, type CollectionDefinition } from '../entities/definition.js';
import type { ContentCollection, ContentStatus, ContentStatusFilter } from '../entities/enums.js';
import { valuesIn, type Snapshot } from '../rules/values.js';
import { instant, Statement } from './delivery.js';
import { itemOf, type Item } from './present.js';
import type { View } from './view.js';

export interface ItemState {
  id: string;
  collection: ContentCollection;
  brand_id: string | null;
  base_locale: string;
  status: ContentStatus;
  version: number;
  revision: number;
  created_at: string;
  updated_at: string;
  first_published_at: string | null;
  created_by: string | null;
  updated_by: string | null;
  /** Of `revision`, or of another one that was asked for. */
  data: Snapshot;
  number: number;
  published: { locale: string; slug: string | null; revision: number }[] | null;
}

/** The columns of {@link ItemState}, of an item `i` and its revision `r`. */
export const STATE = `select i.id, i.collection, i.brand_id, i.base_locale, i.status, i.version, i.revision, i.created_by, i.updated_by, r.data, r.number,
  ${instant('i.created_at')} as created_at, ${instant('i.updated_at')} as updated_at, ${instant('i.first_published_at')} as first_published_at,
  (select jsonb_agg(jsonb_build_object('locale', p.locale, 'slug', p.slug, 'revision', p.revision) order by p.locale)
    from content.content_publication p where p.item_id = i.id) as published`;

const LOCK = 'select 1 from content.content_item where id = $1 for no key update';

/**
 * An item with one of its revisions; null for none. `lock`: until the transaction ends; in a statement of its own, because a join that
 * waited for a lock is checked again with the rows from before.
 */
export async function itemState(
  ctx: Context,
  id: string,
  options: { revision?: number | null; lock?: boolean } = {},
): Promise<ItemState | null> {
  if (!isUuid(id)) return null;
  if (options.lock) await ctx.sql(LOCK, [id.toLowerCase()]);
  const text = `${STATE} from content.content_item i join content.content_revision r on r.item_id = i.id and r.number = coalesce($2::int, i.revision)
    where i.id = $1`;
  const [row] = await ctx.sql<ItemState>(text, [id.toLowerCase(), options.revision ?? null]);
  return row ?? null;
}

/** @throws Problem not_found. */
export async function requireItem(
  ctx: Context,
  id: string,
  options: { revision?: number | null; lock?: boolean } = {},
): Promise<ItemState> {
  return (await itemState(ctx, id, options)) ?? fail('not_found', 'Not found');
}

/** The locale in which an editor sees an item: the best of the view's, else the one in which it began. */
function localeFor({ collection, data, base_locale }: ItemState, view: View): string {
  if (!isLocalised(definitionOf(collection))) return base_locale;
  return view.chain.find(locale => locale in data.locales) ?? base_locale;
}

/** The newest revision as an item. */
export function draftOf(state: ItemState, view: View, warnings: readonly string[] = []): Item {
  const locale = localeFor(state, view);
  const { data, published } = state;
  const locales = isLocalised(definitionOf(state.collection)) ? Object.keys(data.locales) : [state.base_locale];
  const row = {
    ...state,
    slug: data.slugs[locale] ?? null,
    locale,
    locales: (published ?? []).map(one => one.locale),
    alternates: locales.map(one => ({ locale: one, slug: data.slugs[one] ?? null })),
    revision: state.number,
    audience: data.audience,
    tags: data.tags,
    data: { ...valuesIn(data, locale), seo: data.seo[locale] },
    published_at: null,
    unpublished: !(published ?? []).length || (published ?? []).some(one => one.revision !== state.revision),
  };
  return itemOf(row as never, view, warnings);
}

/** Statuses by what is asked for. */
export const STATUSES: Readonly<Record<Exclude<ContentStatusFilter, 'PUBLISHED'>, readonly ContentStatus[]>> = {
  DRAFT: ['DRAFT'],
  ARCHIVED: ['ARCHIVED'],
  ALL: ['DRAFT', 'PUBLISHED', 'ARCHIVED'],
};

/** Newest revisions of a collection, last changed first. */
export async function draftRows(
  ctx: Context,
  view: View,
  { collection }: CollectionDefinition,
  filter: Readonly<Record<string, unknown>>,
  status: Exclude<ContentStatusFilter, 'PUBLISHED'>,
  { first, after }: { first: number; after?: string | null },
): Promise<Connection<Item>> {
  const sql = new Statement();
  const where = [
    `i.collection = ${sql.add(collection)}`,
    `i.status = any(${sql.add(STATUSES[status])}::text[])`,
    `(i.brand_id is null or i.brand_id = ${sql.add(view.brand.id, '::uuid')})`,
  ];
  if (filter.ids != null) where.push(`i.id = any(${sql.add(filter.ids)}::uuid[])`);
  if (after != null) {
    const [at, id] = decodeCursor(after, 2);
    if (typeof id !== 'string' || !isUuid(id) || typeof at !== 'string' || Number.isNaN(Date.parse(at))) decodeCursor('', 2);
    where.push(`(i.updated_at, i.id) < (${sql.add(at, '::timestamptz')}, ${sql.add(id, '::uuid')})`);
  }
  const text = `${STATE} from content.content_item i join content.content_revision r on r.item_id = i.id and r.number = i.revision
    where ${where.join(' and ')} order by i.updated_at desc, i.id desc limit ${sql.add(first + 1, '::int')}`;
  const page = toConnection(await ctx.sql<ItemState>(text, sql.values), first, row => [row.updated_at, row.id]);
  return { ...page, nodes: page.nodes.map(row => draftOf(row, view)) };
}
