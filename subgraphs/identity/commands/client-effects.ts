import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { after } from '../../../runtime/time/durations.js';
import { OAuthGrant, OAuthGrantStatus } from '../entities/grant.js';
import { LONGEST_TOKEN_MS } from '../rules/lifetimes.js';
import { emitChange } from './consent.js';
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

/** Publishes each active grant whose effect has changed; a stale one has none. */
async function announceChange(ctx: Context, clientId: string, changed: ReadonlySet<string>): Promise<void> {
  const where = { clientId, status: OAuthGrantStatus.ACTIVE };
  const grants = await ctx.em.find(OAuthGrant, where, { orderBy: { id: 'asc' }, ...FOR_UPDATE });
  ctx.loaders.clear(); // what a client may hold is read anew
  for (const grant of grants.filter(one => one.scopes.some(scope => changed.has(scope)))) {
    Object.assign(grant, { version: grant.version + 1, updatedAt: ctx.now() });
    await emitChange(ctx, grant, 'scopes_changed');
  }
  await ctx.em.flush();
}

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
  const changed = new Set([...lost, ...after.filter(scope => !before.includes(scope))]);
  if (changed.size) await announceChange(ctx, clientId, changed);
  const ended = demoted || lost.length ? await endClientFamilies(ctx, clientId, demoted ? null : lost, reason) : [];
  if (ended.length) ctx.audit('token_family.ended', clientId, { families: ended.length, reason });
  const narrowed = demoted || lost.some(scope => scope.startsWith('admin:'));
  await publishRevocations(ctx, [...familyRevocations(ctx, ended), ...(narrowed ? [clientRevocation(ctx, clientId, false)] : [])]);
}
