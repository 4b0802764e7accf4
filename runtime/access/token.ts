import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { isSlug } from '../../events/slugs.js';
import type { Caller } from '../request/caller.js';
import { sha256 } from '../data/crypto.js';
import { fail, Problem } from '../request/errors.js';
import type { Revocations } from './revocations.js';

/** Clock difference between machines that is forgiven. Source: identity A3. */
const LEEWAY_SECONDS = 5;
/** An unknown key id makes us fetch the key set again, at most once a minute. */
const JWKS_COOLDOWN_MS = 60_000;
const CACHED_TOKENS = 5_000;

export interface VerifierOptions {
  issuer: string;
  audience: string;
  /** Called at the first token, when this process listens. */
  jwksUrl: () => string;
  /** Shortest time between two fetches of the key set, ms. Zero with a manual clock: the day for which a key is published before it signs may pass in an instant. */
  jwksCooldownMs?: number;
}

/** Bearer token -> caller, offline but for the key set. */
export interface TokenVerifier {
  /** @throws Problem unauthenticated for any token that is not ours, expired or revoked; unavailable when no key set can be had. */
  verify(token: string): Promise<Caller>;
}

const refuse = (): never => fail('unauthenticated', 'The access token is not valid', { reason: 'invalid_token' });

/** `Authorization: Bearer <token>` exactly once; null for no header. @throws Problem unauthenticated for anything else. */
export function bearerOf(authorization: string | string[] | undefined): string | null {
  if (authorization === undefined) return null;
  const match = typeof authorization === 'string' ? /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(authorization) : null;
  return match ? match[1]! : refuse();
}

/**
 * Whether every part of a JWS is written as its signer wrote it. The last character of base64url may have bits that decode to nothing, so
 * that one token has up to 16 spellings that verify: a list of refused tokens by text or hash would know one of them. Source: RFC 4648, 3.5.
 */
export const isCanonical = (jws: string): boolean =>
  jws.split('.').every(part => Buffer.from(part, 'base64url').toString('base64url') === part);

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const seconds = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const strings = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []);

function actors(act: unknown): string[] {
  if (typeof act !== 'object' || act === null) return [];
  return [text((act as { sub?: unknown }).sub) ?? '', ...actors((act as { act?: unknown }).act)];
}

function callerOf(kind: 'service' | 'user', claims: JWTPayload): Caller {
  const clientId = text(claims.client_id) ?? refuse();
  const slug = text(claims.service_slug);
  return {
    kind,
    clientId,
    userId: kind === 'user' ? (text(claims.sub) ?? refuse()) : null,
    scopes: new Set((text(claims.scope) ?? '').split(' ').filter(Boolean)),
    permissions: kind === 'user' ? strings(claims.permissions) : [],
    roles: kind === 'user' ? strings(claims.roles) : [],
    firstParty: claims.first_party === true,
    serviceSlug: kind === 'service' && slug !== null && isSlug(slug) ? slug : null,
    brandId: text(claims.brand_id),
    jti: text(claims.jti),
    sid: text(claims.sid),
    gid: text(claims.gid),
    csi: text(claims.csi),
    authTime: seconds(claims.auth_time),
    issuedAt: seconds(claims.iat),
    expiresAt: seconds(claims.exp),
    amr: strings(claims.amr),
    actorChain: actors(claims.act),
  };
}

const KINDS = { svc: 'service', usr: 'user' } as const;

/** A key set that cannot be fetched is our trouble, a token that does not fit it is the caller's. */
function judge(error: unknown): never {
  if (error instanceof Problem) throw error;
  const ours =
    error instanceof errors.JWKSTimeout ||
    (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC') ||
    error instanceof TypeError;
  if (ours) fail('unavailable', 'Tokens cannot be verified right now', { retryAfter: 2, cause: error });
  return refuse();
}

async function verifySigned(token: string, keys: JWTVerifyGetKey, options: VerifierOptions): Promise<Caller> {
  const match = /^(svc|usr)_(.+)$/.exec(token);
  if (!match || !isCanonical(match[2]!)) refuse();
  const kind = KINDS[match![1] as keyof typeof KINDS];
  const { payload } = await jwtVerify(match![2]!, keys, {
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer: options.issuer,
    audience: options.audience,
    clockTolerance: LEEWAY_SECONDS,
    requiredClaims: ['sub', 'client_id', 'iat', 'exp', 'jti'],
  });
  if (payload.aud !== options.audience || payload.token_use !== kind) refuse();
  return callerOf(kind, payload);
}

/** Verifies as identity A3 says; a verified token is remembered by its hash, revocations are checked every time. */
export function createVerifier(options: VerifierOptions, revocations: Revocations): TokenVerifier {
  let remote: JWTVerifyGetKey | undefined;
  const keys: JWTVerifyGetKey = (...found) =>
    (remote ??= createRemoteJWKSet(new URL(options.jwksUrl()), {
      cooldownDuration: options.jwksCooldownMs ?? JWKS_COOLDOWN_MS,
      timeoutDuration: 5_000,
    }))(...found);
  const known = new Map<string, Caller>();
  const remember = (key: string, caller: Caller): void => {
    if (known.size >= CACHED_TOKENS) known.delete(known.keys().next().value!);
    known.set(key, caller);
  };
  return {
    async verify(token) {
      const key = sha256(token).toString('base64');
      let caller = known.get(key);
      if (!caller) remember(key, (caller = await verifySigned(token, keys, options).catch(judge)));
      const expired = caller.expiresAt === null || caller.expiresAt + LEEWAY_SECONDS <= Date.now() / 1000;
      await revocations.catchUp(caller);
      if (expired || revocations.isRevoked(caller)) refuse();
      return caller;
    },
  };
}
