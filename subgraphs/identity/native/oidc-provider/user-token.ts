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

const FAMILY = 'select session_id from identity.token_family where id = $1';

/** Claims of a user token: `auth_time` and `amr` are those of the sign-in, never moved by a refresh; staff power is today's. Source: identity A2, A8. */
export async function userTokenClaims(store: EngineStore, ctx: KoaContextWithOIDC, parts: JWTStructured): Promise<TokenClaims> {
  const { accountId: userId, grantId: familyId, authTime, amr = ['pwd'] } = sourceOf(ctx);
  const client = registrationOf(ctx.oidc.client);
  const { iat: issuedAt, exp: expiresAt, scope } = parts.payload as { iat: number; exp: number; scope?: string };
  const [family] = await store.sql<{ session_id: string }>(FAMILY, [familyId]);
  const signIn = { userId, amr, authTime: new Date(authTime * 1000) };
  const { roles, permissions } = await store.host.read(read => staffPower(read, { ...signIn, client }));
  const scopes = (scope ?? '').split(' ').filter(Boolean);
  const { id: clientId, firstParty, brandId } = client;
  const opened = { clientId, firstParty, brandId, scopes, familyId, sessionId: family!.session_id };
  return userClaims(store.host.config, { issuedAt, expiresAt, ...signIn, ...opened, roles, permissions });
}
