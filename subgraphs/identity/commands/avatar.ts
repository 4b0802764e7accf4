import { requireRow } from '../../../runtime/data/rows.js';
import { type FetchRefused, guardedFetch } from '../../../runtime/http/guarded-fetch.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { type User, UserProfile } from '../entities/user.js';
import type { SetMyAvatarInput } from '../inputs/profile.js';
import { blobsOf } from '../../../runtime/blobs/blobs.js';
import { egressNetworks } from '../ports/egress.js';
import { digestOf, type Picture, toPictures, UnusablePicture } from '../ports/sharp.js';
import { AVATAR_SIZES, avatarFolder, avatarName, isBase64, MAX_AVATAR_BYTES } from '../rules/avatar.js';
import { ownAccount } from './account.js';
import { takeLimit } from './count-limit.js';

/** Source: identity 4.13. */
const FETCH = {
  deadlineMs: 10_000,
  maxBytes: MAX_AVATAR_BYTES,
  redirects: 3,
  accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif',
};

async function fetched(ctx: Context, url: string): Promise<Buffer> {
  const retryAfter = await takeLimit(ctx, 'avatar_by_url', ctx.caller.userId!);
  if (retryAfter !== null) fail('rate_limited', 'At most ten pictures an hour can be fetched', { retryAfter });
  return guardedFetch(url, { ...FETCH, allowed: egressNetworks(ctx.host.config) }).catch((error: FetchRefused) => {
    if (error.reason === 'too_large') fail('payload_too_large', 'The picture is too large');
    invalid('/input/url', error.message, { cause: error });
  });
}

function decoded(file: string): Buffer {
  if (!isBase64(file)) invalid('/input/file', 'must be base64');
  return Buffer.from(file, 'base64');
}

/** Folder of a user's pictures; the id is not to be read from an address that anybody may see. */
const ownerOf = (userId: string): string => digestOf('avatar:', userId);

async function stored(ctx: Context, pictures: readonly Picture[]): Promise<string> {
  const key = `${ownerOf(ctx.caller.userId!)}/${digestOf(...pictures.map(one => one.webp))}`;
  await Promise.all(pictures.map(({ size, webp }) => blobsOf(ctx.host).put(avatarName(key, size), webp, 'image/webp')));
  return key;
}

/** Fetches, decodes and stores before the transaction; the key of what was stored, null to remove. */
export const storedAvatar = preparation(async (ctx: Context, { input: { url, file } }: { input: SetMyAvatarInput }) => {
  if ((url === undefined) === (file == null)) invalid('/input/url', 'give either a url or a file');
  if (url === null) return null;
  const bytes = url === undefined ? decoded(file!) : await fetched(ctx, String(url));
  const pictures = await toPictures(bytes).catch(error => {
    if (error instanceof UnusablePicture) invalid(url === undefined ? '/input/file' : '/input/url', error.message, { cause: error });
    throw error;
  });
  return stored(ctx, pictures);
});

/** Replaces the caller's picture by what was stored; the bytes of the one before go after the commit. */
export async function setAvatar(ctx: Context): Promise<User> {
  const key = storedAvatar.of(ctx);
  const user = await ownAccount(ctx);
  const profile = await requireRow(ctx, UserProfile, { userId: user.id });
  const before = profile.avatarKey;
  profile.avatarKey = key;
  ctx.audit(key === null ? 'user_avatar.removed' : 'user_avatar.changed', user.id);
  if (before !== null && before !== key)
    ctx.afterCommit(() => blobsOf(ctx.host).remove(AVATAR_SIZES.map(size => avatarName(before, size))));
  return user;
}

/** All pictures of a user, also those of an upload that was cut off. @returns whether there were any. */
export const eraseAvatars = (ctx: Context, userId: string): Promise<boolean> =>
  blobsOf(ctx.host).removeFolder(avatarFolder(ownerOf(userId)));
