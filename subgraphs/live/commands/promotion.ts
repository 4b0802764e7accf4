import { liveSessionRegistered, liveSessionWaitlistPromoted } from '../../../events/catalogue/live.js';
import type { Context } from '../../../runtime/request/context.js';
import { LiveCancelledBy, LiveRegistrationSource, LiveRegistrationStatus } from '../entities/enums.js';
import { LiveRegistration } from '../entities/registration.js';
import type { LiveSession } from '../entities/session.js';
import { freeSeats, isPromoting, offerEnd, promotedTo } from '../rules/seats.js';
import { tellRegistrations } from './feeds.js';
import { tickAfter } from './ticker.js';

const { CONFIRMED, WAITLISTED, OFFERED, CANCELLED } = LiveRegistrationStatus;

/** Events of one transaction that promotes: half of what may be emitted, so that whatever else it tells has room. Source: event-machinery 3. */
const MAX_EVENTS = 1_000;

/** Seats that this transaction may still give: each is told by two events at most. */
const givable = ({ events }: Context): number => Math.max(0, Math.floor((MAX_EVENTS - events.length) / 2));

/** Writes down a change of the counts, of which the stream is told. */
export function counted(ctx: Context, session: LiveSession): void {
  const { capacity, confirmed, offered } = session;
  session.exceeded = capacity === null ? 0 : Math.max(0, confirmed + offered - capacity);
  session.countsDirty = true;
  ctx.loaders.clear(); // what was read of seats before
  tickAfter(ctx, session.id);
}

/** A seat is confirmed, by whatever way: once for each confirmation. */
export function emitRegistered(ctx: Context, session: LiveSession, { id, userId }: LiveRegistration): void {
  const data = { session_id: session.id, registration_id: id, starts_at: session.startsAt.toISOString() };
  ctx.emit(liveSessionRegistered, data, { userId, brandId: session.brandId });
}

function give(ctx: Context, session: LiveSession, registration: LiveRegistration): void {
  const now = ctx.now();
  const status = promotedTo(session, now);
  const confirmBy = status === OFFERED ? offerEnd(session, now) : null;
  Object.assign(registration, { status, confirmBy, confirmedAt: status === CONFIRMED ? now : null, version: registration.version + 1 });
  session.waitlisted--;
  if (status === CONFIRMED) session.confirmed++;
  else session.offered++;
  const data = { session_id: session.id, registration_id: registration.id, confirm_by: confirmBy?.toISOString() ?? null };
  ctx.emit(liveSessionWaitlistPromoted, data, { userId: registration.userId, brandId: session.brandId });
  if (status === CONFIRMED) emitRegistered(ctx, session, registration);
}

/** Somebody who may not take part any more is passed over, and leaves the queue. */
function skip(ctx: Context, session: LiveSession, registration: LiveRegistration): void {
  Object.assign(registration, {
    status: CANCELLED,
    cancelledAt: ctx.now(),
    cancelledBy: LiveCancelledBy.SYSTEM,
    version: registration.version + 1,
  });
  session.waitlisted--;
}

/**
 * Gives free seats to those who wait, in their order, in the transaction that freed them and under the session's lock: so a freed seat is
 * never given to anybody else while somebody waits. A queue of thousands is promoted in pieces, of which the timer `live-queues` does the
 * next. @param denied users who may not take part any more. Source: live 7.1, 7.2.
 */
export async function promote(ctx: Context, session: LiveSession, denied: ReadonlySet<string>): Promise<LiveRegistration[]> {
  const changed: LiveRegistration[] = [];
  while (session.waitlisted > 0 && freeSeats(session) > 0 && givable(ctx) > 0 && isPromoting(session, ctx.now())) {
    await ctx.em.flush(); // what the caller has changed is what the queue is read from
    const limit = Math.min(givable(ctx), freeSeats(session));
    const order = { orderBy: { queueNo: 'asc' }, limit, refresh: true } as const;
    const first = await ctx.em.find(LiveRegistration, { sessionId: session.id, status: WAITLISTED }, order);
    if (first.length === 0) break;
    for (const one of first) (denied.has(one.userId) ? skip : give)(ctx, session, one);
    changed.push(...first);
  }
  if (changed.length > 0) counted(ctx, session);
  await ctx.em.flush();
  await tellRegistrations(ctx, session.id, changed);
  return changed;
}

/** Sources of a seat that somebody else gave. */
export const isInvitation = ({ source }: Pick<LiveRegistration, 'source'>): boolean => source === LiveRegistrationSource.INVITE;
