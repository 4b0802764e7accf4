/** Uploaded bytes -> bytes that are kept. Judged by content, never by name; pictures are made anew from their pixels. Source: content 2.3. */
import { encode } from 'blurhash';
import type { Sharp } from 'sharp';
import { lazyPackage } from '../../../runtime/lazy.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { Turns } from '../../../runtime/request/turns.js';
import { unusable } from './unusable.js';

const sharp = lazyPackage<typeof import('sharp').default>(import.meta.url, 'sharp');

const MIB = 1024 * 1024;
export const MAX_IMAGE_BYTES = 20 * MIB;
export const MAX_PDF_BYTES = 25 * MIB;
const MAX_PIXELS = 50_000_000;
const DECODE_SECONDS = 20;
const QUALITY = 82;
const PDF = 'application/pdf';

type Encoding = 'jpeg' | 'png' | 'webp';
/** What is taken, and as what it is kept. */
const IMAGES: Readonly<Record<string, Encoding>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/avif': 'webp',
  'image/gif': 'png',
  'image/heic': 'jpeg',
  'image/heif': 'jpeg',
};

/** Most bytes of a type; null: it is not taken. */
export const limitOf = (mimeType: string): number | null =>
  mimeType === PDF ? MAX_PDF_BYTES : mimeType in IMAGES ? MAX_IMAGE_BYTES : null;
export const kindOf = (mimeType: string): 'IMAGE' | 'DOCUMENT' => (mimeType === PDF ? 'DOCUMENT' : 'IMAGE');
export const extensionOf = (mimeType: string): string =>
  ({ 'image/jpeg': 'jpg', 'image/png': 'png', 'image/avif': 'avif', [PDF]: 'pdf' })[mimeType] ?? 'webp';
export const FORMATS = { WEBP: 'image/webp', JPEG: 'image/jpeg', PNG: 'image/png', AVIF: 'image/avif' } as const;

export interface Kept {
  bytes: Buffer;
  mimeType: string;
  width: number | null;
  height: number | null;
  blurhash: string | null;
}

const turns = new Turns(1, 16, () => new Problem('unavailable', 'Too many files at once', { retryAfter: 5 }));

async function heicPixels(bytes: Buffer): Promise<Sharp> {
  const { default: libheif } = await import('libheif-js/wasm-bundle.js');
  const found = new libheif.HeifDecoder().decode(bytes);
  const main = found.find(one => one.is_primary()) ?? found[0] ?? unusable('The picture cannot be read');
  const [width, height] = [main.get_width(), main.get_height()];
  if (width * height > MAX_PIXELS) unusable('The picture has more than 50 megapixels');
  const pixels = new Uint8ClampedArray(width * height * 4);
  const isDecoded = await new Promise<boolean>(done => main.display({ data: pixels, width, height }, into => done(into !== null)));
  if (!isDecoded) unusable('The picture cannot be read');
  return sharp()(pixels, { raw: { width, height, channels: 4 }, limitInputPixels: MAX_PIXELS });
}

const opened = async (bytes: Buffer, mimeType: string): Promise<Sharp> =>
  /heic|heif/.test(mimeType)
    ? heicPixels(bytes)
    : sharp()(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1 }).timeout({ seconds: DECODE_SECONDS }).autoOrient();

/** First frame, upright, sRGB, without metadata. */
async function imageOf(bytes: Buffer, mimeType: string): Promise<Kept> {
  const encoding = IMAGES[mimeType]!;
  try {
    const source = (await opened(bytes, mimeType)).toColourspace('srgb');
    const { data, info } = await source
      .toFormat(encoding, encoding === 'png' ? {} : { quality: QUALITY })
      .toBuffer({ resolveWithObject: true });
    return { bytes: data, mimeType: `image/${encoding}`, width: info.width, height: info.height, blurhash: await blurhashOf(data) };
  } catch (error) {
    if (error instanceof Problem) throw error;
    return unusable('The picture cannot be read, or has more than 50 megapixels', error);
  }
}

async function blurhashOf(bytes: Buffer): Promise<string> {
  const { data, info } = await sharp()(bytes).resize(32, 32, { fit: 'inside' }).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return encode(new Uint8ClampedArray(data), info.width, info.height, 4, 3);
}

/** A document as it came. */
async function pdfOf(bytes: Buffer): Promise<Kept> {
  const { requireHarmlessDocument } = await import('./documents.js'); // with a PDF library that nothing else needs
  await requireHarmlessDocument(bytes);
  return { bytes, mimeType: PDF, width: null, height: null, blurhash: null };
}

/** @throws Problem unsupported_media_type by the bytes, invalid_request for what cannot be read, unavailable. */
export async function keptOf(bytes: Buffer): Promise<Kept> {
  const { fileTypeFromBuffer } = await import('file-type'); // with what it needs 40 modules
  const type = (await fileTypeFromBuffer(bytes))?.mime ?? '';
  if (limitOf(type) === null) fail('unsupported_media_type', 'The file must be JPEG, PNG, WebP, AVIF, GIF, HEIC or PDF');
  if (bytes.length > limitOf(type)!) fail('payload_too_large', 'The file is too large');
  return turns.run(() => (type === PDF ? pdfOf(bytes) : imageOf(bytes, type)));
}

/** A smaller picture; never a larger one. */
export const renditionOf = (bytes: Buffer, width: number, format: keyof typeof FORMATS): Promise<Buffer> =>
  turns.run(() =>
    sharp()(bytes, { limitInputPixels: MAX_PIXELS })
      .resize({ width, withoutEnlargement: true })
      .toFormat(format.toLowerCase() as Encoding | 'avif', { quality: QUALITY })
      .toBuffer(),
  );
