import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { LiveCall, LiveCallParticipant } from '../entities/call.js';
import { LiveCallEndReason, LiveCallKind, LiveCallParticipantState, LiveCallReferenceType, LiveCallRole } from '../entities/enums.js';
import type { Visit } from '../ports/neighbours.js';
import { isOver } from '../rules/call.js';
import { finishCall, makeCall, openCallOf } from './call.js';
import { kickUser, readmitUser } from './rooms.js';

const { HOST, GUEST } = LiveCallRole;
const { INVITED, REMOVED } = LiveCallParticipantState;
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
  const open = await openCallOf(ctx, referenceOf(visitId));
  if (!open || visit === null) return;
  const call = await lockRow(ctx, LiveCall, { id: open.id });
  if (isOver(call.status)) return; // it ended while this waited
  Object.assign(call, { opensAt: visit.startsAt, closesAt: visit.endsAt, version: call.version + 1 });
  await setHost(ctx, call.id, visit.providerUserId);
  ctx.audit('live_call.moved', call.id);
}

/** The provider of now is host: whom they replace leaves the room for good, and one who comes back has their part again. */
async function setHost(ctx: Context, callId: string, userId: string): Promise<void> {
  const hosts = await ctx.em.find(LiveCallParticipant, { callId, role: HOST }, { refresh: true });
  for (const host of hosts.filter(one => one.userId !== userId && one.state !== REMOVED)) await replace(ctx, host);
  const before = hosts.find(one => one.userId === userId);
  if (before && before.state !== REMOVED) return;
  const fresh = { callId, userId, role: HOST, state: INVITED, joinedAt: null, leftAt: null };
  ctx.em.persist(Object.assign(before ?? new LiveCallParticipant(), fresh));
  if (before) await readmitUser(ctx, callId, userId);
}

async function replace(ctx: Context, host: LiveCallParticipant): Promise<void> {
  Object.assign(host, { state: REMOVED, leftAt: host.joinedAt && (host.leftAt ?? ctx.now()) });
  await kickUser(ctx, host.callId, host.userId, 'replaced');
}

export async function cancelVisitCall(ctx: Context, visitId: string): Promise<void> {
  const call = await openCallOf(ctx, referenceOf(visitId));
  if (call) await finishCall(ctx, call, 'cancel', LiveCallEndReason.VISIT_CANCELLED);
}
