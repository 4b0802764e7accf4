import type { Context } from '../../../runtime/request/context.js';
import { definitionOf } from '../entities/collections.js';
import type { ContentCard, ContentCardImage } from '../entities/item.js';
import { mediaPath } from '../rules/rich-text.js';
import { addressOf } from '../rules/routes.js';
import { loadItem } from './delivery.js';
import type { Item } from './present.js';

/** Width and height of pictures, and their texts. */
async function imageOf(ctx: Context, item: Item): Promise<ContentCardImage | null> {
  const { image } = definitionOf(item.collection);
  const id = image === undefined ? null : (item.refs[image] as string | undefined);
  if (!id) return null;
  const media = await loadItem(ctx, item.view, id);
  const size = await ctx.load('content:size', id, ids => sizesOf(ctx, ids));
  return (
    size && {
      url: `${item.view.mediaBase}${mediaPath(id)}`,
      ...size,
      alt: media ? ((media.values.alt as string | undefined) ?? null) : null,
    }
  );
}

async function sizesOf(ctx: Context, ids: readonly string[]): Promise<({ width: number; height: number } | null)[]> {
  const text =
    "select item_id::text as id, width, height from content.media_asset where item_id = any($1::uuid[]) and status = 'READY' and kind = 'IMAGE'";
  const rows = await ctx.sql<{ id: string; width: number; height: number }>(text, [ids]);
  return ids.map(id => {
    const row = rows.find(one => one.id === id);
    return row ? { width: row.width, height: row.height } : null;
  });
}

const BADGES: Readonly<Record<string, (item: Item) => string | null>> = {
  COAS: ({ values }) => (values.verdict as string | undefined) ?? null,
  RESEARCH_PAPERS: ({ values }) => (values.retracted === true ? 'RETRACTED' : null),
  LEARN_ARTICLES: ({ values }) => (values.difficulty as string | undefined) ?? null,
  POSTS: ({ values }) => (values.kind as string | undefined) ?? null,
};

const META: Readonly<Record<string, readonly [label: string, field: string][]>> = {
  COAS: [
    ['Batch', 'batchNumber'],
    ['Purity %', 'purityPercent'],
  ],
  RESEARCH_PAPERS: [
    ['Journal', 'journal'],
    ['DOI', 'doi'],
  ],
  PEPTIDES: [['Evidence', 'evidenceLevel']],
};

/** What is shown where the item is linked to; the values of `summary` are plain text by definition. Source: content 4.5. */
export async function cardOf(ctx: Context, item: Item): Promise<ContentCard> {
  const { summary } = definitionOf(item.collection);
  return {
    type: 'CONTENT',
    collection: item.collection,
    id: item.id,
    slug: item.slug,
    url: addressOf(item.view.brand, item.collection, item.slug ?? (item.values.path as string | undefined) ?? item.id),
    title: item.title,
    description: summary === undefined ? null : ((item.values[summary] as string | undefined) ?? null),
    image: await imageOf(ctx, item),
    badge: BADGES[item.collection]?.(item) ?? null,
    meta: (META[item.collection] ?? []).flatMap(([label, field]) =>
      item.values[field] == null ? [] : [{ label, value: String(item.values[field]) }],
    ),
    locale: item.locale,
  };
}
