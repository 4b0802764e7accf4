import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, page, toConnection, type Connection, type PageArgs } from '../../../runtime/request/paging.js';
import { LiveRegistrationStatus } from '../entities/enums.js';
import { LiveRegistration } from '../entities/registration.js';
import { LiveSession } from '../entities/session.js';
import type { LiveAttendanceSummary, LiveAudience } from '../entities/values.js';
import { havingFeature } from '../ports/neighbours.js';
import { freeSeats } from '../rules/seats.js';
import { blockedIn, isOfMember } from './people.js';

const { WAITLISTED, CONFIRMED, OFFERED } = LiveRegistrationStatus;

/** Registrations of a session, newest first; the waitlist in the order of its queue. */
export async function registrationsPage(
  ctx: Context,
  sessionId: string,
  status: LiveRegistrationStatus | null | undefined,
  paging: PageArgs,
): Promise<Connection<LiveRegistration>> {
  if (status !== WAITLISTED)
    return page(ctx.em, LiveRegistration, { sessionId, ...(status && { status }) }, paging, { time: 'registeredAt' });
  const behind = paging.after ? { queueNo: { $gt: Number(decodeCursor(paging.after, 1)[0]) } } : {};
  const where = { sessionId, status: WAITLISTED, ...behind };
  const rows = await ctx.em.find(LiveRegistration, where, { orderBy: { queueNo: 'asc' }, limit: paging.first + 1 });
  return toConnection(rows, paging.first, row => [row.queueNo]);
}

const POSITIONS = `
select r.id, (select count(*)::int from live.live_registration w where w.session_id = r.session_id and w.status = 'waitlisted' and w.queue_no <= r.queue_no) as position
from live.live_registration r where r.id = any($1::uuid[])`;

/** Place in the queue, from 1; null for one that does not wait. */
export async function positionOf(ctx: Context, { id, status }: LiveRegistration): Promise<number | null> {
  if (status !== WAITLISTED) return null;
  await ctx.em.flush(); // of this very request
  return ctx.load('live.position', id, async ids => {
    const rows = await ctx.sql<{ id: string; position: number }>(POSITIONS, [ids]);
    return ids.map(one => rows.find(row => row.id === one)?.position ?? null);
  });
}

const ATTENDANCE = `
select p.subject_id as "sessionId", p.user_id as "userId", min(a.joined_at) as first,
  case when bool_or(a.left_at is null) then null else max(a.left_at) end as last,
  sum(extract(epoch from coalesce(a.left_at, $3::timestamptz) - a.joined_at))::int as seconds
from unnest($1::uuid[], $2::uuid[]) as asked (session_id, user_id)
join live.live_participant p on p.subject_id = asked.session_id and p.user_id = asked.user_id
join live.live_attendance a on a.subject_id = p.subject_id and a.participant_id = p.id group by p.subject_id, p.user_id`;

interface Attended {
  sessionId: string;
  userId: string;
  first: string;
  last: string | null;
  seconds: number;
}

/** When somebody was in the room, of all their connections. */
export async function attendanceOf(ctx: Context, { sessionId, userId }: LiveRegistration): Promise<LiveAttendanceSummary | null> {
  return ctx.load('live.attendance', { sessionId, userId }, async asked => {
    const columns = [asked.map(one => one.sessionId), asked.map(one => one.userId)];
    const rows = await ctx.sql<Attended>(ATTENDANCE, [...columns, ctx.now().toISOString()]);
    const found = asked.map(one => rows.find(row => row.sessionId === one.sessionId && row.userId === one.userId));
    return found.map(row => (row ? shownAttendance(row) : null));
  });
}

const shownAttendance = ({ first, last, seconds }: Attended): LiveAttendanceSummary => ({
  firstJoinedAt: new Date(first),
  lastLeftAt: last === null ? null : new Date(last),
  seconds,
});

/** People who are to be told of a session: with a seat, confirmed or offered. */
export async function audiencePage(
  ctx: Context,
  sessionId: string,
  first: number,
  after: string | null | undefined,
): Promise<LiveAudience> {
  if (!isUuid(sessionId)) return { userIds: [], endCursor: null, hasNextPage: false };
  const behind = after ? { userId: { $gt: String(decodeCursor(after, 1)[0]) } } : {};
  const where = { sessionId, status: { $in: [CONFIRMED, OFFERED] }, ...behind };
  const rows = await ctx.em.find(LiveRegistration, where, { orderBy: { userId: 'asc' }, limit: first + 1 });
  const { nodes, pageInfo } = toConnection(rows, first, row => [row.userId]);
  return { userIds: nodes.map(({ userId }) => userId), endCursor: pageInfo.endCursor, hasNextPage: pageInfo.hasNextPage };
}

/** Of a queue, asked about at once. */
const PAGE = 100;
/** Found beyond the seats that are to be given away: others may give some away before this one has the session's lock. */
const SPARE = 20;
/** Seats that one transaction gives at most: the rest of a long queue is asked about before its own piece. */
const MAX_SEATS = 500;

/**
 * Those at the head of a queue who do not have what the session requires any more, or whom its host has blocked or is blocked by; looked
 * for until enough others are found. @param seats that will be freed.
 */
export async function waitingWithout(ctx: Context, sessionId: string, seats = 1): Promise<ReadonlySet<string>> {
  const session = isUuid(sessionId) ? await ctx.em.findOne(LiveSession, { id: sessionId }) : null;
  const without = new Set<string>();
  if (!session || session.waitlisted === 0 || (session.requiredFeature === null && !isOfMember(session))) return without;
  const wanted = Math.min(freeSeats(session) + seats, MAX_SEATS) + SPARE;
  for (let found = 0, last = 0; found < wanted;) {
    const where = { sessionId, status: WAITLISTED, queueNo: { $gt: last } };
    const page = await ctx.em.find(LiveRegistration, where, { orderBy: { queueNo: 'asc' }, limit: PAGE });
    const users = page.map(({ userId }) => userId);
    const lacking = await lackingAmong(ctx, session, users);
    for (const userId of lacking) without.add(userId);
    if (page.length < PAGE) break;
    found += page.length - lacking.length;
    last = page.at(-1)!.queueNo;
  }
  return without;
}

async function lackingAmong(ctx: Context, session: LiveSession, users: string[]): Promise<string[]> {
  const { requiredFeature } = session;
  const having = requiredFeature && users.length > 0 ? await havingFeature(ctx, users, requiredFeature) : new Set(users);
  const blocked = await blockedIn(ctx, session, users);
  return users.filter(userId => !having.has(userId) || blocked.has(userId));
}
