import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { LiveHostRole, LiveRole, LiveSessionStatus } from '../entities/enums.js';
import { LiveSession, LiveSessionHost } from '../entities/session.js';
import type { AssignLiveHostInput } from '../inputs/session.js';
import { visibleSession } from '../queries/people.js';
import { ROOM_ROLES } from '../rules/participant.js';
import { lockSession } from './registration.js';
import { setRoomRole } from './rooms.js';
import { requireActive, requireRunner } from './session.js';

const MAX_TEAM = 20;

/** That the caller finds the session, and that the new member's account is active. */
export const assigning = preparation(async (ctx: Context, { input }: { input: AssignLiveHostInput }): Promise<void> => {
  if (!(await visibleSession(ctx, input.sessionId))) fail('not_found', 'Not found');
  if (!input.remove) await requireActive(ctx, input.userId.toLowerCase());
});

/** Gives somebody a part in the host team, another one, or none. Repeating it changes nothing. @throws Problem conflict for the only host. */
export async function assignHost(ctx: Context, input: AssignLiveHostInput): Promise<LiveSession> {
  const session = await lockSession(ctx, input.sessionId);
  await requireRunner(ctx, session.id, role => role === LiveHostRole.HOST);
  if (session.status === LiveSessionStatus.ENDED || session.status === LiveSessionStatus.CANCELLED)
    fail('conflict', `the team of a session that is ${session.status} cannot change`);
  const userId = input.userId.toLowerCase();
  const team = await ctx.em.find(LiveSessionHost, { sessionId: session.id }, { refresh: true });
  const before = team.find(one => one.userId === userId);
  if (input.remove) await leave(ctx, session, before);
  else await take(ctx, session, { team, userId, role: input.role ?? LiveHostRole.CO_HOST });
  session.updatedAt = ctx.now();
  ctx.audit('live_session.team_changed', session.id, { user_id: userId, role: input.remove ? null : (input.role ?? 'co_host') });
  ctx.loaders.clear();
  return session;
}

async function leave(ctx: Context, session: LiveSession, before: LiveSessionHost | undefined): Promise<void> {
  if (before?.role === LiveHostRole.HOST) fail('conflict', 'The only host cannot be removed; hand over first', { reason: 'only_host' });
  if (!before) return;
  await ctx.em.remove(before).flush();
  await setRoomRole(ctx, session, before.userId, LiveRole.VIEWER);
}

async function take(
  ctx: Context,
  session: LiveSession,
  { team, userId, role }: { team: LiveSessionHost[]; userId: string; role: LiveHostRole },
): Promise<void> {
  const before = team.find(one => one.userId === userId);
  if (before?.role === role) return;
  if (before?.role === LiveHostRole.HOST)
    fail('conflict', 'The only host cannot take another role; hand over first', { reason: 'only_host' });
  if (!before && team.length >= MAX_TEAM) fail('conflict', `A team has at most ${MAX_TEAM} members`, { reason: 'team_full' });
  const host = team.find(one => one.role === LiveHostRole.HOST);
  if (role === LiveHostRole.HOST && host) {
    host.role = LiveHostRole.CO_HOST;
    await ctx.em.flush(); // there is one host at any time
    await setRoomRole(ctx, session, host.userId, LiveRole.CO_HOST);
  }
  ctx.em.persist(Object.assign(before ?? new LiveSessionHost(), { sessionId: session.id, userId, role }));
  await ctx.em.flush();
  await setRoomRole(ctx, session, userId, ROOM_ROLES[role]);
}
