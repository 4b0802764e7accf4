import { inOrder } from '../../../runtime/data/loaders.js';
import { findRow, rowsBy } from '../../../runtime/data/rows.js';
import { holdsPermission, isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { LiveHostRole, LiveRegistrationSource, LiveSessionStatus } from '../entities/enums.js';
import { LiveRegistration } from '../entities/registration.js';
import { LiveSession, LiveSessionHost } from '../entities/session.js';
import { blockedAmong } from '../ports/neighbours.js';
import { isFound } from '../rules/session.js';

/** Services with the scope, and staff with a permission; they see everything. Source: live 4. */
export const isOffice = ({ caller }: Pick<Context, 'caller'>, permission: 'session' | 'moderate' | 'read'): boolean =>
  caller.kind === 'service' || caller.kind === 'system' || (isStaff(caller) && holdsPermission(caller, `admin:live:${permission}`));

/** The host team of a session, the host first. */
export async function teamOf(ctx: Context, sessionId: string): Promise<LiveSessionHost[]> {
  const team = await ctx.load('live.team', sessionId, async ids => {
    const rows = await ctx.em.find(LiveSessionHost, { sessionId: { $in: [...ids] } }, { orderBy: { userId: 'asc' } });
    return ids.map(id => rows.filter(row => row.sessionId === id));
  });
  return (team ?? []).sort((one, other) => Number(other.role === LiveHostRole.HOST) - Number(one.role === LiveHostRole.HOST));
}

/** The caller's role in the host team; null for everybody else, and for services and staff. */
export async function roleOf(ctx: Context, sessionId: string): Promise<LiveHostRole | null> {
  const { userId } = ctx.caller;
  if (ctx.caller.kind !== 'user' || userId === null) return null;
  return (await findRow(ctx, LiveSessionHost, { sessionId, userId }))?.role ?? null;
}

/** Read anew: what a request saw before it took the session's lock may have changed. */
export const registrationOf = (ctx: Context, sessionId: string, userId: string): Promise<LiveRegistration | null> =>
  findRow(ctx, LiveRegistration, { sessionId, userId }, { refresh: true });

/** The caller's role in the host team of one of a list, for what is read. */
export async function ownRole(ctx: Context, sessionId: string): Promise<LiveHostRole | null> {
  const { kind, userId } = ctx.caller;
  if (kind !== 'user' || userId === null) return null;
  return (await teamOf(ctx, sessionId)).find(member => member.userId === userId)?.role ?? null;
}

/** The caller's registration for one of a list, for what is read. */
export async function ownRegistration(ctx: Context, sessionId: string): Promise<LiveRegistration | null> {
  const { userId } = ctx.caller;
  if (userId === null) return null;
  return ctx.load('live.own', sessionId, async ids => {
    const rows = await ctx.em.find(LiveRegistration, { sessionId: { $in: [...ids] }, userId });
    return inOrder(ids, rows, row => row.sessionId);
  });
}

const REMOVED = `select k.subject_id as id from live.live_kick k join live.live_participant p on p.id = k.participant_id
  where k.subject_id = any($1::uuid[]) and p.user_id = $2 and (k.until is null or k.until > $3)`;

/** Whether the caller was removed from the room of one of a list. */
export async function isSelfRemoved(ctx: Context, sessionId: string): Promise<boolean> {
  const removal = await ctx.load('live.removed', sessionId, async ids => {
    const rows = await ctx.sql<{ id: string }>(REMOVED, [ids, ctx.caller.userId, ctx.now().toISOString()]);
    return inOrder(ids, rows, row => row.id);
  });
  return removal !== null;
}

export const removal = (): Problem => new Problem('forbidden', 'You were removed from this room', { reason: 'removed' });

/** Registrations that open a session which is for the invited only. */
const BY_INVITATION: readonly LiveRegistrationSource[] = [
  LiveRegistrationSource.STAFF,
  LiveRegistrationSource.HOST,
  LiveRegistrationSource.INVITE,
];

export const byInvitation = (registration: Pick<LiveRegistration, 'source'> | null): boolean =>
  registration !== null && BY_INVITATION.includes(registration.source);

const isInvited = async (ctx: Context, sessionId: string): Promise<boolean> =>
  ctx.caller.userId !== null && byInvitation(await registrationOf(ctx, sessionId, ctx.caller.userId));

/** A session that a member gives. */
export const isOfMember = ({ createdBy }: Pick<LiveSession, 'createdBy'>): boolean => createdBy.startsWith('user:');

/** Those of the users who and the host of a member's own session have blocked each other. Asks follows; never in a transaction. */
export async function blockedIn(
  ctx: Context,
  session: Pick<LiveSession, 'id' | 'createdBy'>,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const [host] = isOfMember(session) ? await teamOf(ctx, session.id) : [];
  return host ? blockedAmong(ctx, host.userId, userIds) : new Set();
}

/** Whether the caller and the host of a member's own session have blocked each other. Asks follows; never in a transaction. */
export async function isBlocked(ctx: Context, session: LiveSession): Promise<boolean> {
  const { kind, userId } = ctx.caller;
  return kind === 'user' && userId !== null && (await blockedIn(ctx, session, [userId])).size > 0;
}

/**
 * A session as the caller may know of it, without asking others; null: it is not there for them.
 * @param withHidden staff and services may see what was deleted.
 */
export async function foundSession(ctx: Context, id: string, withHidden = false): Promise<LiveSession | null> {
  const session = await findRow(ctx, LiveSession, { id });
  if (!session) return null;
  const hidden = session.hiddenAt !== null;
  if (isOffice(ctx, 'read')) return hidden && !withHidden ? null : session;
  if (hidden) return null;
  if ((await roleOf(ctx, session.id)) !== null) return session;
  const { status, visibility } = session;
  if (isFound({ status, visibility, hidden }, false)) return session;
  const invited = status !== LiveSessionStatus.DRAFT && (await isInvited(ctx, session.id));
  return isFound({ status, visibility, hidden }, invited) ? session : null;
}

/** The same, blocks considered. */
export async function visibleSession(ctx: Context, id: string, withHidden = false): Promise<LiveSession | null> {
  const session = await foundSession(ctx, id, withHidden);
  return session && !(await isBlocked(ctx, session)) ? session : null;
}

/** Without those of members whom the caller has blocked or is blocked by, asked once for all. */
export async function unblocked(ctx: Context, sessions: readonly LiveSession[]): Promise<LiveSession[]> {
  const { kind, userId } = ctx.caller;
  const ofMembers = sessions.filter(isOfMember);
  if (kind !== 'user' || userId === null || ofMembers.length === 0) return [...sessions];
  const hosts = new Map(await Promise.all(ofMembers.map(async ({ id }) => [id, (await teamOf(ctx, id))[0]?.userId ?? ''] as const)));
  const blocked = await blockedAmong(ctx, userId, [...new Set(hosts.values())].filter(Boolean));
  return sessions.filter(({ id }) => !blocked.has(hosts.get(id) ?? ''));
}

/** Sessions by their ids, each as {@link visibleSession} and in one statement a table; null for what is not there for the caller. */
export async function visibleSessions(ctx: Context, ids: readonly string[]): Promise<(LiveSession | null)[]> {
  const rows = (await rowsBy(ctx, LiveSession, 'id', ids)).filter(row => row !== null && row.hiddenAt === null) as LiveSession[];
  const finds = async ({ id, status, visibility }: LiveSession): Promise<boolean> =>
    isOffice(ctx, 'read') ||
    (await ownRole(ctx, id)) !== null ||
    isFound({ status, visibility, hidden: false }, byInvitation(await ownRegistration(ctx, id)));
  const found = await Promise.all(rows.map(finds));
  const shown = await unblocked(
    ctx,
    rows.filter((_row, index) => found[index]),
  );
  return inOrder(
    ids.map(id => id.toLowerCase()),
    shown,
    row => row.id,
  );
}
