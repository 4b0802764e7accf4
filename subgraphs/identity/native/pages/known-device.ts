import { randomBytes } from 'node:crypto';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { sha256 } from '../../../../runtime/data/crypto.js';
import type { Context } from '../../../../runtime/request/context.js';
import { sendNotice } from '../../commands/notice.js';
import { DEVICE_COOKIE, deviceHash } from '../oidc-provider/cookies.js';

/** As long as browsers keep a cookie. */
const KEPT_MS = 400 * 86_400_000;

const SEEN = `
select exists (select from identity.auth_session where user_id = $1 and device_hash = $2) as known,
  exists (select from identity.auth_session where user_id = $1) as before`;

/** Marks this browser; one that it is marked already keeps its mark. */
function mark(ctx: KoaContextWithOIDC, path: string): Buffer {
  const known = deviceHash(ctx);
  if (known) return known;
  const value = randomBytes(16).toString('base64url');
  ctx.cookies.set(DEVICE_COOKIE, value, { signed: true, httpOnly: true, sameSite: 'lax', path, maxAge: KEPT_MS });
  return sha256(value);
}

/** Sends somebody who signed in elsewhere before a notice of a new browser. Needs a transaction. Source: identity 5. */
export async function noteDevice(tx: Context, ctx: KoaContextWithOIDC, userId: string): Promise<void> {
  const device = mark(ctx, new URL(tx.host.config.issuer).pathname);
  const [seen] = await tx.sql<{ known: boolean; before: boolean }>(SEEN, [userId, device]);
  if (seen!.before && !seen!.known) sendNotice(tx, userId, 'new_device');
}
