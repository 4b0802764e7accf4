import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { LiveCall } from '../entities/call.js';
import { LiveCallEndReason, LiveCallStatus, LiveRegistrationStatus, LiveSessionEndReason, LiveSessionStatus } from '../entities/enums.js';
import { LiveRegistration } from '../entities/registration.js';
import type { LiveSession } from '../entities/session.js';
import { waitingWithout } from '../queries/registration.js';
import { callEndDue } from '../rules/call.js';
import { freeSeats, isPromoting } from '../rules/seats.js';
import { finishCall } from './call.js';
import { promote } from './promotion.js';
import { expire, lockSession } from './registration.js';
import { cancelSession, endSession, tellNext } from './session.js';

/** What is due is done one by one: each has the lock of its session. */
const AT_ONCE = 50;
/** Looks of one run; what is left then is found by the next one. */
const MOST_LOOKS = 100;

/** Works on what is due in sessions, look after look until none is left. One that fails is left out of the next looks, and holds up no other. */
async function inSessions<Row extends { sessionId: string }>(
  look: (failed: readonly string[]) => Promise<readonly Row[]>,
  work: (sessionId: string, rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  const failures = new Map<string, unknown>();
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const due = Map.groupBy(await look([...failures.keys()]), ({ sessionId }) => sessionId);
    if (due.size === 0) break;
    for (const [sessionId, rows] of due) await work(sessionId, rows).catch(error => failures.set(sessionId, error));
  }
  for (const error of failures.values()) throw error;
}

const OFFERS = `select id, session_id as "sessionId" from live.live_registration
  where status = 'offered' and confirm_by <= $1 and not session_id = any($2::uuid[]) order by confirm_by, queue_no limit ${AT_ONCE}`;

/**
 * Offers whose window is over; those of sessions that are over stay as they are. It works outside a transaction, because others are asked
 * first who of a queue may still take part; a session for which they do not answer holds up no other one. Two processes at once find the
 * second time nothing to do.
 */
export const expireOffers = (ctx: Context, at: Date): Promise<void> =>
  inSessions(
    failed => ctx.sql<{ id: string; sessionId: string }>(OFFERS, [at.toISOString(), failed]),
    (sessionId, rows) => expireIn(ctx, { sessionId, ids: rows.map(({ id }) => id), at }),
  );

async function expireIn(ctx: Context, { sessionId, ids, at }: { sessionId: string; ids: string[]; at: Date }): Promise<void> {
  const denied = await waitingWithout(ctx, sessionId, ids.length);
  await ctx.host.transaction(async own => {
    const session = await lockSession(own, sessionId).catch(() => null);
    for (const id of ids) await expireOffer(own, { session, denied, at }, id);
  });
}

async function expireOffer(
  ctx: Context,
  { session, denied, at }: { session: LiveSession | null; denied: ReadonlySet<string>; at: Date },
  id: string,
): Promise<void> {
  const row = await lockRow(ctx, LiveRegistration, { id });
  if (row.status !== LiveRegistrationStatus.OFFERED || row.confirmBy === null || row.confirmBy > at) return;
  const isOver = session === null || session.status === LiveSessionStatus.ENDED || session.status === LiveSessionStatus.CANCELLED;
  if (isOver) Object.assign(row, { confirmBy: null });
  else await expire(ctx, session, row, denied);
}

/** Sessions in which somebody waits beside a free seat now: of a longer queue than one transaction promotes, or whose window was opened again. */
export const QUEUES = `select id as "sessionId", $1::timestamptz as at from live.live_session
  where not id = any($2::uuid[]) and status in ('scheduled', 'live') and waitlisted > 0 and (capacity is null or confirmed + offered < capacity)
    and (status = 'live' or coalesce(registration_closes_at, ends_at) > $1) order by starts_at, id limit ${AT_ONCE}`;

/** Promotes each queue, piece by piece; outside a transaction, as {@link expireOffers}. */
export const promoteQueues = (ctx: Context, at: Date): Promise<void> =>
  inSessions(
    failed => ctx.sql<{ sessionId: string }>(QUEUES, [at.toISOString(), failed]),
    sessionId => promoteNext(ctx, sessionId),
  );

async function promoteNext(ctx: Context, sessionId: string): Promise<void> {
  const denied = await waitingWithout(ctx, sessionId);
  await ctx.host.transaction(async own => {
    const session = await lockSession(own, sessionId);
    const isStanding = session.waitlisted > 0 && freeSeats(session) > 0 && isPromoting(session, own.now());
    if (isStanding && (await promote(own, session, denied)).length === 0)
      throw new Error(`session ${sessionId} counts people who wait and has none`); // else the timer would run without end
  });
}

/** Sessions whose people are not all told of the new beginning. */
export const NOTICES = `select id, $1::timestamptz as at from live.live_session where notices_version is not null and hidden_at is null order by id limit ${AT_ONCE}`;

export async function tellMoved(ctx: Context, at: Date): Promise<void> {
  for (const { id } of await ctx.sql<{ id: string }>(NOTICES, [at.toISOString()]))
    await ctx.host.transaction(async own => tellNext(own, await lockSession(own, id)));
}

const NO_SHOWS = `select id from live.live_session where status = 'scheduled' and starts_at <= $1::timestamptz - interval '60 minutes' order by starts_at limit ${AT_ONCE}`;

/** Sessions that nobody started. */
export async function cancelNoShows(ctx: Context, at: Date): Promise<void> {
  for (const { id } of await ctx.sql<{ id: string }>(NO_SHOWS, [at.toISOString()])) {
    const session = await lockSession(ctx, id).catch(() => null);
    if (session?.status === LiveSessionStatus.SCHEDULED) await cancelSession(ctx, session, 'host_no_show');
    await ctx.em.flush();
  }
}

/** When a live session ends by itself: 14 h after its start; 2 h after its end once nobody of the host team was there for 10 min. */
export const OVERRUN_AT = `least(started_at + interval '14 hours',
  case when host_absent_since is null then null else greatest(ends_at + interval '2 hours', host_absent_since + interval '10 minutes') end)`;
const OVERRUNS = `select id from live.live_session where status = 'live' and ${OVERRUN_AT} <= $1 order by starts_at limit ${AT_ONCE}`;

export async function endOverruns(ctx: Context, at: Date): Promise<void> {
  for (const { id } of await ctx.sql<{ id: string }>(OVERRUNS, [at.toISOString()])) {
    const session = await lockSession(ctx, id).catch(() => null);
    if (session?.status === LiveSessionStatus.LIVE) await endSession(ctx, session, LiveSessionEndReason.OVERRUN);
    await ctx.em.flush();
  }
}

/** When a call that is not over ends by itself. */
export const CALL_END_AT = `case when status = 'created' then closes_at
  else least(closes_at + interval '30 minutes', empty_since + interval '2 minutes', alone_since + interval '10 minutes') end`;
const CALLS = `select id from live.live_call where status in ('created', 'active') and ${CALL_END_AT} <= $1 order by closes_at limit ${AT_ONCE}`;

export async function endCalls(ctx: Context, at: Date): Promise<void> {
  for (const { id } of await ctx.sql<{ id: string }>(CALLS, [at.toISOString()])) {
    const call = await lockRow(ctx, LiveCall, { id });
    if (call.status === LiveCallStatus.CREATED) await finishCall(ctx, call, 'expire', null);
    else if (call.status === LiveCallStatus.ACTIVE) await finishCall(ctx, call, 'end', reasonOf(call, at));
    await ctx.em.flush();
  }
}

const reasonOf = (call: LiveCall, at: Date): LiveCallEndReason => LiveCallEndReason[callEndDue(call, at) ?? 'WINDOW_OVER'];
