import type { Context } from '../../../runtime/request/context.js';
import { extensionOf } from '../ports/pictures.js';
import { signed } from '../ports/signatures.js';
import { loadItems } from './delivery.js';
import type { Item } from './present.js';

export interface AssetRow {
  item_id: string;
  status: string;
  kind: 'IMAGE' | 'DOCUMENT';
  mime_type: string;
  bytes: number;
  sha256: string | null;
  width: number | null;
  height: number | null;
  blurhash: string | null;
  is_public: boolean;
}

/** Shown to anybody: published itself, or used by what is published. */
export const IS_PUBLIC = `(exists (select 1 from content.content_publication p where p.item_id = a.item_id)
  or exists (select 1 from content.content_reference r where r.target_id = a.item_id and r.is_published))`;

const ASSETS = `select a.item_id, a.status, a.kind, a.mime_type, a.bytes, a.sha256, a.width, a.height, a.blurhash, ${IS_PUBLIC} as is_public
  from content.media_asset a where a.item_id = any($1::uuid[])`;

/** What is known of an upload, in a batch. */
export const assetOf = (ctx: Context, id: string): Promise<AssetRow | null> =>
  ctx.load('content:asset', id, async ids => {
    const rows = await ctx.sql<AssetRow>(ASSETS, [ids]);
    return ids.map(one => rows.find(row => row.item_id === one) ?? null);
  });

export const filePath = (hash: string, mimeType: string): string => `/content/v1/files/${hash}.${extensionOf(mimeType)}`;

/** Address of a file; signed for editors where it is not public. */
export async function addressOfFile(ctx: Context, item: Item): Promise<string | null> {
  const asset = await assetOf(ctx, item.id);
  if (!asset?.sha256 || asset.status !== 'READY') return null;
  const path = filePath(asset.sha256, asset.mime_type);
  if (asset.is_public) return item.view.mediaBase + path;
  return item.view.readers.editor ? item.view.mediaBase + signed(ctx.host.config, path, ctx.now()) : null;
}

/** Address of a smaller form, made when it is asked for. */
export async function addressOfRendition(ctx: Context, item: Item, width: number, format: string): Promise<string | null> {
  const asset = await assetOf(ctx, item.id);
  if (!asset || asset.kind !== 'IMAGE' || asset.status !== 'READY') return null;
  const path = `/content/v1/files/by-id/${item.id}?width=${width}&format=${format.toLowerCase()}`;
  if (asset.is_public) return item.view.mediaBase + path;
  return item.view.readers.editor ? item.view.mediaBase + signed(ctx.host.config, path, ctx.now()) : null;
}

const USAGES = `select r.target_id, r.item_id from content.content_reference r where r.target_id = any($1::uuid[]) and r.is_published order by r.item_id limit 2000`;

/** Published items that refer to a file and that the reader may see. */
export async function usagesOf(ctx: Context, item: Item): Promise<Item[]> {
  const ids = await ctx.load('content:usages', item.id, async targets => {
    const rows = await ctx.sql<{ target_id: string; item_id: string }>(USAGES, [targets]);
    return targets.map(target => rows.filter(row => row.target_id === target).map(row => row.item_id));
  });
  return loadItems(ctx, item.view, ids ?? []);
}
