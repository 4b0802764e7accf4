import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { LiveRole } from '../entities/enums.js';
import { LiveParticipant } from '../entities/room.js';
import { LiveSession } from '../entities/session.js';
import type { RemoveLiveParticipantInput, SetLiveParticipantRoleInput } from '../inputs/participant.js';
import { visibleSession } from '../queries/people.js';
import { mayModerate } from '../rules/session.js';
import { sessionFeed } from './feeds.js';
import { kick, setRoomRole } from './rooms.js';
import { requireRunner } from './session.js';

async function moderated(
  ctx: Context,
  sessionId: string,
  participantId: string,
): Promise<{ session: LiveSession; participant: LiveParticipant }> {
  const session = (await ctx.em.findOne(LiveSession, { id: sessionId, hiddenAt: null })) ?? fail('not_found', 'Not found');
  await requireRunner(ctx, session.id, mayModerate);
  const participant = await ctx.em.findOne(LiveParticipant, { id: participantId, subjectId: session.id });
  return { session, participant: participant ?? fail('not_found', 'Not found') };
}

/** That a session is there for the caller; asked before. */
export const requireVisible = async (ctx: Context, { input }: { input: { sessionId: string } }): Promise<void> => {
  if (!(await visibleSession(ctx, input.sessionId))) fail('not_found', 'Not found');
};

/** Removes somebody for the session or until an instant; the removal is stored, because their token cannot be taken back. Source: live 7.6. */
export async function removeParticipant(
  ctx: Context,
  { sessionId, participantId, reasonCode, until }: RemoveLiveParticipantInput,
): Promise<LiveSession> {
  const { session, participant } = await moderated(ctx, sessionId, participantId);
  if (until && until <= ctx.now()) invalid('/input/until', 'must be in the future');
  if (
    (await ctx.sql('select 1 from live.live_session_host where session_id = $1 and user_id = $2', [session.id, participant.userId]))
      .length > 0
  )
    fail('conflict', 'A member of the host team cannot be removed from the room', { reason: 'host_team' });
  await kick(ctx, session.id, participantId, { reasonCode, until: until ?? null });
  ctx.audit('live_participant.removed', session.id, { participant_id: participantId, reason: reasonCode, until: until ?? null });
  await sessionFeed.append(ctx, session.id, [{ type: 'participant_removed', payload: { participant_id: participantId } }]);
  return session;
}

/** Lets somebody speak, or no more, at once in the running room. */
export async function setRole(ctx: Context, { sessionId, participantId, role }: SetLiveParticipantRoleInput): Promise<LiveSession> {
  if (role !== LiveRole.SPEAKER && role !== LiveRole.VIEWER) invalid('/input/role', 'must be speaker or viewer');
  const { session, participant } = await moderated(ctx, sessionId, participantId);
  await setRoomRole(ctx, session, participant.userId, role);
  ctx.audit('live_participant.role_set', session.id, { participant_id: participantId, role });
  return session;
}
