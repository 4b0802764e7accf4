import { createHmac } from 'node:crypto';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { sha256 } from '../../../../runtime/data/crypto.js';
import type { EngineStore } from './model.js';

/** Signs cookies and forms; made of the key that every process has. */
export const cookieSecret = ({ host }: Pick<EngineStore, 'host'>): string =>
  createHmac('sha256', host.config.signingKek!).update('cookies').digest('base64');

/** Stays in the browser when its sign-in ends. */
export const DEVICE_COOKIE = '_device';

/** The mark of this browser as it is stored; null for one that was not marked by us. */
export function deviceHash(ctx: KoaContextWithOIDC): Buffer | null {
  const value = ctx.cookies.get(DEVICE_COOKIE, { signed: true });
  return value ? sha256(value) : null;
}
