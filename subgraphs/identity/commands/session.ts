import { FOR_UPDATE, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { AuthSession } from '../entities/session.js';
import { liveSessions } from '../queries/session.js';
import {
  endFamilies,
  endFirstPartyFamilies,
  type EndReason,
  familyRevocations,
  publishRevocations,
  userRevocation,
} from './token-family.js';

const ENDED = 'update identity.auth_session set ended_at = $2 where user_id = $1 and ended_at is null returning id';

/** Ends every sign-in of an account and all that was opened in them, apps of others included. @returns the families that ended. */
async function endAll(ctx: Context, userId: string, reason: EndReason): Promise<string[]> {
  const sessions = await ctx.sql<{ id: string }>(ENDED, [userId, ctx.now().toISOString()]);
  const families = await endFamilies(ctx, 'user_id', userId, reason);
  ctx.audit('user.signed_out', userId, { sessions: sessions.length, families: families.length });
  return families;
}

/**
 * Signs an account out of everything, because somebody else may have used it. Every live access token belongs to a family, so it dies
 * with it. Call it last. Source: identity A4.
 */
export async function signOutEverywhere(ctx: Context, userId: string): Promise<void> {
  const families = await endAll(ctx, userId, 'signed_out');
  await publishRevocations(ctx, familyRevocations(ctx, families));
}

/** Signs an account that is closed out of everything, tokens of no family included. Call it last. */
export async function shutOut(ctx: Context, userId: string): Promise<void> {
  const families = await endAll(ctx, userId, 'user_blocked');
  await publishRevocations(ctx, [...familyRevocations(ctx, families), userRevocation(ctx, userId)]);
}

/** Families of first-party apps end with the sign-in; those of other apps belong to the connected apps and live on. */
const END_FAMILIES = `
update identity.token_family set ended_at = $2, end_reason = 'signed_out' where id in (
  select f.id from identity.token_family f join identity.oauth_client c on c.id = f.client_id and c.first_party
  where f.session_id = any($1::uuid[]) and f.ended_at is null order by f.id for update of f) returning id`;

/** Ends sign-ins. Needs a transaction; call it last. @returns how many there were. */
async function endSessions(ctx: Context, sessions: readonly AuthSession[]): Promise<number> {
  for (const session of sessions) session.endedAt = ctx.now();
  await ctx.em.flush();
  const rows = await ctx.sql<{ id: string }>(END_FAMILIES, [sessions.map(one => one.id), ctx.now().toISOString()]);
  const ids = rows.map(row => row.id);
  if (ids.length) await ctx.sql('delete from identity.oauth_artifact where family_id = any($1)', [ids]);
  for (const { id } of sessions) ctx.audit('auth_session.ended', id);
  await publishRevocations(ctx, familyRevocations(ctx, ids));
  return sessions.length;
}

/** Ends all sign-ins of the caller but the one that asks. Needs a transaction; call it last. @returns how many there were. */
export async function endOtherSessions(ctx: Context): Promise<number> {
  const where = { ...liveSessions(ctx, ctx.caller.userId!), ...(ctx.caller.sid && { id: { $ne: ctx.caller.sid } }) };
  return endSessions(ctx, await ctx.em.find(AuthSession, where, { orderBy: { id: 'asc' }, ...FOR_UPDATE }));
}

/** Ends one of the caller's sign-ins and signs its first-party apps out. @throws Problem not_found. */
export async function revokeSession(ctx: Context, id: string): Promise<AuthSession> {
  const session = await lockRow(ctx, AuthSession, { ...liveSessions(ctx, ctx.caller.userId!), id });
  await endSessions(ctx, [session]);
  return session;
}

const END_BROWSER = 'update identity.auth_session set ended_at = $2 where engine_uid = $1 and ended_at is null returning id';

/**
 * Ends a browser's sign-in and the families of the operator's own apps that were opened in it; apps of others stay connected.
 * Needs a transaction. Source: identity 4.1, A4.
 */
export async function endBrowserSession(ctx: Context, engineUid: string): Promise<void> {
  await ctx.sql("delete from identity.oauth_artifact where model = 'Session' and uid = $1", [engineUid]);
  const [session] = await ctx.sql<{ id: string }>(END_BROWSER, [engineUid, ctx.now().toISOString()]);
  if (!session) return;
  const ended = await endFirstPartyFamilies(ctx, session.id);
  ctx.audit('sign_in.ended', session.id, { families: ended.length });
  await publishRevocations(ctx, familyRevocations(ctx, ended));
}
