import { createHash } from 'node:crypto';
import type { OutputInfo } from 'sharp';
import { lazyPackage } from '../../../runtime/lazy.js';
import { Problem } from '../../../runtime/request/errors.js';
import { Turns } from '../../../runtime/request/turns.js';
import { AVATAR_SIZES, AVATAR_TYPES, type AvatarSize } from '../rules/avatar.js';

/** 0.1 s of CPU and 23 MB, for whoever has pictures to make. */
const sharp = lazyPackage<typeof import('sharp').default>(import.meta.url, 'sharp');

/** What a picture may unpack to. Source: identity 4.13. */
const MAX_PIXELS = 40_000_000;
const DECODE_SECONDS = 10;
const QUALITY = 82;

export interface Picture {
  size: AvatarSize;
  webp: Buffer;
}

/** The bytes are no picture that can be shown. */
export class UnusablePicture extends Error {
  override name = 'UnusablePicture';
}

/** Decodings at once in this process, at up to 160 MB each, and how many more may wait. */
const turns = new Turns(2, 16, () => new Problem('unavailable', 'Too many pictures at once', { retryAfter: 5 }));

const EDGE = Math.max(...AVATAR_SIZES);

/** First frame, upright, the middle square, sRGB; no metadata passes through raw pixels. */
async function squareOf(bytes: Buffer): Promise<{ data: Buffer; info: OutputInfo }> {
  const image = sharp()(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1 }).timeout({ seconds: DECODE_SECONDS });
  return image
    .autoOrient()
    .resize(EDGE, EDGE, { fit: 'cover' })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
}

async function picturesOf(bytes: Buffer): Promise<Picture[]> {
  const { data, info } = await squareOf(bytes).catch(cause => {
    throw new UnusablePicture('cannot be read as a picture of at most 40 megapixels', { cause });
  });
  const raw = { width: info.width, height: info.height, channels: info.channels };
  return Promise.all(
    AVATAR_SIZES.map(async size => ({ size, webp: await sharp()(data, { raw }).resize(size, size).webp({ quality: QUALITY }).toBuffer() })),
  );
}

/** Pictures of every size, WebP. The type is judged by content. @throws Problem unsupported_media_type, unavailable; UnusablePicture. */
export async function toPictures(bytes: Buffer): Promise<Picture[]> {
  const { fileTypeFromBuffer } = await import('file-type'); // with what it needs 40 modules
  const type = await fileTypeFromBuffer(bytes);
  if (!AVATAR_TYPES.has(type?.mime ?? '')) throw new Problem('unsupported_media_type', 'The picture must be JPEG, PNG, WebP, GIF or AVIF');
  return turns.run(() => picturesOf(bytes));
}

/** Half a SHA-256 in hex: names things, proves nothing. */
export const digestOf = (...parts: readonly (Buffer | string)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 32);
};
