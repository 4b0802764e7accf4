import type { Context } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { LiveHostRole, LiveJoinMode, LiveRegistrationStatus, LiveRole, LiveSessionKind, LiveSessionStatus } from '../entities/enums.js';
import type { LiveRegistration } from '../entities/registration.js';
import { LiveSession } from '../entities/session.js';
import type { LiveChatToken, LiveJoin } from '../entities/values.js';
import { chatOf } from '../ports/chat.js';
import { featureOf } from '../ports/neighbours.js';
import type { JoinGrant } from '../ports/provider.js';
import { providerOf } from '../ports/providers.js';
import { registrationOf, removal, roleOf, visibleSession } from '../queries/people.js';
import { accessOf } from '../queries/session.js';
import { HOST_EARLY_MS, maySpeak } from '../rules/session.js';
import { ROOM_ROLES, sessionRoom } from '../rules/participant.js';
import { lockSession, seatFor } from './registration.js';
import { isKicked, participantOf, pseudonymOf } from './rooms.js';
import { openSessionRoom } from './session.js';

/** From so many viewers on, a broadcast's viewers watch by HLS where the vendor has it. Source: live 4.3. */
const HLS_FROM = 2_000;

/** Found out before a join: that the session is there for the caller, and that they have what it requires. */
export const joining = preparation(async (ctx: Context, { id }: { id: string }): Promise<{ allowed: boolean }> => {
  const session = (await visibleSession(ctx, id)) ?? fail('not_found', 'Not found');
  const { requiredFeature } = session;
  return { allowed: requiredFeature === null || (await featureOf(ctx, ctx.caller.userId!, requiredFeature)).allowed };
});

function requireOpen(ctx: Context, { status, startsAt }: LiveSession, team: LiveHostRole | null): void {
  if (status === LiveSessionStatus.LIVE) return;
  const early = ctx.now().getTime() >= startsAt.getTime() - HOST_EARLY_MS;
  if (team !== null && status === LiveSessionStatus.SCHEDULED && early) return;
  fail('conflict', `a session that is ${status} cannot be joined`, { reason: 'not_live' });
}

/** What a viewer was promoted to in the running room, else viewer. */
async function roleInRoom(ctx: Context, session: LiveSession, userId: string, team: LiveHostRole | null): Promise<LiveRole> {
  if (team !== null) return ROOM_ROLES[team];
  const [row] = await ctx.sql<{ role: LiveRole }>('select role from live.live_participant where subject_id = $1 and user_id = $2', [
    session.id,
    userId,
  ]);
  return row?.role === LiveRole.SPEAKER ? LiveRole.SPEAKER : LiveRole.VIEWER;
}

export interface Entry {
  session: LiveSession;
  registration: LiveRegistration | null;
  role: LiveRole;
  grant: JoinGrant;
}

/** The caller's entry to the room, decided under the session's lock. @throws Problem conflict `not_live`, `session_full`; forbidden `registration_required`, `removed` */
export async function enterSession(ctx: Context, id: string): Promise<Entry> {
  const userId = ctx.caller.userId!;
  const session = await lockSession(ctx, id);
  const team = await roleOf(ctx, session.id);
  requireOpen(ctx, session, team);
  const role = await roleInRoom(ctx, session, userId, team);
  const participantId = await participantOf(ctx, session.id, userId, role);
  if (await isKicked(ctx, session.id, participantId)) throw removal();
  const registration = team === null ? await seatFor(ctx, session, userId, joining.of(ctx).allowed) : null;
  const room = session.status === LiveSessionStatus.LIVE ? sessionRoom(session.id, session.roomEpoch) : await openSessionRoom(ctx, session);
  const canPublish = maySpeak(role, session.kind);
  ctx.audit('live_session.joined', session.id, { participant_id: participantId, role });
  return { session, registration, role, grant: { room, participantId, canPublish, canPublishData: canPublish } };
}

/** What the client connects with; a token is made offline. @throws Problem unavailable while the vendor cannot say that it has the room. */
export async function joinOf(ctx: Context, { session, registration, role, grant }: Entry): Promise<LiveJoin> {
  const provider = providerOf(ctx.host);
  const playback = watchesByHls(session, role) ? provider.playbackUrl(grant.room, null) : null;
  if (playback === null) await requireRoom(ctx, grant.room);
  const token = playback === null ? await provider.issueJoinToken(grant) : null;
  return {
    sessionId: session.id,
    callId: null,
    provider: provider.name,
    mode: playback === null ? LiveJoinMode.WEBRTC : LiveJoinMode.HLS,
    url: provider.url,
    token: token?.token ?? null,
    tokenExpiresAt: token?.expiresAt ?? null,
    ...grant,
    role,
    playbackUrl: playback,
    registration,
    streamPath: `/v1/sessions/${session.id}/stream`,
  };
}

const watchesByHls = ({ kind, viewersNow }: LiveSession, role: LiveRole): boolean =>
  kind === LiveSessionKind.BROADCAST && role === LiveRole.VIEWER && viewersNow >= HLS_FROM;

const MADE = 'select 1 from live.streaming_room where name = $1 and made_at is not null';

/** Rooms are made by the service only; one that the vendor has not heard of yet is made now, which does no harm twice. */
export async function requireRoom(ctx: Context, room: string): Promise<void> {
  if ((await ctx.host.read(own => own.sql(MADE, [room]))).length > 0) return;
  try {
    await providerOf(ctx.host).createRoom(room);
  } catch (error) {
    throw new Problem('unavailable', 'The streaming vendor cannot be reached right now', { retryAfter: 5, cause: error });
  }
}

const CHAT_MARGIN_MS = 15 * MINUTE_MS;

function requireChat(ctx: Context, session: LiveSession): void {
  if (!session.chatEnabled) fail('conflict', 'The chat of this session is off', { reason: 'chat_disabled' });
  const [now, { status, startsAt, endedAt }] = [ctx.now().getTime(), session];
  const isSoon = status === LiveSessionStatus.SCHEDULED && now >= startsAt.getTime() - CHAT_MARGIN_MS;
  const isJustOver = status === LiveSessionStatus.ENDED && now <= endedAt!.getTime() + CHAT_MARGIN_MS;
  if (status !== LiveSessionStatus.LIVE && !isSoon && !isJustOver)
    fail('conflict', `the chat of a session that is ${status} is closed`, { reason: 'not_live' });
}

/** As for joining: a confirmed seat, or where none is required, what would give one. @throws Problem forbidden */
async function requireSeat(ctx: Context, session: LiveSession, userId: string): Promise<void> {
  if ((await registrationOf(ctx, session.id, userId))?.status === LiveRegistrationStatus.CONFIRMED) return;
  if (session.registrationRequired) fail('forbidden', 'A confirmed registration is required', { reason: 'registration_required' });
  const { allowed, reason } = await accessOf(ctx, session);
  if (!allowed) fail('forbidden', 'This session is not open to the user', { reason });
}

/** What the caller chats with: from 15 min before the start until 15 min after the end, with a seat as for joining. */
export async function chatToken(ctx: Context, sessionId: string): Promise<LiveChatToken> {
  const session = (await visibleSession(ctx, sessionId)) ?? fail('not_found', 'Not found');
  const userId = ctx.caller.userId!;
  requireChat(ctx, session);
  const team = await roleOf(ctx, session.id);
  if (team === null) await requireSeat(ctx, session, userId);
  const role = team === null || team === LiveHostRole.SPEAKER ? LiveRole.VIEWER : LiveRole.MODERATOR;
  const participantId = await ctx.host.transaction(async own => {
    const id = await pseudonymOf(own, session.id, userId);
    if (await isKicked(own, session.id, id)) throw removal();
    return id;
  });
  const chat = chatOf(ctx.host);
  const issued = await chat.issueToken({ sessionId: session.id, participantId, role });
  return { provider: chat.name, url: chat.url, channelId: `live-${session.id}`, role, ...issued };
}
