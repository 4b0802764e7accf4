/** Pictures and documents: an upload is announced, its bytes come once, are judged, made anew and kept. Source: content 2.3, 3, rule 17. */
import { createHash, randomBytes } from 'node:crypto';
import { blobsOf } from '../../../runtime/blobs/blobs.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { definitionOf } from '../entities/collections.js';
import { keptOf, kindOf, limitOf, renditionOf, type FORMATS, type Kept } from '../ports/pictures.js';
import { scannerOf } from '../ports/scanner.js';
import { preparedBrands } from '../ports/brands.js';
import { requireItem, type ItemState } from '../queries/editors.js';
import { hashOf } from '../queries/single.js';
import { addItem } from './item.js';

const LIFE_MS = 15 * 60_000;

export interface NewUpload {
  filename: string;
  bytes: number;
  mimeType: string;
  brandId?: string | null;
}

const ASSET = `insert into content.media_asset (item_id, brand_id, status, kind, filename, mime_type, bytes, created_at) values ($1, $2, 'UPLOADING', $3, $4, $5, $6, $7)`;
const UPLOAD = 'insert into content.media_upload (token_hash, item_id, bytes, expires_at) values ($1, $2, $3, $4)';

/** A draft to which bytes may come. @throws Problem unsupported_media_type, payload_too_large. */
export async function createUpload(
  ctx: Context,
  { filename, bytes, mimeType, brandId }: NewUpload,
): Promise<{ state: ItemState; token: string; expiresAt: Date }> {
  const limit = limitOf(mimeType) ?? fail('unsupported_media_type', 'The file must be JPEG, PNG, WebP, AVIF, GIF, HEIC or PDF');
  if (bytes > limit) fail('payload_too_large', `The file may have at most ${limit} bytes`);
  const brands = preparedBrands.of(ctx);
  const brand = brandId == null ? null : (brands.find(one => one.id === brandId) ?? fail('not_found', 'Not found'));
  const locale = brand?.defaultLocale ?? brands.find(one => one.isDefault)?.defaultLocale ?? 'en';
  const { state } = await addItem(ctx, definitionOf('MEDIA'), { brandId: brand?.id ?? null, locale, input: {} });
  const now = ctx.now();
  const [token, expiresAt] = [randomBytes(32).toString('base64url'), new Date(now.getTime() + LIFE_MS)];
  await ctx.sql(ASSET, [state.id, state.brand_id, kindOf(mimeType), filename, mimeType, bytes, now.toISOString()]);
  await ctx.sql(UPLOAD, [hashOf(token), state.id, bytes, expiresAt.toISOString()]);
  return { state, token, expiresAt };
}

const CLAIM = `update content.media_upload u set used_at = $2 from content.media_asset a
  where u.token_hash = $1 and u.used_at is null and u.expires_at > $2 and a.item_id = u.item_id returning u.item_id, u.bytes, a.mime_type, a.brand_id`;

interface Claimed {
  item_id: string;
  bytes: number;
  mime_type: string;
  brand_id: string | null;
}

/** The token is used up, whatever comes. @throws Problem not_found for one that is unknown, used or expired. */
export async function claimUpload(host: ServiceHost, token: string): Promise<Claimed> {
  return host.transaction(async ctx => {
    const [row] = await ctx.sql<Claimed>(CLAIM, [hashOf(token), ctx.now().toISOString()]);
    if (!row) fail('not_found', 'Not found');
    await ctx.sql("update content.media_asset set status = 'PROCESSING' where item_id = $1", [row.item_id]);
    return row;
  });
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
/** Where bytes lie. */
export const blobName = (hash: string): string => `content/${hash.slice(0, 2)}/${hash}`;

const SAME = "select item_id from content.media_asset where upload_sha256 = $1 and brand_id is not distinct from $2 and status = 'READY'";
const READY = `update content.media_asset set status = 'READY', kind = $2, mime_type = $3, bytes = $4, sha256 = $5, upload_sha256 = $6, width = $7, height = $8, blurhash = $9,
  reason = null where item_id = $1`;
const REJECTED = "update content.media_asset set status = 'REJECTED', reason = $2 where item_id = $1";
/** What is known of a draft once its bytes are: filters by kind see it when it is published. */
const KIND = "update content.content_revision set data = jsonb_set(data, '{shared,kind}', to_jsonb($2::text)) where item_id = $1";

/** Marks an asset as ready, in the running transaction. */
export async function settle(ctx: Context, itemId: string, kept: Kept, uploadHash: string | null): Promise<void> {
  const { bytes, mimeType, width, height, blurhash } = kept;
  await ctx.sql(READY, [itemId, kindOf(mimeType), mimeType, bytes.length, sha256(bytes), uploadHash, width, height, blurhash]);
  await ctx.sql(KIND, [itemId, kindOf(mimeType)]);
  ctx.audit('media_asset.ready', itemId, { bytes: bytes.length });
}

async function reject(host: ServiceHost, itemId: string, reason: string): Promise<void> {
  await host.transaction(async ctx => {
    await ctx.sql(REJECTED, [itemId, reason]);
    ctx.audit('media_asset.rejected', itemId, { reason });
  });
}

/** Judges, makes anew and keeps what came. @throws Problem unsupported_media_type, payload_too_large, invalid_request, unavailable. */
export async function takeBytes(host: ServiceHost, claimed: Claimed, bytes: Buffer): Promise<void> {
  const { item_id: itemId, brand_id: brandId } = claimed;
  try {
    const found = await scannerOf(host.config).scan(bytes);
    if (found !== null) fail('invalid_request', 'The file is harmful', { reason: 'harmful_file' });
    const kept = await keptOf(bytes);
    const uploadHash = sha256(bytes);
    const [same] = await host.read(ctx => ctx.sql<{ item_id: string }>(SAME, [uploadHash, brandId]));
    if (same) return await reject(host, itemId, `same_as:${same.item_id}`);
    await blobsOf(host).put(blobName(sha256(kept.bytes)), kept.bytes, kept.mimeType);
    await host.transaction(ctx => settle(ctx, itemId, kept, uploadHash));
  } catch (error) {
    await reject(host, itemId, error instanceof Problem ? (error.options.reason ?? error.code) : 'failed');
    throw error;
  }
}

/** The asset after its upload; of bytes that a brand has already, that which has them. */
export async function completedUpload(ctx: Context, id: string): Promise<ItemState> {
  const [asset] = await ctx.sql<{ status: string; reason: string | null }>(
    'select status, reason from content.media_asset where item_id::text = $1',
    [id.toLowerCase()],
  );
  if (!asset) fail('not_found', 'Not found');
  const same = /^same_as:(.+)$/.exec(asset.reason ?? '')?.[1];
  return requireItem(ctx, same ?? id);
}

const WIDTHS = [64, 128, 256, 512, 1024, 2048];
/** The next larger width that is made. */
export const widthFor = (width: number): number => WIDTHS.find(one => one >= width) ?? WIDTHS.at(-1)!;

const KNOWN = 'select sha256 from content.media_rendition where item_id = $1 and width = $2 and format = $3';
const KEEP =
  'insert into content.media_rendition (item_id, width, format, sha256, bytes) values ($1, $2, $3, $4, $5) on conflict do nothing';

/** Hash of a picture's smaller form, made at its first request and kept. */
export async function rendition(
  host: ServiceHost,
  itemId: string,
  hash: string,
  width: number,
  format: keyof typeof FORMATS,
): Promise<string> {
  const [known] = await host.read(ctx => ctx.sql<{ sha256: string }>(KNOWN, [itemId, width, format]));
  if (known) return known.sha256;
  const original = (await blobsOf(host).get(blobName(hash))) ?? fail('not_found', 'Not found');
  const bytes = await renditionOf(original, width, format);
  const made = sha256(bytes);
  await blobsOf(host).put(blobName(made), bytes, `image/${format.toLowerCase()}`);
  await host.transaction(ctx => ctx.sql(KEEP, [itemId, width, format, made, bytes.length]));
  return made;
}
