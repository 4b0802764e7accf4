import type { Context } from '../../../runtime/request/context.js';
import { LiveCallParticipant } from '../entities/call.js';
import { LiveCallEndReason, LiveCallKind, LiveCallParticipantState, LiveCallReferenceType, LiveCallRole } from '../entities/enums.js';
import type { Visit } from '../ports/neighbours.js';
import { finishCall, makeCall, openCallOf, removeFromCall } from './call.js';

const { HOST, GUEST } = LiveCallRole;
const referenceOf = (visitId: string) => ({ type: LiveCallReferenceType.VISIT, id: visitId });

/** The call of a video visit: the member its guest, the provider's user its host. Once for each visit. */
export async function makeVisitCall(ctx: Context, visitId: string, visit: Visit | null): Promise<void> {
  if (visit === null || (await openCallOf(ctx, referenceOf(visitId)))) return;
  const participants = [
    { userId: visit.providerUserId, role: HOST },
    { userId: visit.memberId, role: GUEST },
  ];
  makeCall(ctx, {
    kind: LiveCallKind.ONE_TO_ONE,
    participants,
    reference: referenceOf(visitId),
    opensAt: visit.startsAt,
    closesAt: visit.endsAt,
  });
}

/** A visit has moved in time, or to another provider. */
export async function moveVisitCall(ctx: Context, visitId: string, visit: Visit | null): Promise<void> {
  const call = await openCallOf(ctx, referenceOf(visitId));
  if (!call || visit === null) return;
  Object.assign(call, { opensAt: visit.startsAt, closesAt: visit.endsAt, version: call.version + 1 });
  const host = await ctx.em.findOne(LiveCallParticipant, { callId: call.id, role: HOST, state: { $ne: LiveCallParticipantState.REMOVED } });
  if (host && host.userId !== visit.providerUserId) {
    await removeFromCall(ctx, call.id, host.userId);
    ctx.em.persist(Object.assign(new LiveCallParticipant(), { callId: call.id, userId: visit.providerUserId, role: HOST }));
  }
  ctx.audit('live_call.moved', call.id);
}

export async function cancelVisitCall(ctx: Context, visitId: string): Promise<void> {
  const call = await openCallOf(ctx, referenceOf(visitId));
  if (call) await finishCall(ctx, call, 'cancel', LiveCallEndReason.VISIT_CANCELLED);
}
