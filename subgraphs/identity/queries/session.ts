import type { Context } from '../../../runtime/request/context.js';
import { OAuthClient } from '../entities/client.js';

/** Sign-ins of a user that have neither ended nor run out. */
export const liveSessions = (ctx: Context, userId: string) => ({ userId, endedAt: null, expiresAt: { $gt: ctx.now() } });

const APPS = `
select distinct session_id, client_id from identity.token_family where session_id = any($1::uuid[]) and ended_at is null order by client_id`;

async function appsOf(ctx: Context, ids: readonly string[]): Promise<OAuthClient[][]> {
  const rows = await ctx.sql<{ session_id: string; client_id: string }>(APPS, [ids]);
  const clients = await ctx.em.find(OAuthClient, { id: { $in: rows.map(row => row.client_id) } });
  return ids.map(id => rows.filter(row => row.session_id === id).map(row => clients.find(one => one.id === row.client_id)!));
}

/** Apps that are signed in with a sign-in, by client_id. */
export const appsOfSession = async (ctx: Context, sessionId: string): Promise<OAuthClient[]> =>
  (await ctx.load('identity.session_clients', sessionId, ids => appsOf(ctx, ids))) ?? [];
