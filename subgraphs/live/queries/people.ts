import { findRow } from '../../../runtime/data/rows.js';
import { holdsPermission, isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { LiveHostRole, LiveRegistrationSource, LiveSessionStatus } from '../entities/enums.js';
import { LiveRegistration } from '../entities/registration.js';
import { LiveSession, LiveSessionHost } from '../entities/session.js';
import { blockedAmong } from '../ports/neighbours.js';
import { isFound } from '../rules/session.js';

/** Services with the scope, and staff with a permission; they see everything. Source: live 4. */
export const isOffice = ({ caller }: Context, permission: 'session' | 'moderate' | 'read'): boolean =>
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

/** Registrations that open a session which is for the invited only. */
const BY_INVITATION: readonly LiveRegistrationSource[] = [
  LiveRegistrationSource.STAFF,
  LiveRegistrationSource.HOST,
  LiveRegistrationSource.INVITE,
];

async function isInvited(ctx: Context, sessionId: string): Promise<boolean> {
  const registration = ctx.caller.userId === null ? null : await registrationOf(ctx, sessionId, ctx.caller.userId);
  return registration !== null && BY_INVITATION.includes(registration.source);
}

/** Whether the caller and the host of a member's own session have blocked each other. Asks follows; never in a transaction. */
export async function isBlocked(ctx: Context, session: LiveSession): Promise<boolean> {
  const { userId } = ctx.caller;
  if (ctx.caller.kind !== 'user' || userId === null || !session.createdBy.startsWith('user:')) return false;
  const [host] = await teamOf(ctx, session.id);
  return host !== undefined && (await blockedAmong(ctx, userId, [host.userId])).size > 0;
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
  const invited = status !== LiveSessionStatus.DRAFT && (await isInvited(ctx, session.id));
  return isFound({ status, visibility, hidden }, invited) ? session : null;
}

/** The same, blocks considered. */
export async function visibleSession(ctx: Context, id: string, withHidden = false): Promise<LiveSession | null> {
  const session = await foundSession(ctx, id, withHidden);
  return session && !(await isBlocked(ctx, session)) ? session : null;
}
