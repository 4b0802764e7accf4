import { decodeJwt } from 'jose';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { SessionVerification, SessionVerificationReason, type VerifiedSession } from '../entities/session.js';
import { User, UserStatus } from '../entities/user.js';
import { type TokenClaims, verifyToken } from '../ports/claims.js';
import { isRevoked } from '../ports/inspection.js';
import { keyringOf } from '../ports/keyring.js';
import { profileOf } from './batches.js';

const inactive = (reason: SessionVerificationReason): SessionVerification =>
  Object.assign(new SessionVerification(), { active: false, reason });

/** One of our tokens whose time is over verifies at the second before it; anything else is malformed. */
async function read(ctx: Context, token: string): Promise<TokenClaims | SessionVerificationReason> {
  const keyring = keyringOf(ctx.host);
  await keyring.refresh(ctx.now(), ctx);
  const claims = await verifyToken(token, keyring, ctx.host.config, ctx.now());
  if (claims) return claims;
  const exp = expiryOf(token);
  const before = exp !== null && (await verifyToken(token, keyring, ctx.host.config, new Date(exp * 1000 - 1000)));
  return before ? SessionVerificationReason.EXPIRED : SessionVerificationReason.MALFORMED;
}

function expiryOf(token: string): number | null {
  try {
    return decodeJwt(token.slice(4)).exp ?? null;
  } catch {
    return null;
  }
}

/** The sign-in of a token; null for one that is not known any more. */
async function sessionOf(ctx: Context, sid: string | undefined): Promise<VerifiedSession | null> {
  if (!sid) return null;
  const [row] = await ctx.sql<{ id: string; created: number; active: number }>(
    `select id, extract(epoch from created_at)::float8 * 1000 as created, extract(epoch from last_active_at)::float8 * 1000 as active
     from identity.auth_session where id::text = $1`,
    [sid],
  );
  return row ? { id: row.id, createdAt: new Date(Math.round(row.created)), lastActiveAt: new Date(Math.round(row.active)) } : null;
}

async function userPart(ctx: Context, claims: TokenClaims) {
  const user = await ctx.em.findOne(User, claims.sub);
  if (user?.status !== UserStatus.ACTIVE) return null;
  const profile = await profileOf(ctx, user.id);
  const { handle = null, displayName = null } = profile ?? {};
  return { user: { id: user.id, status: user.status, handle, displayName }, session: await sessionOf(ctx, claims.sid) };
}

/** What is the same for both kinds of token. */
function common(claims: TokenClaims) {
  const list = (value: unknown): string[] => (Array.isArray(value) ? (value as string[]) : []);
  return {
    active: true,
    reason: null,
    clientId: claims.client_id,
    scope: claims.scope ?? '',
    expiresAt: new Date(claims.exp * 1000),
    authTime: claims.auth_time === undefined ? null : new Date(claims.auth_time * 1000),
    amr: list(claims.amr),
    roles: list(claims.roles),
    permissions: list(claims.permissions),
    firstParty: claims.first_party === true,
  };
}

/** What a token is worth now. `token`: null for the caller's own. @throws Problem forbidden, invalid_request; never because of the token. */
export async function verifiedSession(ctx: Context, token: string | null | undefined): Promise<SessionVerification> {
  const isUser = ctx.caller.kind === 'user';
  if (isUser && token != null) fail('forbidden', 'A user token is told about itself only');
  const presented = isUser ? ctx.request.token : token;
  if (presented == null)
    fail('invalid_request', 'The token is missing', { errors: [{ pointer: '/token', message: 'is required for a service token' }] });
  const claims = await read(ctx, presented);
  if (typeof claims === 'string') return inactive(claims);
  if (await isRevoked(ctx.sql, claims, ctx.now())) return inactive(SessionVerificationReason.REVOKED);
  if (claims.token_use === 'service') return Object.assign(new SessionVerification(), common(claims), { user: null, session: null });
  const about = await userPart(ctx, claims);
  return about ? Object.assign(new SessionVerification(), common(claims), about) : inactive(SessionVerificationReason.USER_NOT_ACTIVE);
}
