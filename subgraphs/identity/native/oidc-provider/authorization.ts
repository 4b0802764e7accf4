import { type AdapterPayload, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Sql } from '../../../../events/outbox.js';
import { newId } from '../../../../runtime/data/ids.js';
import type { Context } from '../../../../runtime/request/context.js';
import { deviceOf, networkOf } from '../../rules/devices.js';
import { SESSION_SECONDS } from '../../rules/lifetimes.js';
import { isNativeRedirect } from '../../rules/redirects.js';
import { PROTOCOL_SCOPES } from '../../rules/scopes.js';
import { deviceHash } from './cookies.js';
import type { EngineStore } from './model.js';
import { type Authorization, type EngineRequest, stateOf } from './state.js';

interface ConsentRow {
  id: string;
  scopes: string[];
  declined_scopes: string[];
  status: string;
}

/** The consent of a user to an app that is not revoked. */
export async function standingConsent(sql: Sql, userId: string, clientId: string): Promise<ConsentRow | null> {
  const text =
    "select id, scopes, declined_scopes, status from identity.oauth_grant where user_id = $1 and client_id = $2 and status <> 'revoked'";
  return (await sql<ConsentRow>(text, [userId, clientId]))[0] ?? null;
}

/** Asked scopes that a user consents to. */
export const consentable = (scope: string | undefined): string[] =>
  [...new Set(scope?.split(' ').filter(Boolean))].filter(one => !PROTOCOL_SCOPES.includes(one));

/** Whether the stored consent answers this request. An app whose identity can be copied asks every time. */
function judge(ctx: KoaContextWithOIDC, consent: ConsentRow | null): Authorization {
  const { params, result } = ctx.oidc as KoaContextWithOIDC['oidc'] & { result?: { consent?: object } };
  const asked = consentable(params!.scope as string);
  const known = new Set(consent?.status === 'active' ? [...consent.scopes, ...consent.declined_scopes] : []);
  const covered = consent?.status === 'active' && asked.every(scope => known.has(scope));
  const asks = !covered || (isNativeRedirect(String(params!.redirect_uri)) && !result?.consent);
  const openid = String(params!.scope ?? '')
    .split(' ')
    .includes('openid')
    ? ['openid']
    : [];
  return {
    consentId: consent?.id ?? null,
    asks,
    scopes: covered ? [...asked.filter(scope => consent.scopes.includes(scope)), ...openid] : [],
  };
}

/** An engine grant for this authorization alone, from the stored consent; it becomes a token family with its code. Source: identity 8. */
export async function grantOf(store: EngineStore, ctx: KoaContextWithOIDC) {
  const { account, client, provider } = ctx.oidc;
  const consent = await standingConsent(store.sql, account!.accountId, client!.clientId);
  const authorization = judge(ctx, consent);
  stateOf(ctx).authorization = authorization;
  const grant = new provider.Grant({ accountId: account!.accountId, clientId: client!.clientId });
  grant.jti = newId();
  if (authorization.scopes.length) grant.addResourceScope(store.host.config.audience, authorization.scopes.join(' '));
  if (authorization.scopes.includes('openid')) grant.addOIDCScope('openid');
  return grant;
}

const TOUCH = `
insert into identity.auth_session as s (id, user_id, created_at, last_active_at, expires_at, auth_time, amr, engine_uid, ip_prefix, country_code,
  browser, os, form_factor, device_hash)
values ($1, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
on conflict (engine_uid) where engine_uid is not null do update set last_active_at = excluded.last_active_at, expires_at = excluded.expires_at,
  auth_time = excluded.auth_time, amr = excluded.amr, ip_prefix = excluded.ip_prefix,
  country_code = excluded.country_code, browser = excluded.browser, os = excluded.os, form_factor = excluded.form_factor,
  device_hash = coalesce(excluded.device_hash, s.device_hash)
where s.ended_at is null and s.user_id = excluded.user_id returning id`;

/** Keeps the sign-in of a browser session. @returns its id; null when it has ended. */
export async function touchSession(sql: Sql, ctx: KoaContextWithOIDC, session: AdapterPayload, expiresAt: number): Promise<string | null> {
  const { accountId, uid, loginTs, amr } = session as AdapterPayload & { uid: string; loginTs: number; amr?: string[] };
  const { clientAddress, countryCode } = ctx.req as EngineRequest;
  const { browser, os, formFactor } = deviceOf(ctx.get('user-agent'));
  const iso = (ms: number): string => new Date(ms).toISOString();
  const signIn = [newId(), accountId, iso(Date.now()), iso(expiresAt), iso(loginTs * 1000), amr ?? ['pwd'], uid];
  const values = [...signIn, networkOf(clientAddress ?? ''), countryCode ?? null, browser, os, formFactor, deviceHash(ctx)];
  return (await sql<{ id: string }>(TOUCH, values))[0]?.id ?? null;
}

/** A consent that is revoked meanwhile opens nothing. */
const OPEN = `
with consent as (update identity.oauth_grant set last_used_at = $7 where id = $2 and status = 'active' returning id)
insert into identity.token_family (id, grant_id, user_id, client_id, session_id, scopes, created_at, last_used_at)
select $1, consent.id, $3, $4, $5, $6, $7, $7 from consent returning id`;

/** Opens the token family of an authorization. Needs a transaction. @throws access_denied when consent or sign-in have ended meanwhile. */
export async function openFamily(tx: Context, ctx: KoaContextWithOIDC, code: AdapterPayload): Promise<void> {
  const { consentId, scopes } = stateOf(ctx).authorization!;
  const { accountId, clientId, grantId } = code;
  const sessionId = await touchSession(tx.sql, ctx, ctx.oidc.session as never, Date.now() + SESSION_SECONDS * 1000);
  if (sessionId === null) throw new errors.AccessDenied('the sign-in has ended');
  const [opened] = await tx.sql(OPEN, [grantId, consentId, accountId, clientId, sessionId, scopes, tx.now().toISOString()]);
  if (!opened) throw new errors.AccessDenied('the consent has ended');
}
