import { Arg, Ctx, Field, FieldResolver, Int, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { FetchRefused, guardedFetch } from '../../../runtime/http/guarded-fetch.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { User, UserProfile } from '../entities/user.js';
import { SetMyAvatarInput } from '../inputs/avatar.js';
import { blobsOf } from '../ports/blob-store.js';
import { egressNetworks } from '../ports/egress.js';
import { digestOf, toPictures, UnusablePicture, type Picture } from '../ports/sharp.js';
import { AVATAR_SIZES, avatarFolder, avatarName, isBase64, MAX_AVATAR_BYTES, SHOWN_SIZE, type AvatarSize } from '../rules/avatar.js';
import { takeLimit } from '../commands/count-limit.js';
import { ownAccount } from './profile.js';

/** Source: identity 4.13. */
const FETCH = {
  deadlineMs: 10_000,
  maxBytes: MAX_AVATAR_BYTES,
  redirects: 3,
  accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif',
};

@Access({ service: '*', user: '*' })
@ObjectType({ description: 'An avatar in one size.' })
export class AvatarVersion {
  @Field(() => Int, { description: 'Edge length, pixels: 64, 256 or 512.' })
  size: number;

  @Field(() => Url)
  url: string;
}

const invalid = (pointer: '/input/url' | '/input/file', message: string, cause?: unknown): Problem =>
  new Problem('invalid_request', 'The input is invalid', { errors: [{ pointer, message }], cause });

async function fetched(ctx: Context, url: string): Promise<Buffer> {
  const retryAfter = await takeLimit(ctx, 'avatar_by_url', ctx.caller.userId!);
  if (retryAfter !== null) fail('rate_limited', 'At most ten pictures an hour can be fetched', { retryAfter });
  return guardedFetch(url, { ...FETCH, allowed: egressNetworks(ctx.host.config) }).catch((error: FetchRefused) => {
    if (error.reason === 'too_large') fail('payload_too_large', 'The picture is too large');
    throw invalid('/input/url', error.message, error);
  });
}

function sent(file: string): Buffer {
  if (!isBase64(file)) throw invalid('/input/file', 'must be base64');
  return Buffer.from(file, 'base64');
}

async function stored(ctx: Context, pictures: readonly Picture[]): Promise<string> {
  const key = `${ownerOf(ctx.caller.userId!)}/${digestOf(...pictures.map(one => one.webp))}`;
  await Promise.all(pictures.map(({ size, webp }) => blobsOf(ctx.host).put(avatarName(key, size), webp, 'image/webp')));
  return key;
}

/** Folder of a user's pictures; the id is not to be read from an address that anybody may see. */
export const ownerOf = (userId: string): string => digestOf('avatar:', userId);

/** Fetches, decodes and stores before the transaction; the key of what was stored, null to remove. */
async function prepare(ctx: Context, { input: { url, file } }: { input: SetMyAvatarInput }): Promise<string | null> {
  if ((url === undefined) === (file == null)) throw invalid('/input/url', 'give either a url or a file');
  if (url === null) return null;
  const bytes = url === undefined ? sent(file!) : await fetched(ctx, String(url));
  const pictures = await toPictures(bytes).catch(error => {
    throw error instanceof UnusablePicture ? invalid(url === undefined ? '/input/file' : '/input/url', error.message, error) : error;
  });
  return stored(ctx, pictures);
}

const urlOf = (ctx: Context, key: string, size: AvatarSize): string => `${ctx.host.config.issuer}/v1/${avatarName(key, size)}`;

/** Address of the picture that profiles show. */
export const avatarUrlOf = (ctx: Context, { avatarKey }: Pick<UserProfile, 'avatarKey'>): string | null =>
  avatarKey && urlOf(ctx, avatarKey, SHOWN_SIZE);

/** All pictures of a user, also those of an upload that was cut off. @returns whether there were any. */
export const eraseAvatars = (ctx: Context, userId: string): Promise<boolean> =>
  blobsOf(ctx.host).removeFolder(avatarFolder(ownerOf(userId)));

@Resolver(() => UserProfile)
export class AvatarResolver {
  @Access({ user: 'read:profile', firstParty: true })
  @Prepare(prepare)
  @Mutation(() => User, { description: "Changes the caller's picture." })
  async setMyAvatar(@Arg('input', () => SetMyAvatarInput) _input: SetMyAvatarInput, @Ctx() ctx: Context): Promise<User> {
    const key = ctx.facts as string | null;
    const user = await ownAccount(ctx);
    const profile = (await ctx.em.findOne(UserProfile, { userId: user.id })) ?? fail('not_found', 'Not found');
    const before = profile.avatarKey;
    profile.avatarKey = key;
    ctx.audit(key === null ? 'user_avatar.removed' : 'user_avatar.changed', user.id);
    if (before !== null && before !== key)
      ctx.afterCommit(() => blobsOf(ctx.host).remove(AVATAR_SIZES.map(size => avatarName(before, size))));
    return user;
  }

  @FieldResolver(() => Url, { nullable: true, description: 'The avatar, 256 pixels square, WebP.' })
  avatarUrl(@Root() profile: UserProfile, @Ctx() ctx: Context): string | null {
    return avatarUrlOf(ctx, profile);
  }

  @FieldResolver(() => [AvatarVersion], { description: 'The avatar in all its sizes; empty without one.' })
  avatarVersions(@Root() { avatarKey }: UserProfile, @Ctx() ctx: Context): AvatarVersion[] {
    return avatarKey === null ? [] : AVATAR_SIZES.map(size => ({ size, url: urlOf(ctx, avatarKey, size) }));
  }
}
