import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { OAuthGrant } from '../entities/grant.js';
import { letGoStale } from '../commands/consent.js';

/** A refresh token lives for 90 days from its last use. In hours, because days of a calendar may be longer. Source: identity A2. */
const UNUSED = `interval '2160 hours'`;
const BATCH = 500;

const END = `
update identity.token_family set ended_at = $1, end_reason = 'unused'
where id in (select id from identity.token_family where ended_at is null and last_used_at + ${UNUSED} <= $1 order by id limit ${BATCH} for update)
returning id, grant_id`;

/** Consents of these ids that stand, and whether a family of each still lives. */
const STANDING = `
select g.id, not exists (select from identity.token_family f where f.grant_id = g.id and f.ended_at is null) as last
from identity.oauth_grant g where g.id = any($1::uuid[]) and g.status <> 'revoked' order by g.id for update`;

async function endUnused(ctx: Context, at: Date): Promise<void> {
  const ended = await ctx.sql<{ id: string; grant_id: string }>(END, [at.toISOString()]);
  await ctx.sql('delete from identity.oauth_artifact where family_id = any($1)', [ended.map(row => row.id)]);
  const standing = await ctx.sql<{ id: string; last: boolean }>(STANDING, [ended.map(row => row.grant_id)]);
  const grants = await ctx.em.find(OAuthGrant, { id: { $in: standing.map(row => row.id) } });
  for (const grant of grants) await letGoStale(ctx, grant, standing.find(row => row.id === grant.id)!.last);
}

/** Families whose refresh token went unused end, and their consent goes stale. Their access tokens have been dead for long. */
export const unusedFamilies: Timer<Context> = {
  name: 'identity.unused_families',
  async next(ctx) {
    const [row] = await ctx.sql<{ at: number | null }>(
      `select extract(epoch from min(last_used_at) + ${UNUSED})::float8 * 1000 as at from identity.token_family where ended_at is null`,
    );
    return row?.at == null ? null : new Date(Math.ceil(row.at));
  },
  run: endUnused,
  everySeconds: 60,
};
