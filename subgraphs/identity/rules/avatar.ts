/** Edge lengths in which an avatar is kept, pixels; profiles show the middle one. Source: identity 2, 4.13. */
export const AVATAR_SIZES = [64, 256, 512] as const;
export type AvatarSize = (typeof AVATAR_SIZES)[number];
const SHOWN_SIZE: AvatarSize = 256;

/** Bytes of what is sent or fetched. Source: identity 4.13. */
export const MAX_AVATAR_BYTES = 5 * 1024 * 1024;

/** Content types that are decoded, whatever the name or header. */
export const AVATAR_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif']);

/** All that is kept of one user's pictures, so that it can be erased without knowing what there is. `owner`: a hash of the user's id. */
export const avatarFolder = (owner: string): string => `avatars/${owner}/`;

/** Name of one picture; `key` is `<owner>/<digest>`. */
export const avatarName = (key: string, size: AvatarSize): string => `avatars/${key}-${size}.webp`;

/** Address of one picture. */
export const avatarUrl = (issuer: string, key: string, size: AvatarSize = SHOWN_SIZE): string => `${issuer}/v1/${avatarName(key, size)}`;

/** The part of a picture's address that identity serves: `/v1/avatars/<owner>/<digest>-<size>.webp`. */
export const AVATAR_PATH = /^[0-9a-f]{32}\/[0-9a-f]{32}-(?:64|256|512)\.webp$/;

/** Strict base64, as JSON has it. */
export const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
