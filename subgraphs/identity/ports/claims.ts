import { CompactSign, type JWTPayload, jwtVerify } from 'jose';
import { isCanonical } from '../../../runtime/access/token.js';
import type { Config } from '../../../runtime/config.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Keyring, SigningKey } from './keyring.js';

export type TokenUse = 'service' | 'user';

/** Prefix by `token_use`; the two must agree. Source: identity A2. */
const PREFIXES: Readonly<Record<TokenUse, string>> = { service: 'svc', user: 'usr' };

export const withPrefix = (use: TokenUse, jws: string): string => `${PREFIXES[use]}_${jws}`;

/** Claims of an access token as identity made them. */
export interface TokenClaims extends JWTPayload {
  jti: string;
  sub: string;
  iat: number;
  exp: number;
  client_id: string;
  token_use: TokenUse;
  scope?: string;
  csi?: string;
  gid?: string;
  sid?: string;
  auth_time?: number;
  amr?: string[];
  act?: object;
}

interface Life {
  issuedAt: number;
  expiresAt: number;
}

/** A service token: all of it but who issued it is about the client. */
export interface ServiceFacts extends Life {
  clientId: string;
  scopes: readonly string[];
  /** Id of the secret (or key) that obtained it; it dies with it. */
  secretId: string | null;
  /** Internal clients only. */
  serviceSlug: string | null;
}

type Issuing = Pick<Config, 'issuer' | 'audience'>;

const base = ({ issuer, audience }: Issuing, { issuedAt, expiresAt }: Life) =>
  ({ iss: issuer, aud: audience, iat: issuedAt, exp: expiresAt, jti: newId() }) as const;

/** Claims of a `svc_` token. Source: identity A2. */
export const serviceClaims = (config: Issuing, facts: ServiceFacts): TokenClaims => ({
  ...base(config, facts),
  sub: facts.clientId,
  client_id: facts.clientId,
  token_use: 'service',
  scope: facts.scopes.join(' '),
  ...(facts.secretId && { csi: facts.secretId }),
  ...(facts.serviceSlug && { service_slug: facts.serviceSlug }),
});

/** A user token: who, through which app, from which sign-in. */
export interface UserFacts extends Life {
  userId: string;
  clientId: string;
  scopes: readonly string[];
  familyId: string;
  sessionId: string;
  authTime: Date;
  amr: readonly string[];
  firstParty: boolean;
  brandId: string | null;
  /** Staff only, when all conditions of identity A8 hold. */
  roles?: readonly string[];
  permissions?: readonly string[];
}

/** Claims of a `usr_` token. Source: identity A2. */
export const userClaims = (config: Issuing, facts: UserFacts): TokenClaims => ({
  ...base(config, facts),
  sub: facts.userId,
  client_id: facts.clientId,
  token_use: 'user',
  scope: facts.scopes.join(' '),
  ...(facts.brandId && { brand_id: facts.brandId }),
  sid: facts.sessionId,
  gid: facts.familyId,
  auth_time: Math.floor(facts.authTime.getTime() / 1000),
  amr: [...facts.amr],
  first_party: facts.firstParty,
  ...(facts.permissions?.length && { roles: [...(facts.roles ?? [])], permissions: [...facts.permissions] }),
});

/** `<prefix>_<JWS>`, header `at+jwt`, ES256. */
export async function signToken(key: SigningKey, claims: TokenClaims): Promise<string> {
  const header = { typ: 'at+jwt', alg: 'ES256', kid: key.kid };
  const jws = await new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(key.privateKey);
  return withPrefix(claims.token_use, jws);
}

/** Claims of one of our unexpired access tokens, by identity's clock; null for anything else. Revocation is not looked at. */
export async function verifyToken(token: string, keyring: Keyring, config: Issuing, now: Date): Promise<TokenClaims | null> {
  const [prefix, jws] = [token.slice(0, 3), token.slice(4)];
  if (token[3] !== '_' || (prefix !== 'svc' && prefix !== 'usr') || !isCanonical(jws)) return null;
  const keyOf = ({ kid }: { kid?: string }) => keyring.find(kid)?.publicKey ?? Promise.reject(new Error('unknown key'));
  const requiredClaims = ['sub', 'client_id', 'iat', 'exp', 'jti'];
  const { issuer, audience } = config;
  const options = { algorithms: ['ES256'], typ: 'at+jwt', issuer, audience, requiredClaims, currentDate: now };
  const claims = await jwtVerify<TokenClaims>(jws, keyOf, options).then(
    ({ payload }) => payload,
    () => null,
  );
  return claims && claims.aud === audience && PREFIXES[claims.token_use] === prefix ? claims : null;
}
