import type { Context } from '../../../runtime/request/context.js';
import { after } from '../../../runtime/time/durations.js';
import { LONGEST_TOKEN_MS } from '../rules/lifetimes.js';
import { tellFirst } from './due-grants.js';
import { type EndReason, familyRevocations, type NewRevocation, publishRevocations } from './token-family.js';

/**
 * Tokens of a client that were issued up to now, or all that it will ever have. Unlike `user`, the feed's `client` entries have a
 * `not_before` only where the client may come back.
 */
export const clientRevocation = (ctx: Context, clientId: string, forGood: boolean): NewRevocation => ({
  kind: 'client',
  value: clientId,
  ...(!forGood && { notBefore: Math.floor(ctx.now().getTime() / 1000) }),
  expiresAt: after(ctx.now(), LONGEST_TOKEN_MS),
});

/** Ends live families of a client; with `scopes` only those that hold one of them. @returns their ids. */
async function endClientFamilies(ctx: Context, clientId: string, scopes: readonly string[] | null, reason: EndReason): Promise<string[]> {
  const rows = await ctx.sql<{ id: string }>(
    `update identity.token_family set ended_at = $2, end_reason = $3 where id in (select id from identity.token_family
       where client_id = $1 and ended_at is null and ($4::text[] is null or scopes && $4) order by id for update) returning id`,
    [clientId, ctx.now().toISOString(), reason, scopes],
  );
  const ids = rows.map(row => row.id);
  if (ids.length) await ctx.sql('delete from identity.oauth_artifact where family_id = any($1)', [ids]);
  return ids;
}

/** Grants that deliver and whose effect has changed. */
const MARK = `
update identity.oauth_grant set announce_due_at = $2 where id in (select g.id from identity.oauth_grant g
  where g.client_id = $1 and g.scopes && $3::text[] and (g.status = 'active' or (g.status = 'stale'
    and exists (select from identity.token_family f where f.grant_id = g.id and f.ended_at is null))) order by g.id for update) returning id`;

/** Changes grants of a client that are to be told of this. @returns their ids. */
const changeGrants = async (ctx: Context, update: string, clientId: string, ...values: unknown[]): Promise<string[]> =>
  (await ctx.sql<{ id: string }>(update, [clientId, ctx.now().toISOString(), ...values])).map(row => row.id);

export interface Effect {
  before: readonly string[];
  after: readonly string[];
  /** Every token of the client dies, whatever it holds. */
  demoted: boolean;
  reason: EndReason;
}

/** What follows when a client may hold other scopes than before. Call it last: it locks grants, families, then the feed. */
export async function applyEffect(ctx: Context, clientId: string, { before, after, demoted, reason }: Effect): Promise<void> {
  await ctx.em.flush();
  const lost = before.filter(scope => !after.includes(scope));
  const changed = [...lost, ...after.filter(scope => !before.includes(scope))];
  const concerned = changed.length ? await changeGrants(ctx, MARK, clientId, changed) : [];
  const ended = demoted || lost.length ? await endClientFamilies(ctx, clientId, demoted ? null : lost, reason) : [];
  if (concerned.length) await tellFirst(ctx, concerned);
  if (ended.length) ctx.audit('token_family.ended', clientId, { families: ended.length, reason });
  const narrowed = demoted || lost.some(scope => scope.startsWith('admin:'));
  await publishRevocations(ctx, [...familyRevocations(ctx, ended), ...(narrowed ? [clientRevocation(ctx, clientId, false)] : [])]);
}

const REVOKE = `
update identity.oauth_grant set status = 'revoked', revoked_at = $2, updated_at = $2, revoked_by = 'system', version = version + 1, announce_due_at = $2
where id in (select id from identity.oauth_grant where client_id = $1 and status <> 'revoked' order by id for update) returning id`;

/**
 * What follows when a client is gone for good: its consents and sign-ins end at once, however many, and one entry of the feed ends all
 * tokens. Locks in the order of {@link applyEffect}.
 */
export async function applyRemoval(ctx: Context, clientId: string): Promise<{ grants: number; families: number }> {
  await ctx.em.flush();
  const grants = await changeGrants(ctx, REVOKE, clientId);
  await tellFirst(ctx, grants);
  const families = await endClientFamilies(ctx, clientId, null, 'client_removed');
  await publishRevocations(ctx, [clientRevocation(ctx, clientId, true)]);
  return { grants: grants.length, families: families.length };
}
