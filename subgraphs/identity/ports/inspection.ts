import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Sql } from '../../../events/outbox.js';
import type { TokenClaims } from './claims.js';

const inspected = new WeakMap<object, TokenClaims>();

/** Claims of the access token that a request to /introspect or /revoke presents; undefined for a bad or an opaque one. */
export const inspectedToken = (request: IncomingMessage): TokenClaims | undefined => inspected.get(request);

/** Above the engine's own limit, which then refuses the body. */
const LIMIT_BYTES = 60 * 1024;
const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > LIMIT_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/** What the way to the engine has added to a request. */
interface Forwarded extends IncomingMessage {
  originalUrl: string;
  clientAddress: string;
}

/** The same request with another body. */
function withBody(request: IncomingMessage, body: Buffer): IncomingMessage {
  const { headers, rawHeaders, method, url, socket, httpVersion, httpVersionMajor, httpVersionMinor } = request;
  const { 'transfer-encoding': _chunked, ...rest } = headers;
  const { originalUrl, clientAddress } = request as Forwarded;
  const parts = { rawHeaders, method, url, originalUrl, clientAddress, socket, httpVersion, httpVersionMajor, httpVersionMinor };
  return Object.assign(Readable.from([body], { objectMode: false }), parts, {
    headers: { ...rest, 'content-length': String(body.length) },
  }) as never;
}

/** Anything that could be an access token: the engine rejects every structured token, so it must never see one. */
const isStructured = (token: string): boolean => token.includes('.');

/**
 * The engine knows opaque tokens only: a valid access token is replaced by its `jti`, any other structured one by a random string.
 * A form without exactly one `token` is passed on as it came. Source: identity 8.
 */
export async function translateToken(
  request: IncomingMessage,
  verify: (token: string) => Promise<TokenClaims | null>,
): Promise<IncomingMessage> {
  const body = await readBody(request);
  const form = FORM.test(request.headers['content-type'] ?? '') ? new URLSearchParams(body.toString()) : null;
  const [token, ...others] = form?.getAll('token') ?? [];
  if (!form || token === undefined || others.length > 0 || !isStructured(token)) return withBody(request, body);
  const claims = await verify(token);
  form.set('token', claims?.jti ?? randomUUID());
  const translated = withBody(request, Buffer.from(form.toString()));
  if (claims) inspected.set(translated, claims);
  return translated;
}

/** Whether the feed or the client's state has ended a token before its time. */
export async function isRevoked(sql: Sql, claims: TokenClaims, now: Date): Promise<boolean> {
  const { jti, gid, sid, csi, client_id, sub, iat } = claims;
  const [row] = await sql<{ revoked: boolean }>(
    `select exists (select from identity.token_revocation where effective_at <= $8 and ((kind = 'token' and value = $1) or (kind = 'family' and value = $2)
       or (kind = 'session' and value = $3) or (kind = 'secret' and value = $4) or (kind = 'client' and value = $5 and coalesce(not_before >= $7, true))
       or (kind = 'user' and value = $6 and not_before >= $7))) as revoked`,
    [jti, gid ?? null, sid ?? null, csi ?? null, client_id, sub, iat, now.toISOString()],
  );
  return row!.revoked;
}

/** The answer about a living token; everybody else gets exactly `{"active": false}`. Source: identity 4.3. */
export function introspectionOf(claims: TokenClaims): object {
  const { token_use, scope, client_id, sub, exp, iat, iss, aud, jti, sid, auth_time, amr } = claims;
  return { active: true, token_use, scope, client_id, sub, exp, iat, iss, aud, jti, sid, auth_time, amr, token_type: 'Bearer' };
}
