import { findRow, lockRow } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { move } from '../../../runtime/request/states.js';
import { after } from '../../../runtime/time/durations.js';
import { LiveCall, LiveCallParticipant } from '../entities/call.js';
import {
  LiveCallEndReason,
  LiveCallKind,
  LiveCallParticipantState,
  LiveCallReferenceType,
  LiveCallRole,
  LiveCallStatus,
  LiveJoinMode,
  LiveRole,
} from '../entities/enums.js';
import { RoomWanted } from '../entities/room.js';
import type { LiveJoin } from '../entities/values.js';
import type { CreateLiveCallInput } from '../inputs/call.js';
import { conversationPeople, visitOf } from '../ports/neighbours.js';
import type { JoinGrant } from '../ports/provider.js';
import { providerOf } from '../ports/providers.js';
import { isOffice, removal } from '../queries/people.js';
import { CALL_STATES, callViolations, DEFAULT_MS, isInWindow, isOver } from '../rules/call.js';
import { callRoom } from '../rules/participant.js';
import { requireRoom } from './join.js';
import { isKicked, participantOf, wantRoom } from './rooms.js';

const { NONE, VISIT, CONVERSATION } = LiveCallReferenceType;
const { HOST } = LiveCallRole;

interface Reference {
  type: LiveCallReferenceType;
  id: string | null;
}

function referenceOf({ reference }: CreateLiveCallInput): Reference {
  const { type, id } = reference ?? { type: NONE, id: null };
  if ((type === NONE) !== (id == null)) invalid('/input/reference/id', 'is required, unless the type is none');
  return { type, id: id?.toLowerCase() ?? null };
}

const usersOf = (input: CreateLiveCallInput): string[] => input.participants.map(({ userId }) => userId.toLowerCase()).sort();

/** Whom the owner of a reference confirms; null: it has no such reference, or is not there. */
async function peopleOf(ctx: Context, { type, id }: Reference): Promise<string[] | null> {
  if (type === CONVERSATION) return conversationPeople(ctx, id!);
  const visit = type === VISIT ? await visitOf(ctx, id!) : null;
  return visit && [visit.memberId, visit.providerUserId];
}

/** A member calls only the people of a visit or conversation of their own, exactly. @throws Problem not_found */
export const calling = preparation(async (ctx: Context, { input }: { input: CreateLiveCallInput }): Promise<void> => {
  const reference = referenceOf(input);
  if (isOffice(ctx, 'session')) return;
  const users = usersOf(input);
  const people = users.includes(ctx.caller.userId!) ? await peopleOf(ctx, reference) : null;
  if (people === null || [...people].sort().join() !== users.join()) fail('not_found', 'Not found');
});

/** Makes a call, or answers with the one that is open for the same reference: 200. */
export async function createCall(ctx: Context, input: CreateLiveCallInput): Promise<LiveCall> {
  const reference = referenceOf(input);
  const opensAt = input.opensAt ?? ctx.now();
  const plan = { ...input, opensAt, closesAt: input.closesAt ?? after(opensAt, DEFAULT_MS) };
  requireValid(callViolations(plan));
  const open = reference.id === null ? null : await openCallOf(ctx, reference);
  if (open) {
    ctx.status(200);
    return open;
  }
  return makeCall(ctx, { ...plan, reference });
}

/** The call of a reference that is not over, after anybody else who makes one. */
export async function openCallOf(ctx: Context, { type, id }: Reference): Promise<LiveCall | null> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 23))', [`live.call:${type}:${id}`]);
  const status = { $in: [LiveCallStatus.CREATED, LiveCallStatus.ACTIVE] };
  return ctx.em.findOne(LiveCall, { referenceType: type, referenceId: id, status });
}

interface CallPlan {
  kind: LiveCallKind;
  participants: readonly { userId: string; role: LiveCallRole }[];
  reference: Reference;
  opensAt: Date;
  closesAt: Date;
}

export function makeCall(ctx: Context, { kind, participants, reference, opensAt, closesAt }: CallPlan): LiveCall {
  const made = { kind, referenceType: reference.type, referenceId: reference.id, opensAt, closesAt, createdAt: ctx.now() };
  const creator = ctx.caller.kind === 'user' ? 'user' : actorOf(ctx.caller); // who it was stands among its people, and is erased there
  const call = Object.assign(new LiveCall(), { ...made, createdBy: creator });
  const people = participants.map(({ userId, role }) =>
    Object.assign(new LiveCallParticipant(), { callId: call.id, userId: userId.toLowerCase(), role }),
  );
  ctx.em.persist([call, ...people]);
  ctx.audit('live_call.created', call.id, { kind, reference: reference.type });
  return call;
}

/** The caller's part in a call, read anew. */
async function partIn(ctx: Context, callId: string): Promise<LiveCallParticipant | null> {
  const { userId } = ctx.caller;
  return userId === null ? null : findRow(ctx, LiveCallParticipant, { callId, userId }, { refresh: true });
}

const isRemoved = (part: LiveCallParticipant | null): boolean => part?.state === LiveCallParticipantState.REMOVED;

/** A call that the caller has or had a part in, locked: under the lock nobody is replaced. @throws Problem not_found */
async function lockCall(ctx: Context, id: string): Promise<{ call: LiveCall; part: LiveCallParticipant | null }> {
  if ((await partIn(ctx, id)) === null && !isOffice(ctx, 'session')) fail('not_found', 'Not found');
  const call = await lockRow(ctx, LiveCall, { id });
  return { call, part: await partIn(ctx, id) };
}

export interface CallEntry {
  call: LiveCall;
  role: LiveRole;
  grant: JoinGrant;
}

/** The caller's entry. @throws Problem conflict `outside_window`, or for one that is over; forbidden `removed` */
export async function enterCall(ctx: Context, id: string): Promise<CallEntry> {
  const { call, part } = await lockCall(ctx, id);
  if (part === null) return fail('not_found', 'Not found');
  if (isRemoved(part)) throw removal();
  if (isOver(call.status)) fail('conflict', `a call that is ${call.status} cannot be entered`);
  if (!isInWindow(call, ctx.now())) fail('conflict', 'The call cannot be entered now', { reason: 'outside_window' });
  const role = part.role === HOST ? LiveRole.HOST : LiveRole.SPEAKER;
  const participantId = await participantOf(ctx, call.id, part.userId, role);
  if (await isKicked(ctx, call.id, participantId)) throw removal();
  const room = callRoom(call.id);
  await wantRoom(ctx, room, { subjectId: call.id, isCall: true }, RoomWanted.OPEN);
  ctx.audit('live_call.entered', call.id, { participant_id: participantId });
  return { call, role, grant: { room, participantId, canPublish: true, canPublishData: true } };
}

export async function callJoinOf(ctx: Context, { call, role, grant }: CallEntry): Promise<LiveJoin> {
  await requireRoom(ctx, grant.room);
  const provider = providerOf(ctx.host);
  const { token, expiresAt } = await provider.issueJoinToken(grant);
  const shown = { sessionId: null, callId: call.id, provider: provider.name, mode: LiveJoinMode.WEBRTC, url: provider.url };
  return { ...shown, ...grant, token, tokenExpiresAt: expiresAt, role, playbackUrl: null, registration: null, streamPath: null };
}

/** Ends a call. Again: the same. @throws Problem not_found for somebody who was replaced; forbidden for a guest of a group */
export async function endCall(ctx: Context, id: string): Promise<LiveCall> {
  const { call, part } = await lockCall(ctx, id);
  if (isRemoved(part)) fail('not_found', 'Not found');
  if (part && call.kind === LiveCallKind.GROUP && part.role !== HOST) fail('forbidden', 'Only the host may end a group call');
  if (isOver(call.status)) return call;
  const reason =
    part === null ? LiveCallEndReason.STAFF : call.kind === LiveCallKind.GROUP ? LiveCallEndReason.HOST : LiveCallEndReason.HANG_UP;
  await finishCall(ctx, call, 'end', reason);
  return call;
}

const LEFT = `update live.live_call_participant set state = 'left', left_at = $2 where call_id = $1 and state = 'joined'`;

/** Brings a call to its end, whatever ends it, and closes its room. */
export async function finishCall(
  ctx: Context,
  call: LiveCall,
  trigger: 'end' | 'expire' | 'cancel',
  reason: LiveCallEndReason | null,
): Promise<void> {
  call.status = move(CALL_STATES, 'call', call.status, trigger);
  Object.assign(call, { endedAt: ctx.now(), endReason: reason, aloneSince: null, emptySince: null, version: call.version + 1 });
  await ctx.sql(LEFT, [call.id, ctx.now().toISOString()]);
  await ctx.sql(
    'update live.live_attendance set left_at = greatest(joined_at, $2::timestamptz) where subject_id = $1 and left_at is null',
    [call.id, ctx.now().toISOString()],
  );
  await wantRoom(ctx, callRoom(call.id), { subjectId: call.id, isCall: true }, RoomWanted.CLOSED);
  ctx.audit('live_call.over', call.id, { status: call.status, reason });
}
