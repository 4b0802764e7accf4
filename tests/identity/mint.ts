import { after } from '../../runtime/time/durations.js';
import { SESSION_SECONDS } from '../../subgraphs/identity/rules/lifetimes.js';
import { newId } from '../../runtime/data/ids.js';
import type { ServiceHost, Context } from '../../runtime/request/context.js';
import { fail } from '../../runtime/request/errors.js';
import { effectiveScopesOf } from '../../subgraphs/identity/queries/grant.js';
import { giveConsent } from '../../subgraphs/identity/commands/consent.js';
import { staffPower } from '../../subgraphs/identity/commands/staff-power.js';
import { USER_TOKEN_SECONDS } from '../../subgraphs/identity/rules/lifetimes.js';
import { OAuthClient } from '../../subgraphs/identity/entities/client.js';
import type { OAuthGrant } from '../../subgraphs/identity/entities/grant.js';
import { User, UserStatus } from '../../subgraphs/identity/entities/user.js';
import { signToken, userClaims, type UserFacts } from '../../subgraphs/identity/ports/claims.js';
import { keyringOf } from '../../subgraphs/identity/ports/keyring.js';
import { PROTOCOL_SCOPES } from '../../subgraphs/identity/rules/scopes.js';

/** A user token: for whom, through which app, with what. */
export interface MintOptions {
  userId: string;
  clientId: string;
  /** Consented to as if the user had ticked them now. @throws Problem forbidden when the client may not hold one of them. */
  scopes: readonly string[];
  /** Sign-in that the token belongs to; a new one when not given. */
  sessionId?: string;
  /** How the user signed in; default `['pwd']`. */
  amr?: readonly string[];
  /** Time of the last active sign-in; default now. */
  authTime?: Date;
  /** Staff power, only with `permissions`; default: what the user holds, where identity A8 lets it into a token. */
  roles?: readonly string[];
  permissions?: readonly string[];
}

async function activeUser(ctx: Context, userId: string): Promise<void> {
  const user = await ctx.em.findOne(User, userId);
  if (!user || user.status !== UserStatus.ACTIVE) fail('forbidden', `There is no active user ${userId}`);
}

async function consentFor(ctx: Context, { userId, clientId, scopes }: MintOptions): Promise<OAuthGrant> {
  const grant = await giveConsent(ctx, userId, clientId, { granted: scopes.filter(scope => !PROTOCOL_SCOPES.includes(scope)) });
  const effective = new Set([...(await effectiveScopesOf(ctx, grant)), ...PROTOCOL_SCOPES]);
  const missing = scopes.filter(scope => !effective.has(scope));
  if (missing.length) fail('forbidden', `${clientId} may not hold ${missing.join(' ')}`);
  grant.lastUsedAt = ctx.now();
  await ctx.em.flush(); // the family refers to it
  return grant;
}

async function openSession(ctx: Context, { userId, amr, authTime }: MintOptions): Promise<string> {
  const id = newId();
  const now = ctx.now();
  await ctx.sql(
    'insert into identity.auth_session (id, user_id, created_at, last_active_at, expires_at, auth_time, amr) values ($1, $2, $3, $3, $4, $5, $6)',
    [
      id,
      userId,
      now.toISOString(),
      after(now, SESSION_SECONDS * 1000).toISOString(),
      (authTime ?? now).toISOString(),
      [...(amr ?? ['pwd'])],
    ],
  );
  return id;
}

async function openFamily(ctx: Context, grant: OAuthGrant, sessionId: string, scopes: readonly string[]): Promise<string> {
  const id = newId();
  await ctx.sql(
    `insert into identity.token_family (id, grant_id, user_id, client_id, session_id, scopes, created_at, last_used_at)
     values ($1, $2, $3, $4, $5, $6, $7, $7)`,
    [id, grant.id, grant.userId, grant.clientId, sessionId, [...scopes], ctx.now().toISOString()],
  );
  return id;
}

/** One authorization of an app: consent, sign-in, family. */
async function authorize(ctx: Context, options: MintOptions): Promise<UserFacts> {
  await activeUser(ctx, options.userId);
  const grant = await consentFor(ctx, options);
  const sessionId = options.sessionId ?? (await openSession(ctx, options));
  const familyId = await openFamily(ctx, grant, sessionId, options.scopes);
  const client = await ctx.em.findOneOrFail(OAuthClient, options.clientId);
  const { firstParty, brandId } = client;
  const issuedAt = Math.floor(ctx.now().getTime() / 1000);
  const { userId, clientId, scopes, authTime = ctx.now(), amr = ['pwd'] } = options;
  const { roles, permissions } = options.permissions ? options : await staffPower(ctx, { userId, client, amr, authTime });
  const life = { issuedAt, expiresAt: issuedAt + USER_TOKEN_SECONDS };
  return { ...life, userId, clientId, scopes, familyId, sessionId, authTime, amr, firstParty, brandId, roles, permissions };
}

/**
 * A `usr_` access token without the pages: the user's consent, a sign-in and a token family are recorded as the code flow would, so
 * that every revocation finds it.
 * @throws Problem forbidden for a user that is not active or a scope that the client may not hold; not_found for a client without users.
 */
export async function mintUserToken(host: ServiceHost, options: MintOptions): Promise<string> {
  const facts = await host.transaction(ctx => authorize(ctx, options));
  const issuedAt = new Date(facts.issuedAt * 1000);
  const keyring = keyringOf(host);
  await keyring.refresh(issuedAt);
  return signToken(keyring.current(issuedAt), userClaims(host.config, facts));
}
