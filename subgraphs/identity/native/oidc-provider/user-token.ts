import type { JWTStructured, KoaContextWithOIDC } from 'oidc-provider';
import { staffPower } from '../../commands/staff-power.js';
import { type TokenClaims, userClaims } from '../../ports/claims.js';
import type { EngineStore } from './model.js';
import { registrationOf } from './state.js';

interface Source {
  accountId: string;
  grantId: string;
  authTime: number;
  amr?: string[];
}

/** What the token is issued for: a code, or a refresh token. */
const sourceOf = (ctx: KoaContextWithOIDC): Source =>
  (ctx.oidc.entities.AuthorizationCode ?? ctx.oidc.entities.RefreshToken) as unknown as Source;

/** Claims of a user token: `auth_time` and `amr` are those of the sign-in, never moved by a refresh; staff power is that of now. Source: identity A2, A8. */
export async function userTokenClaims(store: EngineStore, ctx: KoaContextWithOIDC, parts: JWTStructured): Promise<TokenClaims> {
  const { accountId: userId, grantId: familyId, authTime, amr = ['pwd'] } = sourceOf(ctx);
  const client = registrationOf(ctx.oidc.client);
  const { id: clientId, firstParty, brandId } = client;
  const { iat: issuedAt, exp: expiresAt, scope } = parts.payload as { iat: number; exp: number; scope?: string };
  const [family] = await store.sql<{ session_id: string }>('select session_id from identity.token_family where id = $1', [familyId]);
  const scopes = (scope ?? '').split(' ').filter(Boolean);
  const sessionId = family!.session_id;
  const signIn = { userId, client, amr, authTime: new Date(authTime * 1000) };
  const { roles, permissions } = await store.host.read(read => staffPower(read, signIn));
  return userClaims(store.host.config, {
    issuedAt,
    expiresAt,
    userId,
    clientId,
    scopes,
    familyId,
    sessionId,
    authTime: signIn.authTime,
    amr,
    firstParty,
    brandId,
    roles,
    permissions,
  });
}
