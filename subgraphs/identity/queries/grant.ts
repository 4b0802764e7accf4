import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { OAuthClient } from '../entities/client.js';
import { type ConnectedApp, type ConnectedAppScope, OAuthGrant, OAuthGrantStatus } from '../entities/grant.js';
import { effectiveScopes } from '../rules/consent.js';
import { SCOPE_TITLES } from '../rules/scope-titles.js';
import { isPhi } from '../rules/scopes.js';
import { agreementsOf, clientOf } from './batches.js';

const LIVE = `
select grant_id, count(*)::int as live from identity.token_family where grant_id = any($1::uuid[]) and ended_at is null group by grant_id`;

/** Live token families by grant: devices on which an app is signed in. */
async function devicesOf(ctx: Context, grantIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await ctx.sql<{ grant_id: string; live: number }>(LIVE, [grantIds]);
  return new Map(rows.map(row => [row.grant_id, row.live]));
}

/** Devices on which the app of a grant is signed in. */
export async function authorizationsOf(ctx: Context, grantId: string): Promise<number> {
  const count = await ctx.load('identity.authorizations', grantId, async ids => {
    const live = await devicesOf(ctx, ids);
    return ids.map(id => live.get(id) ?? 0);
  });
  return count ?? 0;
}

/** Ids of grants that deliver: active, or stale while another device still uses them. */
const DELIVERING = `
select g.id from identity.oauth_grant g where g.user_id = any($1::uuid[]) and ($2::text is null or g.client_id = $2)
and (g.status = 'active' or (g.status = 'stale' and exists (select 1 from identity.token_family f where f.grant_id = g.id and f.ended_at is null)))`;

/** Grants under which apps may learn of these users now; of one client or of all. */
export async function deliveringGrants(ctx: Context, userIds: readonly string[], clientId: string | null): Promise<OAuthGrant[]> {
  const rows = await ctx.sql<{ id: string }>(DELIVERING, [userIds.filter(isUuid), clientId]);
  return ctx.em.find(OAuthGrant, { id: { $in: rows.map(row => row.id) } }, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** Revoked grants are shown for so long. Source: identity 4, GET /v1/me/grants. */
const REVOKED_SHOWN_MS = 90 * DAY_MS;

/** Consents of a user that are not revoked, newest first; `revoked` adds those of the last 90 days. */
export function grantsOf(ctx: Context, userId: string, revoked: boolean): Promise<OAuthGrant[]> {
  const recent = { status: OAuthGrantStatus.REVOKED, revokedAt: { $gt: after(ctx.now(), -REVOKED_SHOWN_MS) } };
  const shown = [{ status: { $ne: OAuthGrantStatus.REVOKED } }, ...(revoked ? [recent] : [])];
  return ctx.em.find(OAuthGrant, { userId, $or: shown }, { orderBy: { createdAt: 'desc', id: 'desc' } });
}

/** granted ∩ the client's ∩ agreements in force now. */
export async function effectiveScopesOf(ctx: Context, grant: OAuthGrant): Promise<string[]> {
  const client = await clientOf(ctx, grant.clientId);
  return client ? effectiveScopes(grant.scopes, client, await agreementsOf(ctx, client.id), ctx.now()) : [];
}

interface ScopeRow {
  grant_id: string;
  scope: string;
  granted: number;
  used: number | null;
}

/** Scopes of grants with their times, epoch ms. */
const SCOPES = `
select grant_id, scope, extract(epoch from granted_at)::float8 * 1000 as granted, extract(epoch from last_used_at)::float8 * 1000 as used
from identity.scope_use where grant_id = any($1::uuid[]) order by scope`;

const scopeOf = ({ scope, granted, used }: ScopeRow): ConnectedAppScope => ({
  name: scope,
  title: SCOPE_TITLES[scope] ?? scope,
  sensitive: isPhi(scope),
  grantedAt: new Date(granted),
  lastUsedAt: used === null ? null : new Date(used),
});

const latest = (dates: readonly (Date | null)[]): Date | null =>
  dates.reduce((last, one) => (one !== null && (last === null || one > last) ? one : last), null);

/** Apps that a user has let in, newest first. */
export async function connectedAppsOf(ctx: Context, userId: string): Promise<ConnectedApp[]> {
  const where = { userId, status: { $ne: OAuthGrantStatus.REVOKED } };
  const grants = await ctx.em.find(OAuthGrant, where, { orderBy: { grantedAt: 'desc', id: 'desc' } });
  const ids = grants.map(one => one.id);
  const rows = await ctx.sql<ScopeRow>(SCOPES, [ids]);
  const devices = await devicesOf(ctx, ids);
  const clients = await ctx.em.find(OAuthClient, { id: { $in: grants.map(one => one.clientId) } });
  return grants.map(grant => {
    const scopes = rows.filter(row => row.grant_id === grant.id).map(scopeOf);
    return {
      client: clients.find(one => one.id === grant.clientId)!,
      grantId: grant.id,
      scopes,
      connectedAt: grant.grantedAt,
      lastUsedAt: latest([grant.lastUsedAt, ...scopes.map(one => one.lastUsedAt)]),
      devices: devices.get(grant.id) ?? 0,
    };
  });
}
