import { liveSessionCancelled, liveSessionCreated, liveSessionEnded, liveSessionStarted } from '../../../events/catalogue/live.js';
import { requireVersion } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { move } from '../../../runtime/request/states.js';
import { LiveHostRole, LiveRegistrationStatus, LiveSessionEndReason, LiveSessionKind, LiveSessionStatus } from '../entities/enums.js';
import { LiveRegistration } from '../entities/registration.js';
import { RoomWanted } from '../entities/room.js';
import { LiveSession, LiveSessionHost } from '../entities/session.js';
import type { CreateLiveSessionInput, UpdateLiveSessionInput } from '../inputs/session.js';
import { featureOf, isActiveUser } from '../ports/neighbours.js';
import { providerOf } from '../ports/providers.js';
import { isOffice, roleOf, teamOf, visibleSession } from '../queries/people.js';
import { waitingWithout } from '../queries/registration.js';
import { sessionRoom } from '../rules/participant.js';
import {
  capacityOf,
  HOST_EARLY_MS,
  mayRun,
  planViolations,
  requireChangeable,
  SESSION_STATES,
  TRIGGER_TO,
  type SessionTrigger,
} from '../rules/session.js';
import { chatFeed, sessionFeed, tellSession } from './feeds.js';
import { counted, promote } from './promotion.js';
import { lockSession, requestMessage } from './registration.js';
import { wantRoom } from './rooms.js';

const { DRAFT, SCHEDULED, LIVE, ENDED, CANCELLED } = LiveSessionStatus;
const DEFAULT_BRAND = '0190b3a0-0000-7000-8000-000000000001';
/** Entitlement of members who give sessions of their own. Source: live 4. */
const HOST_FEATURE = 'live.host';

const hostId = async (ctx: Context, sessionId: string): Promise<string | null> => (await teamOf(ctx, sessionId))[0]?.userId ?? null;
const about = async (ctx: Context, { id, brandId }: LiveSession) => ({ userId: await hostId(ctx, id), brandId });

/** Who will host, found out before: a member needs the entitlement, and nobody hosts whose account is not active. */
export const hosting = preparation(async (ctx: Context, { input }: { input: CreateLiveSessionInput }): Promise<string> => {
  const own = ctx.caller.kind === 'user' && !isOffice(ctx, 'session') ? ctx.caller.userId! : null;
  if (own && input.hostUserId && input.hostUserId.toLowerCase() !== own) fail('not_found', 'Not found');
  if (own && !(await featureOf(ctx, own, HOST_FEATURE)).allowed) fail('forbidden', 'Only hosts may give sessions');
  const userId = (own ?? input.hostUserId ?? invalid('/input/hostUserId', 'is required for services and staff')).toLowerCase();
  for (const id of new Set([userId, ...(input.hosts ?? []).map(one => one.userId.toLowerCase())])) await requireActive(ctx, id);
  return userId;
});

export async function requireActive(ctx: Context, userId: string): Promise<void> {
  if (!(await isActiveUser(ctx, userId))) fail('conflict', 'This account is not active', { reason: 'user_not_active' });
}

const DEFAULTED = [
  'description',
  'tags',
  'locale',
  'visibility',
  'waitlistEnabled',
  'promotionMode',
  'registrationRequired',
  'questionsEnabled',
  'questionModeration',
  'anonymousQuestions',
  'chatEnabled',
  'recordingEnabled',
] as const;
const NULLABLE = ['requiredFeature', 'waitlistLimit', 'registrationOpensAt', 'registrationClosesAt', 'questionsOpenAt'] as const;
const REQUIRED = ['title', 'startsAt', 'endsAt', 'timeZone'] as const;

type Changes = Partial<Omit<UpdateLiveSessionInput, 'id'>>;

/** Names of what differs; null takes what can be absent away, and leaves the rest as it is. */
function apply(session: LiveSession, input: Changes): string[] {
  const given: Record<string, unknown> = {};
  for (const name of [...DEFAULTED, ...REQUIRED]) if (input[name] != null) given[name] = input[name];
  for (const name of NULLABLE) if (input[name] !== undefined) given[name] = input[name];
  if (input.coverImageUrl !== undefined) given.coverImageUrl = input.coverImageUrl === null ? null : String(input.coverImageUrl);
  const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
  const changed = Object.keys(given).filter(name => !same(given[name], session[name as keyof LiveSession]));
  Object.assign(session, given);
  return changed;
}

/** Makes a session as a draft or scheduled. @throws Problem invalid_request */
export async function createSession(ctx: Context, input: CreateLiveSessionInput): Promise<LiveSession> {
  return makeSession(ctx, input, hosting.of(ctx));
}

export async function makeSession(
  ctx: Context,
  input: CreateLiveSessionInput,
  host: string,
  seriesId: string | null = null,
): Promise<LiveSession> {
  const { kind, startsAt, endsAt, title } = input;
  const now = ctx.now();
  const times = { startsAt, endsAt, timeZone: input.timeZone ?? 'UTC', createdAt: now, updatedAt: now };
  const brandId = input.brandId?.toLowerCase() ?? ctx.caller.brandId ?? DEFAULT_BRAND;
  const status = input.status ?? SCHEDULED;
  const made = {
    kind,
    title,
    brandId,
    status,
    seriesId,
    capacity: capacityOf(kind, input.capacity),
    createdBy: actorOf(ctx.caller),
    ...times,
  };
  const session = Object.assign(new LiveSession(), made);
  apply(session, input);
  requirePlan(ctx, session, status);
  if (ctx.caller.kind === 'user' && !isOffice(ctx, 'session') && kind === LiveSessionKind.ONE_TO_ONE)
    fail('forbidden', 'Members give broadcasts and group sessions');
  ctx.em.persist([session, ...teamRows(session.id, host, input.hosts ?? [])]);
  await ctx.em.flush();
  ctx.audit('live_session.created', session.id, { kind, status });
  if (status === SCHEDULED) await announce(ctx, session);
  return session;
}

function requirePlan(ctx: Context, session: LiveSession, status: LiveSessionStatus): void {
  if (status !== DRAFT && status !== SCHEDULED) invalid('/input/status', 'must be draft or scheduled');
  requireValid(planViolations(session));
  if (status === SCHEDULED && session.startsAt <= ctx.now()) invalid('/input/startsAt', 'must be in the future');
}

function teamRows(sessionId: string, host: string, others: readonly { userId: string; role: LiveHostRole }[]): LiveSessionHost[] {
  const rest = new Map(others.map(({ userId, role }) => [userId.toLowerCase(), role]));
  if ([...rest].some(([userId, role]) => role === LiveHostRole.HOST && userId !== host))
    invalid('/input/hosts', 'cannot have a second host');
  rest.delete(host);
  const rows: [string, LiveHostRole][] = [[host, LiveHostRole.HOST], ...rest];
  return rows.map(([userId, role]) => Object.assign(new LiveSessionHost(), { sessionId, userId, role }));
}

async function announce(ctx: Context, session: LiveSession): Promise<void> {
  const data = { session_id: session.id, kind: session.kind, starts_at: session.startsAt.toISOString(), capacity: session.capacity };
  ctx.emit(liveSessionCreated, data, await about(ctx, session));
}

/** Found out before a session is changed: that the caller may know of it, and who of its queue has lost the right to be in it. */
export const changing = preparation(
  async (
    ctx: Context,
    { input, id }: { input?: Pick<UpdateLiveSessionInput, 'id' | 'capacity'>; id?: string },
  ): Promise<ReadonlySet<string>> => {
    const session = (await visibleSession(ctx, input?.id ?? id!)) ?? fail('not_found', 'Not found');
    return waitingWithout(ctx, session.id, seatsAdded(session, input?.capacity));
  },
);

/** By another capacity; without one everybody gets a seat. */
const seatsAdded = (session: LiveSession, capacity: number | null | undefined): number =>
  capacity === undefined ? 0 : capacity === null ? Number.POSITIVE_INFINITY : Math.max(0, capacity - (session.capacity ?? 0));

/** @throws Problem forbidden for somebody who finds the session and has no such part in it. */
export async function requireRunner(ctx: Context, sessionId: string, may: (role: LiveHostRole | null) => boolean = mayRun): Promise<void> {
  if (!isOffice(ctx, 'session') && !may(await roleOf(ctx, sessionId))) fail('forbidden', 'Only the host team may do this');
}

/** Changes a session, then drives its machine. @throws Problem conflict `capacity_below_confirmed`, `version_conflict`, or of the machine. */
export async function updateSession(ctx: Context, input: UpdateLiveSessionInput): Promise<LiveSession> {
  const denied = changing.of(ctx);
  const session = await lockSession(ctx, input.id);
  await requireRunner(ctx, session.id);
  requireVersion(session, input.version);
  const before = { startsAt: session.startsAt, endsAt: session.endsAt };
  const changed = [...apply(session, input), ...applyCapacity(session, input)];
  if (changed.length > 0) await changedFields(ctx, session, { changed, before, denied });
  if (input.status != null && input.status !== session.status) await drive(ctx, session, input.status, input.cancelReason, denied);
  else if (input.status === LIVE || input.status === ENDED || input.status === CANCELLED)
    move(SESSION_STATES, 'session', session.status, TRIGGER_TO[input.status]!);
  return session;
}

function applyCapacity(session: LiveSession, { capacity }: UpdateLiveSessionInput): string[] {
  if (capacity === undefined || capacity === session.capacity) return [];
  const held = session.confirmed + session.offered;
  if (capacity !== null && capacity < held) tooSmall(held);
  session.capacity = capacityOf(session.kind, capacity);
  return ['capacity'];
}

const tooSmall = (held: number): never =>
  fail('conflict', 'The capacity is below what is taken', {
    reason: 'capacity_below_confirmed',
    errors: [{ pointer: '/capacity', message: `${held} seats are confirmed or offered` }],
  });

interface Change {
  changed: string[];
  before: Pick<LiveSession, 'startsAt' | 'endsAt'>;
  denied: ReadonlySet<string>;
}

async function changedFields(ctx: Context, session: LiveSession, { changed, before, denied }: Change): Promise<void> {
  requireChangeable(session.status, changed);
  requireValid(planViolations(session));
  const isMoved = changed.includes('startsAt');
  if (isMoved && session.status === SCHEDULED && session.startsAt <= ctx.now()) invalid('/input/startsAt', 'must be in the future');
  session.version++;
  session.updatedAt = ctx.now();
  if (isMoved || before.endsAt.getTime() !== session.endsAt.getTime()) session.calendarSequence++;
  ctx.audit('live_session.updated', session.id, { fields: changed });
  if (changed.includes('capacity')) {
    counted(ctx, session);
    await promote(ctx, session, denied);
  }
  if (isMoved && session.status === SCHEDULED) await tellRescheduled(ctx, session);
  if (session.status !== DRAFT) await tellSession(ctx, session);
}

/** Told in one transaction, one event each, far below the 1,000 people that one may tell. */
const TOLD_TOGETHER = 500;

function tellRescheduled(ctx: Context, session: LiveSession): Promise<void> {
  Object.assign(session, { noticesVersion: session.version, noticesFrom: 0, noticesUntil: session.nextQueueNo });
  return tellNext(ctx, session);
}

/** Tells those of a moved session who are next; the timer `live-notices` goes on where they are many. Under the session's lock. Source: live 3. */
export async function tellNext(ctx: Context, session: LiveSession): Promise<void> {
  const { id: sessionId, noticesVersion: version, noticesFrom: from, noticesUntil: until } = session;
  const isOwed = version !== null && session.status === SCHEDULED;
  const where = {
    sessionId,
    status: { $in: [LiveRegistrationStatus.CONFIRMED, LiveRegistrationStatus.OFFERED] },
    queueNo: { $gte: from!, $lt: until! },
  };
  const rows = isOwed ? await ctx.em.find(LiveRegistration, where, { orderBy: { queueNo: 'asc' }, limit: TOLD_TOGETHER }) : [];
  for (const row of rows)
    requestMessage(ctx, 'live_session_rescheduled', session, row, `live:resched:${sessionId}:${version}:${row.userId}`);
  const isDone = rows.length < TOLD_TOGETHER;
  Object.assign(
    session,
    isDone ? { noticesVersion: null, noticesFrom: null, noticesUntil: null } : { noticesFrom: rows.at(-1)!.queueNo + 1 },
  );
}

async function drive(
  ctx: Context,
  session: LiveSession,
  to: LiveSessionStatus,
  reason: string | null | undefined,
  denied: ReadonlySet<string>,
): Promise<void> {
  const trigger = TRIGGER_TO[to] ?? fail('conflict', `a session that is ${session.status} cannot become a draft`);
  if (trigger === 'cancel') return cancelSession(ctx, session, reason ?? 'other');
  if (trigger === 'end') return endSession(ctx, session, isOffice(ctx, 'session') ? LiveSessionEndReason.STAFF : LiveSessionEndReason.HOST);
  if (trigger === 'publish') return publishSession(ctx, session);
  return startSession(ctx, session, denied);
}

function moved(ctx: Context, session: LiveSession, trigger: SessionTrigger): void {
  session.status = move(SESSION_STATES, 'session', session.status, trigger);
  session.version++;
  session.updatedAt = ctx.now();
}

export async function publishSession(ctx: Context, session: LiveSession): Promise<void> {
  moved(ctx, session, 'publish');
  if (session.startsAt <= ctx.now()) fail('conflict', 'a session whose beginning has passed cannot be published');
  ctx.audit('live_session.published', session.id);
  await announce(ctx, session);
}

/** On air: a room of a new name, and the queue once more. Under the session's lock, so that of two starts one finds it live. */
export async function startSession(ctx: Context, session: LiveSession, denied: ReadonlySet<string>): Promise<void> {
  moved(ctx, session, 'start');
  const now = ctx.now();
  if (now.getTime() < session.startsAt.getTime() - HOST_EARLY_MS) fail('conflict', 'a session cannot start more than 60 minutes early');
  if (now >= session.endsAt) fail('conflict', 'a session whose end has passed cannot start');
  Object.assign(session, { startedAt: now, hostAbsentSince: now });
  await openSessionRoom(ctx, session);
  ctx.audit('live_session.started', session.id, { epoch: session.roomEpoch });
  await promote(ctx, session, denied);
  const data = { session_id: session.id, started_at: now.toISOString(), registered_count: session.confirmed + session.offered };
  ctx.emit(liveSessionStarted, data, await about(ctx, session));
  if (session.recordingEnabled) record(ctx, sessionRoom(session.id, session.roomEpoch), 'startRecording');
  await ctx.em.flush();
  await tellSession(ctx, session);
}

/** The room in which a session goes on air; made when the host team enters early, else at the start. */
export async function openSessionRoom(ctx: Context, session: LiveSession): Promise<string> {
  if (session.roomEpoch === 0) session.roomEpoch = 1;
  const name = sessionRoom(session.id, session.roomEpoch);
  await wantRoom(ctx, name, { subjectId: session.id, isCall: false }, RoomWanted.OPEN);
  return name;
}

function record(ctx: Context, room: string, what: 'startRecording' | 'stopRecording'): void {
  ctx.afterCommit(
    () =>
      void providerOf(ctx.host)
        [what](room)
        .catch(() => ctx.log.warn('the vendor did not take an order to record')),
  );
}

const ATTENDED = `
select count(distinct a.participant_id)::int as count from live.live_attendance a
where a.subject_id = $1 and coalesce(a.left_at, $2::timestamptz) - a.joined_at >= interval '1 second'`;
const CLOSE = 'update live.live_attendance set left_at = greatest(joined_at, $2::timestamptz) where subject_id = $1 and left_at is null';

export async function endSession(ctx: Context, session: LiveSession, reason: LiveSessionEndReason): Promise<void> {
  moved(ctx, session, 'end');
  const now = ctx.now();
  const [attended] = await ctx.sql<{ count: number }>(ATTENDED, [session.id, now.toISOString()]);
  await ctx.sql(CLOSE, [session.id, now.toISOString()]);
  Object.assign(session, { endedAt: now, endReason: reason, attended: attended!.count, viewersNow: 0 });
  const room = sessionRoom(session.id, session.roomEpoch);
  await wantRoom(ctx, room, { subjectId: session.id, isCall: false }, RoomWanted.CLOSED);
  if (session.recordingEnabled) record(ctx, room, 'stopRecording');
  ctx.audit('live_session.ended', session.id, { reason, attended: session.attended });
  const seconds = Math.max(0, Math.round((now.getTime() - session.startedAt!.getTime()) / 1000));
  const data = { session_id: session.id, ended_at: now.toISOString(), duration_s: seconds, attended_count: session.attended };
  ctx.emit(liveSessionEnded, data, await about(ctx, session));
  await over(ctx, session, !session.recordingEnabled);
}

/** Tells the streams, and ends them where nothing will follow. */
async function over(ctx: Context, session: LiveSession, isFinal: boolean): Promise<void> {
  await ctx.em.flush();
  await tellSession(ctx, session);
  if (isFinal) await sessionFeed.end(ctx, session.id);
  await chatFeed.end(ctx, session.id);
}

/** Its registrations stay readable. */
export async function cancelSession(ctx: Context, session: LiveSession, reason: string): Promise<void> {
  moved(ctx, session, 'cancel');
  Object.assign(session, { cancelReason: reason, cancelledAt: ctx.now() });
  if (session.roomEpoch > 0)
    await wantRoom(ctx, sessionRoom(session.id, session.roomEpoch), { subjectId: session.id, isCall: false }, RoomWanted.CLOSED);
  ctx.audit('live_session.cancelled', session.id, { reason });
  const registered = session.confirmed + session.offered;
  const data = { session_id: session.id, reason, starts_at: session.startsAt.toISOString(), registered_count: registered };
  ctx.emit(liveSessionCancelled, data, await about(ctx, session));
  await over(ctx, session, true);
}

/** A draft goes, a scheduled one is cancelled, one that is over is hidden, by staff and services only. @throws Problem conflict */
export async function deleteSession(ctx: Context, id: string, hide: boolean): Promise<LiveSession> {
  const session = await lockSession(ctx, id);
  await requireRunner(ctx, session.id, role => role === LiveHostRole.HOST);
  if (session.status === SCHEDULED) await cancelSession(ctx, session, 'deleted');
  else if (session.status === DRAFT) await removeDraft(ctx, session);
  else if (session.status !== LIVE && hide && isOffice(ctx, 'session')) session.hiddenAt = ctx.now();
  else fail('conflict', `a session that is ${session.status} cannot be deleted`);
  ctx.audit('live_session.deleted', session.id, { status: session.status });
  return session;
}

async function removeDraft(ctx: Context, session: LiveSession): Promise<void> {
  await ctx.em.nativeDelete(LiveSessionHost, { sessionId: session.id });
  ctx.em.remove(session);
}
