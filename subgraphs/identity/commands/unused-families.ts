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

/** Locked before it is looked which of their families live: who opens one at the same time has the lock of its consent. */
const STANDING = `select id from identity.oauth_grant where id = any($1::uuid[]) and status <> 'revoked' order by id for update`;
const LIVING = 'select distinct grant_id as id from identity.token_family where grant_id = any($1::uuid[]) and ended_at is null';

const idsOf = async (ctx: Context, text: string, ids: readonly string[]): Promise<string[]> =>
  (await ctx.sql<{ id: string }>(text, [ids])).map(({ id }) => id);

/** Ends families whose refresh token went unused until an instant, and lets their consent go stale. Their access tokens have been dead for long. */
export async function endUnusedFamilies(ctx: Context, at: Date): Promise<void> {
  const ended = await ctx.sql<{ id: string; grant_id: string }>(END, [at.toISOString()]);
  await ctx.sql('delete from identity.oauth_artifact where family_id = any($1)', [ended.map(row => row.id)]);
  const standing = await idsOf(
    ctx,
    STANDING,
    ended.map(row => row.grant_id),
  );
  const living = new Set(await idsOf(ctx, LIVING, standing));
  for (const grant of await ctx.em.find(OAuthGrant, { id: { $in: standing } })) await letGoStale(ctx, grant, !living.has(grant.id));
}
