import type { Envelope } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { LiveCancelledBy, LiveSessionEndReason, LiveSessionStatus } from '../entities/enums.js';
import { registrationOf } from '../queries/people.js';
import { waitingWithout } from '../queries/registration.js';
import { sessionRoom } from '../rules/participant.js';
import { cancelRegistration, lockSession } from './registration.js';
import { kickUser } from './rooms.js';
import { endSession } from './session.js';

/** The vendor says that a room is over: its session ends, if the room is that of now. */
export async function endByVendor(ctx: Context, sessionId: string, room: string): Promise<void> {
  const session = await lockSession(ctx, sessionId).catch(() => null);
  if (session?.status !== LiveSessionStatus.LIVE || room !== sessionRoom(session.id, session.roomEpoch)) return;
  await endSession(ctx, session, LiveSessionEndReason.VENDOR);
}

const HOSTED = `
select s.id from live.live_session s join live.live_session_host h on h.session_id = s.id and h.user_id = $1 and h.role = 'host'
where s.created_by like 'user:%' and s.status in ('scheduled', 'live') order by s.id`;

/** Found out before: who waits for a seat in the host's own sessions and may not have one any more. */
export const blocking = preparation(async (ctx: Context, { user_id: hostId }: Envelope<unknown>) => {
  const denied = new Map<string, ReadonlySet<string>>();
  for (const { id } of hostId ? await ctx.sql<{ id: string }>(HOSTED, [hostId]) : []) denied.set(id, await waitingWithout(ctx, id));
  return denied;
});

/** Whom a host has blocked leaves the host's own sessions: seats, queue and room. Source: live 5. */
export async function leaveBlocked(ctx: Context, hostId: string, blockedId: string): Promise<void> {
  for (const { id } of await ctx.sql<{ id: string }>(HOSTED, [hostId])) {
    const session = await lockSession(ctx, id).catch(() => null);
    const row = session && (await registrationOf(ctx, id, blockedId));
    const denied = blocking.of(ctx).get(id) ?? new Set<string>(); // of a session that was made meanwhile nobody waits
    if (session && row) await cancelRegistration(ctx, session, row, { by: LiveCancelledBy.SYSTEM, denied });
    await kickUser(ctx, id, blockedId, 'blocked');
    await ctx.em.flush();
  }
}
