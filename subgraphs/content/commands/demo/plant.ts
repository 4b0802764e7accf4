/** Stores the demo site as editors would have made it: created, translated, published. */
import { createHash } from 'node:crypto';
import { blobsOf } from '../../../../runtime/blobs/blobs.js';
import type { Context } from '../../../../runtime/request/context.js';
import { definitionOf } from '../../entities/collections.js';
import type { Kept } from '../../ports/pictures.js';
import { requireItem } from '../../queries/editors.js';
import { tellChanges } from '../changes.js';
import { addItem, addRevision, changed } from '../item.js';
import { blobName, settle, sha256 } from '../media.js';
import { publish } from '../publish.js';
import type { Document } from './corpus.js';
import { drawn } from './pictures.js';

/** Fixed id of a document of the demo site. */
export const idOf = (key: string): string => `0190b3a0-0000-7000-8000-${createHash('sha1').update(key).digest('hex').slice(0, 12)}`;
/** Fixed id of a picture: 1 to 40; products refer to them. */
export const pictureId = (index: number): string => `0190b3a0-0000-7000-8000-0000000c0${String(index).padStart(3, '0')}`;
const FILE_ID = '0190b3a0-0000-7000-8000-0000000c0900';

const ASSET = `insert into content.media_asset (item_id, status, kind, filename, mime_type, bytes, created_at) values ($1, 'PROCESSING', $2, $3, $4, $5, $6)`;

async function plantFile(ctx: Context, id: string, kept: Kept, input: object): Promise<void> {
  await addItem(ctx, definitionOf('MEDIA'), { id, brandId: null, locale: 'en', input });
  await ctx.sql(ASSET, [
    id,
    kept.mimeType === 'application/pdf' ? 'DOCUMENT' : 'IMAGE',
    'demo',
    kept.mimeType,
    kept.bytes.length,
    ctx.now().toISOString(),
  ]);
  await blobsOf(ctx.host).put(blobName(sha256(kept.bytes)), kept.bytes, kept.mimeType);
  await settle(ctx, id, kept, null);
  await publish(ctx, await requireItem(ctx, id));
}

/** Pictures 1 to `count`, published. */
export async function plantPictures(ctx: Context, count: number): Promise<void> {
  for (let index = 1; index <= count; index++)
    await plantFile(ctx, pictureId(index), await drawn(index), { alt: `A vial in colours, number ${index}` });
}

/** The report that the certificates of the demo site rest on. */
export async function plantReport(ctx: Context): Promise<void> {
  const { PDFDocument } = await import('pdf-lib');
  const document = await PDFDocument.create();
  document.addPage([595, 842]);
  document.setCreationDate(new Date(0));
  document.setModificationDate(new Date(0));
  const bytes = Buffer.from(await document.save());
  await plantFile(ctx, FILE_ID, { bytes, mimeType: 'application/pdf', width: null, height: null, blurhash: null }, {});
}

const idsOf = (refs: Document['refs']): Record<string, string[]> =>
  Object.fromEntries(Object.entries(refs ?? {}).map(([name, keys]) => [name, keys.map(idOf)]));

/** One document in its languages; `withRefs`: those that it refers to are there. */
async function plantOne(ctx: Context, document: Document, withRefs: boolean): Promise<void> {
  const id = idOf(document.key);
  const file = document.collection === 'COAS' ? { fileId: FILE_ID } : {};
  const input = { ...document.en, ...file, ...(withRefs && idsOf(document.refs)) };
  await addItem(ctx, definitionOf(document.collection), { id, brandId: document.brandId, locale: 'en', input });
  if (document.de) {
    const state = await requireItem(ctx, id);
    const { snapshot } = await changed(ctx, state, { ...document.de, locale: 'de' });
    await addRevision(ctx, state, snapshot);
  }
  await publish(ctx, await requireItem(ctx, id), { locales: document.de ? ['en', 'de'] : null, allowDanglingReferences: true });
}

export async function plant(ctx: Context, documents: readonly Document[]): Promise<void> {
  const keys = new Set(documents.map(({ key }) => key));
  for (const document of documents) {
    const isWhole = Object.values(document.refs ?? {}).every(all => all.every(key => keys.has(key)));
    await plantOne(ctx, document, isWhole);
  }
  await tellChanges(ctx);
}
