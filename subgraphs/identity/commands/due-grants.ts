import type { Context } from '../../../runtime/request/context.js';
import { OAuthGrant } from '../entities/grant.js';
import { tellOwed } from './consent.js';

/** Told in one transaction, one event each, far below the 1,000 people that one may tell. */
const TOLD_TOGETHER = 400;

async function tell(ctx: Context, ids: readonly string[]): Promise<void> {
  const grants = await ctx.em.find(OAuthGrant, { id: { $in: [...ids] } }, { orderBy: { id: 'asc' } });
  ctx.loaders.clear(); // what a client may hold is read anew
  for (const grant of grants) await tellOwed(ctx, grant);
  await ctx.em.flush();
}

/** Tells the first of the grants that this transaction has changed with their client; of many the timer `identity.due_grants` tells the next. */
export const tellFirst = (ctx: Context, ids: readonly string[]): Promise<void> => tell(ctx, [...ids].sort().slice(0, TOLD_TOGETHER));

const DUE = `select id from identity.oauth_grant where announce_due_at <= $1 order by announce_due_at, id limit ${TOLD_TOGETHER}`;

/** Locked by id, as all do that lock many; one that was told while this waited is told. A statement of its own, because it has one plan only. */
const LOCK = 'select id from identity.oauth_grant where id = any($1) and announce_due_at is not null order by id for update';

const idsOf = async (ctx: Context, select: string, value: unknown): Promise<string[]> =>
  (await ctx.sql<{ id: string }>(select, [value])).map(row => row.id);

/** The next of many grants that have changed with their client. */
export const tellDueGrants = async (ctx: Context, at: Date): Promise<void> =>
  tell(ctx, await idsOf(ctx, LOCK, await idsOf(ctx, DUE, at.toISOString())));
