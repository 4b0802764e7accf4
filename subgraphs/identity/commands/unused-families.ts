import type { Context } from '../../../runtime/request/context.js';
import { OAuthGrant } from '../entities/grant.js';
import { REFRESH_SECONDS } from '../rules/lifetimes.js';
import { letGoStale } from './consent.js';

/** Source: identity A2. In hours, because days of a calendar may be longer. */
export const UNUSED = `interval '${REFRESH_SECONDS / 3600} hours'`;
const AT_ONCE = 500;

const END = `
update identity.token_family set ended_at = $1, end_reason = 'unused'
where id in (select id from identity.token_family where ended_at is null and last_used_at + ${UNUSED} <= $1 order by id limit ${AT_ONCE} for update)
returning id, grant_id`;

/** Consents of these ids that stand, and whether a family of each still lives. */
const STANDING = `
select g.id, not exists (select from identity.token_family f where f.grant_id = g.id and f.ended_at is null) as last
from identity.oauth_grant g where g.id = any($1::uuid[]) and g.status <> 'revoked' order by g.id for update`;

/** Ends families whose refresh token went unused until an instant, and lets their consent go stale. Their access tokens have been dead for long. */
export async function endUnusedFamilies(ctx: Context, at: Date): Promise<void> {
  const ended = await ctx.sql<{ id: string; grant_id: string }>(END, [at.toISOString()]);
  await ctx.sql('delete from identity.oauth_artifact where family_id = any($1)', [ended.map(row => row.id)]);
  const standing = await ctx.sql<{ id: string; last: boolean }>(STANDING, [ended.map(row => row.grant_id)]);
  const grants = await ctx.em.find(OAuthGrant, { id: { $in: standing.map(row => row.id) } });
  for (const grant of grants) await letGoStale(ctx, grant, standing.find(row => row.id === grant.id)!.last);
}
