import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import type { OAuthGrant } from '../entities/grant.js';
import type { ScopeUseInput } from '../inputs/grant.js';

/** Remembers since when a consent covers each of its scopes; one taken back and granted again begins anew. Needs a transaction. */
export async function noteGrantedScopes(ctx: Context, { id, scopes }: OAuthGrant): Promise<void> {
  await ctx.em.flush();
  await ctx.sql('delete from identity.scope_use where grant_id = $1 and scope <> all($2)', [id, scopes]);
  await ctx.sql(
    'insert into identity.scope_use (grant_id, scope, granted_at) select $1, unnest($2::text[]), $3 on conflict (grant_id, scope) do nothing',
    [id, scopes, ctx.now().toISOString()],
  );
}

/** Rows are locked in key order, so that two gateways that report at once do not deadlock. */
const REPORT = `
update identity.scope_use s set last_used_at = greatest(s.last_used_at, u.at) from (
  select s.grant_id, s.scope, r.at from identity.scope_use s join identity.oauth_grant g on g.id = s.grant_id and g.status <> 'revoked'
  join (select client_id, user_id, scope, $2::timestamptz - min(seconds_ago) * interval '1 second' as at
        from jsonb_to_recordset($1::jsonb) as (client_id text, user_id uuid, scope text, seconds_ago int) group by 1, 2, 3) r
    on r.client_id = g.client_id and r.user_id = g.user_id and r.scope = s.scope
  order by s.grant_id, s.scope for update of s
) u where s.grant_id = u.grant_id and s.scope = u.scope returning 1 as noted`;

/** Notes uses of granted scopes; what no consent covers is passed over. @returns how many scopes it concerned. */
export async function noteUses(ctx: Context, uses: readonly ScopeUseInput[]): Promise<number> {
  const known = uses.filter(one => isUuid(one.userId));
  const rows = known.map(one => ({ client_id: one.clientId, user_id: one.userId, scope: one.scope, seconds_ago: one.secondsAgo }));
  return (await ctx.sql(REPORT, [JSON.stringify(rows), ctx.now().toISOString()])).length;
}
