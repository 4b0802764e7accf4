import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import type {
  ContentComment,
  ContentHealth,
  ContentHealthEntry,
  ContentRevision,
  ContentSitemapEntry,
  ContentSynonym,
} from '../entities/editing.js';
import type { ContentReleaseItem } from '../entities/release.js';
import { addressOf } from '../rules/routes.js';
import { User } from '../stubs.js';
import type { ContentCollection } from '../entities/enums.js';
import { instant, isReadable, Statement } from './delivery.js';
import { requireItem } from './editors.js';
import type { View } from './view.js';

const userOf = (id: string | null): User | null => (id === null ? null : Object.assign(new User(), { id }));

const REVISIONS = `select r.number, ${instant('r.created_at')} as created_at, r.created_by, r.data,
  coalesce((select array_agg(p.locale order by p.locale) from content.content_publication p where p.item_id = r.item_id and p.revision = r.number), '{}') as locales
  from content.content_revision r where r.item_id = $1 and r.number < $2 order by r.number desc limit $3`;

/** Revisions of an item, newest first. */
export async function revisionsPage(
  ctx: Context,
  id: string,
  { first, after }: { first: number; after?: string | null },
): Promise<Connection<ContentRevision>> {
  await requireItem(ctx, id);
  const below = after == null ? 2 ** 31 - 1 : Number(decodeCursor(after, 1)[0]);
  const rows = await ctx.sql<{ number: number; created_at: string; created_by: string | null; data: unknown; locales: string[] }>(
    REVISIONS,
    [id, Number.isInteger(below) ? below : 0, first + 1],
  );
  const page = toConnection(rows, first, row => [row.number]);
  const nodes = page.nodes.map(row => ({
    number: row.number,
    createdAt: new Date(row.created_at),
    createdBy: userOf(row.created_by),
    data: row.data,
    publishedLocales: row.locales,
  }));
  return { ...page, nodes };
}

const COMMENTS = `select id, item_id, pointer, locale, text, author_id, ${instant('created_at')} as created_at, ${instant('resolved_at')} as resolved_at
  from content.content_comment`;

interface CommentRow {
  id: string;
  item_id: string;
  pointer: string | null;
  locale: string | null;
  text: string;
  author_id: string | null;
  created_at: string;
  resolved_at: string | null;
}

const commentOf = (row: CommentRow): ContentComment => ({
  id: row.id,
  itemId: row.item_id,
  pointer: row.pointer,
  locale: row.locale,
  text: row.text,
  author: userOf(row.author_id),
  createdAt: new Date(row.created_at),
  resolvedAt: row.resolved_at === null ? null : new Date(row.resolved_at),
});

export const commentById = async (ctx: Context, id: string): Promise<ContentComment> =>
  commentOf((await ctx.sql<CommentRow>(`${COMMENTS} where id = $1`, [id]))[0]!);

export async function commentsOf(ctx: Context, itemId: string, open: boolean): Promise<ContentComment[]> {
  await requireItem(ctx, itemId);
  const rows = await ctx.sql<CommentRow>(
    `${COMMENTS} where item_id = $1 and ($2 = false or resolved_at is null) order by created_at, id limit 500`,
    [itemId, open],
  );
  return rows.map(commentOf);
}

export const synonymsOf = (ctx: Context, locale: string): Promise<ContentSynonym[]> =>
  ctx.sql<ContentSynonym>('select locale, term, synonyms from content.content_synonym where locale = $1 order by term', [locale]);

export async function releaseItemsOf(ctx: Context, releaseId: string): Promise<ContentReleaseItem[]> {
  const text = `select ri.item_id as "itemId", ri.revision, ri.locales, ri.reason, ri.revision <> i.revision as stale
    from content.content_release_item ri join content.content_item i on i.id = ri.item_id where ri.release_id = $1 order by ri.item_id`;
  return ctx.sql<ContentReleaseItem>(text, [releaseId]);
}

const entries = (ctx: Context, where: string, detail: string, values: readonly unknown[]): Promise<ContentHealthEntry[]> =>
  ctx.sql<ContentHealthEntry>(
    `select p.item_id as id, min(p.collection) as collection, min(p.title) as title, min(${detail}) as detail from content.content_publication p
      where ${where} group by p.item_id order by p.item_id limit 100`,
    [...values],
  );

/** What editors should look at. Source: content 4.2, 9.5. */
export async function contentHealth(ctx: Context, { today, brand }: View): Promise<ContentHealth> {
  return {
    staleReviews: await entries(ctx, "p.data->>'nextReviewOn' < $1", "p.data->>'nextReviewOn'", [today]),
    missingLocales: await entries(
      ctx,
      `not p.any_locale and exists (select 1 from unnest($1::text[]) l where not exists (
        select 1 from content.content_publication o where o.item_id = p.item_id and o.locale = l))`,
      'p.locale',
      [brand.locales],
    ),
    danglingReferences: await entries(
      ctx,
      `exists (select 1 from content.content_reference r where r.item_id = p.item_id and r.is_published
        and not exists (select 1 from content.content_publication t where t.item_id = r.target_id)
        and not exists (select 1 from content.media_asset m where m.item_id = r.target_id and m.status = 'READY'))`,
      'p.locale',
      [],
    ),
    changedFiles: await entries(
      ctx,
      `exists (select 1 from content.damaged_file d where d.item_id = coalesce((p.data->>'file')::uuid, p.item_id))
        or p.collection = 'COAS' and not exists (select 1 from content.media_asset m where m.item_id = (p.data->>'file')::uuid and m.sha256 = p.data->>'fileSha256')`,
      "coalesce((select d.damage from content.damaged_file d where d.item_id = coalesce((p.data->>'file')::uuid, p.item_id)), p.data->>'fileSha256')",
      [],
    ),
  };
}

/** What search engines may find: published for everybody, without `noIndex`, one entry per locale. */
export async function sitemapPage(
  ctx: Context,
  view: View,
  { first, after }: { first: number; after?: string | null },
): Promise<Connection<ContentSitemapEntry>> {
  const sql = new Statement();
  const everybody: View = {
    ...view,
    readers: { audiences: ['PUBLIC'], papers: view.readers.papers, editor: false },
    chain: [...view.brand.locales],
  };
  const where = [
    isReadable(everybody, sql),
    "coalesce((p.data->'seo'->>'noIndex')::boolean, false) = false",
    "p.collection not in ('MEDIA', 'TESTIMONIALS')",
  ];
  if (after != null) {
    const [id, locale] = decodeCursor(after, 2);
    where.push(`(p.item_id, p.locale) > (${sql.add(String(id))}::uuid, ${sql.add(String(locale))})`);
  }
  const rows = await ctx.sql<{
    id: string;
    locale: string;
    slug: string | null;
    path: string | null;
    collection: ContentCollection;
    updated_at: string;
    alternates: { locale: string; slug: string | null; path: string | null }[];
  }>(
    `select p.item_id as id, p.locale, p.slug, p.data->>'path' as path, p.collection, ${instant('p.updated_at')} as updated_at,
      (select jsonb_agg(jsonb_build_object('locale', a.locale, 'slug', a.slug, 'path', a.data->>'path') order by a.locale) from content.content_publication a where a.item_id = p.item_id) as alternates
      from content.content_publication p where ${where.join(' and ')} order by p.item_id, p.locale limit ${sql.add(first + 1, '::int')}`,
    sql.values,
  );
  const urlOf = (row: { slug: string | null; path: string | null }, of: { id: string; collection: ContentCollection }) =>
    addressOf(view.brand, of.collection, row.slug ?? row.path ?? of.id) ?? `/${of.id}`;
  const page = toConnection(rows, first, row => [row.id, row.locale]);
  const nodes = page.nodes.map(row => ({
    url: urlOf(row, row),
    locale: row.locale,
    updatedAt: new Date(row.updated_at),
    alternates: row.alternates.map(one => ({ locale: one.locale, url: urlOf(one, row) })),
  }));
  return { ...page, nodes };
}
