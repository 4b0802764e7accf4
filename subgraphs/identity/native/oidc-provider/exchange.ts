import { errors, type KoaContextWithOIDC, type Provider } from 'oidc-provider';
import { internalRequest } from '../../../../runtime/request/request.js';
import { signToken, type TokenClaims, userClaims, verifyToken } from '../../ports/claims.js';
import { isRevoked } from '../../ports/inspection.js';
import type { Keyring } from '../../ports/keyring.js';
import { isPhi } from '../../rules/scopes.js';
import { accountOf } from './account.js';
import { asClient } from './issued.js';
import type { EngineStore } from './model.js';
import { EXCHANGE_GRANT, type Registration } from './registration.js';
import { registrationOf } from './state.js';

/** The only type of token that is taken and given. */
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const PARAMETERS = ['subject_token', 'subject_token_type', 'requested_token_type', 'scope'];
const MAX_SECONDS = 900;
const MAX_DEPTH = 3;

interface Actor {
  sub: string;
  act?: Actor;
}

const depthOf = (actor: Actor | undefined): number => (actor ? 1 + depthOf(actor.act) : 0);

/** @throws invalid_request for a missing parameter or another type of token. */
function checkParameters(params: Record<string, unknown>): void {
  for (const name of ['subject_token', 'subject_token_type'])
    if (!params[name]) throw new errors.InvalidRequest(`missing required parameter(s) '${name}'`);
  for (const name of ['subject_token_type', 'requested_token_type'])
    if ((params[name] ?? ACCESS_TOKEN) !== ACCESS_TOKEN) throw new errors.InvalidRequest(`${name} must be ${ACCESS_TOKEN}`);
}

/** What passes on: at most what the subject's token holds; of class PHI to our own apps or under an agreement. @throws invalid_scope. */
function passedScopes(asked: string | undefined, subject: TokenClaims, { firstParty, agreements }: Registration, now: Date): string[] {
  const held = (subject.scope ?? '').split(' ').filter(Boolean);
  const wanted = asked?.split(' ').filter(Boolean) ?? held;
  const inForce = agreements.filter(one => one.expiresAt === null || one.expiresAt > now.getTime());
  const mayHold = (scope: string): boolean => !isPhi(scope) || firstParty || inForce.some(one => one.scopes.includes(scope));
  const wrong = wanted.filter(scope => !held.includes(scope) || !mayHold(scope));
  if (wrong.length) throw new errors.InvalidScope(`the token may not be exchanged for ${wrong.join(' ')}`, wrong.join(' '));
  return wanted;
}

/** Token exchange (RFC 8693): a user's token for a narrower, shorter one that names who acts. Source: identity 4.5. */
export class TokenExchange {
  constructor(
    private readonly store: EngineStore,
    private readonly keyring: Keyring,
  ) {}

  register(provider: Provider): void {
    provider.registerGrantType(EXCHANGE_GRANT, ctx => this.#handle(ctx as KoaContextWithOIDC), PARAMETERS);
  }

  async #handle(ctx: KoaContextWithOIDC): Promise<void> {
    const params = ctx.oidc.params as Record<string, string | undefined>;
    checkParameters(params);
    const now = new Date(Date.now());
    const subject = await this.#subject(params.subject_token!, now);
    const client = registrationOf(ctx.oidc.client);
    if (depthOf(subject.act as Actor | undefined) >= MAX_DEPTH)
      throw new errors.InvalidRequest(`the token has passed through ${MAX_DEPTH} clients`);
    const scopes = passedScopes(params.scope, subject, client, now);
    const claims = this.#claims(subject, client, scopes, now);
    await this.#record(subject, claims);
    const [, ...jws] = (await signToken(this.keyring.current(now), claims)).split('_'); // the prefix is put on by the token step
    const life = { token_type: 'Bearer', expires_in: claims.exp - claims.iat, scope: claims.scope };
    ctx.body = { access_token: jws.join('_'), issued_token_type: ACCESS_TOKEN, ...life };
  }

  /** @throws invalid_grant for anything but a living token of an active user. */
  async #subject(token: string, now: Date): Promise<TokenClaims> {
    const claims = await verifyToken(token, this.keyring, this.store.host.config, now);
    const alive =
      claims?.token_use === 'user' && !(await isRevoked(this.store.sql, claims, now)) && (await accountOf(this.store, claims.sub));
    if (!alive) throw new errors.InvalidGrant({ detail: 'the subject token is not a living user token' });
    return claims;
  }

  /** The user and the sign-in stay; staff power does not pass on. It dies with the family. */
  #claims(subject: TokenClaims, { id: clientId, firstParty, brandId }: Registration, scopes: string[], now: Date): TokenClaims {
    const issuedAt = Math.floor(now.getTime() / 1000);
    const { sub: userId, sid, gid, auth_time, amr = [], exp, act } = subject;
    const expiresAt = Math.min(issuedAt + MAX_SECONDS, exp);
    const authTime = new Date(auth_time! * 1000);
    const facts = { issuedAt, expiresAt, userId, clientId, scopes, familyId: gid!, sessionId: sid!, authTime, amr, firstParty, brandId };
    return { ...userClaims(this.store.host.config, facts), act: { sub: clientId, ...(act && { act }) } };
  }

  async #record(subject: TokenClaims, { jti, client_id, sub, scope }: TokenClaims): Promise<void> {
    await this.store.host.transaction(
      async tx => tx.audit('token.exchanged', jti, { client_id, user_id: sub, from_client_id: subject.client_id, scope: scope ?? '' }),
      internalRequest(asClient(client_id)),
    );
  }
}
