import type { KoaContextWithOIDC } from 'oidc-provider';
import { sha256 } from '../../../../runtime/data/crypto.js';

/** Stays in the browser when its sign-in ends. */
export const DEVICE_COOKIE = '_device';

/** The mark of this browser as it is stored; null for one that was not marked by us. */
export function deviceHash(ctx: KoaContextWithOIDC): Buffer | null {
  const value = ctx.cookies.get(DEVICE_COOKIE, { signed: true });
  return value ? sha256(value) : null;
}
