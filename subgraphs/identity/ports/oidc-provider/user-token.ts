import type { JWTStructured, KoaContextWithOIDC } from 'oidc-provider';
import { userClaims, type TokenClaims } from './claims.js';
import { registrationOf } from './engine.js';
import type { EngineStore } from './model.js';

interface Source {
  accountId: string;
  grantId: string;
  authTime: number;
  amr?: string[];
}

/** What the token is issued for: a code, or a refresh token. */
const sourceOf = (ctx: KoaContextWithOIDC): Source =>
  (ctx.oidc.entities.AuthorizationCode ?? ctx.oidc.entities.RefreshToken) as unknown as Source;

/** Claims of a user token: `auth_time` and `amr` are those of the sign-in, never moved by a refresh. Source: identity A2. */
export async function userTokenClaims(store: EngineStore, ctx: KoaContextWithOIDC, parts: JWTStructured): Promise<TokenClaims> {
  const { accountId: userId, grantId: familyId, authTime, amr = ['pwd'] } = sourceOf(ctx);
  const { id: clientId, firstParty, brandId } = registrationOf(ctx.oidc.client);
  const { iat: issuedAt, exp: expiresAt, scope } = parts.payload as { iat: number; exp: number; scope?: string };
  const [family] = await store.sql<{ session_id: string }>('select session_id from identity.token_family where id = $1', [familyId]);
  const scopes = (scope ?? '').split(' ').filter(Boolean);
  const sessionId = family!.session_id;
  return userClaims(store.host.config, {
    issuedAt, expiresAt, userId, clientId, scopes, familyId, sessionId, authTime: new Date(authTime * 1000), amr, firstParty, brandId,
  }); // prettier-ignore
}
