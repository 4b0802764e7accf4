import { createHmac } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';

/** A click counts so long. Source: affiliates 7.9. */
export const CLICK_DAYS = 90;

const TYPE = 'affiliate-click+jwt';

/** What a token tells of a click. */
const Claims = z.object({ jti: z.uuid(), pgm: z.uuid(), aff: z.uuid(), lnk: z.uuid().nullable(), at: z.number().int() });

export interface Click {
  id: string;
  programId: string;
  affiliateId: string;
  linkId: string | null;
  at: Date;
}

interface Key {
  id: string;
  key: Buffer;
}

/** Keys of our own from those of the process: the first signs, all verify. */
function keysOf({ config }: ServiceHost, purpose: string): Key[] {
  return config.encryptionKeys!.split(',').map(pair => {
    const at = pair.indexOf(':');
    return {
      id: pair.slice(0, at),
      key: createHmac('sha256', Buffer.from(pair.slice(at + 1), 'base64'))
        .update(`affiliates.${purpose}`)
        .digest(),
    };
  });
}

/** A keyed hash by which visits of one visitor on one day are known, and nobody is. */
export function visitorHash(host: ServiceHost, ip: string | null, userAgent: string): string {
  const [{ key }] = keysOf(host, 'visitor') as [Key];
  return createHmac('sha256', key)
    .update(`${ip ?? ''} ${userAgent}`)
    .digest('base64url')
    .slice(0, 22);
}

export const expiryOf = ({ at }: Pick<Click, 'at'>): Date => after(at, CLICK_DAYS * DAY_MS);

/** A signed token of a click. */
export function tokenOf(host: ServiceHost, { id, programId, affiliateId, linkId, at }: Click): Promise<string> {
  const [{ id: kid, key }] = keysOf(host, 'clicks') as [Key];
  const claims = { jti: id, pgm: programId, aff: affiliateId, lnk: linkId, at: at.getTime() };
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: TYPE, kid }).sign(key);
}

/** The click of a token; null for one that is forged, malformed or too old. */
export async function clickOf(host: ServiceHost, token: string, now: Date): Promise<Click | null> {
  const find = ({ kid }: { kid?: string }) =>
    keysOf(host, 'clicks').find(({ id }) => id === kid)?.key ?? Promise.reject(new Error('unknown key'));
  const verified = await jwtVerify(token, find as never, { algorithms: ['HS256'], typ: TYPE }).catch(() => null);
  const claims = Claims.safeParse(verified?.payload);
  if (!claims.success) return null;
  const { jti: id, pgm: programId, aff: affiliateId, lnk: linkId, at } = claims.data;
  const click = { id, programId, affiliateId, linkId, at: new Date(at) };
  return expiryOf(click) > now ? click : null;
}
