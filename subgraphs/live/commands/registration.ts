import { messageSendRequested } from '../../../events/catalogue/comms.js';
import { liveRegistrationCreated } from '../../../events/catalogue/live.js';
import { newId } from '../../../runtime/data/ids.js';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { LiveCancelledBy, LiveRegistrationSource, LiveRegistrationStatus, LiveSessionStatus, LiveVisibility } from '../entities/enums.js';
import { LiveRegistration } from '../entities/registration.js';
import { LiveSession } from '../entities/session.js';
import type { RegisterForLiveSessionInput } from '../inputs/registration.js';
import { featureOf } from '../ports/neighbours.js';
import { isOffice, registrationOf, roleOf, visibleSession } from '../queries/people.js';
import { waitingWithout } from '../queries/registration.js';
import { freeSeats, holdsSeat, isWindowOpen, placeFor } from '../rules/seats.js';
import { mayRun } from '../rules/session.js';
import { tellRegistrations } from './feeds.js';
import { counted, emitRegistered, isInvitation, promote } from './promotion.js';

const { CONFIRMED, WAITLISTED, OFFERED, CANCELLED, EXPIRED } = LiveRegistrationStatus;
const { SELF, STAFF, INVITE, JOIN } = LiveRegistrationSource;

/** A session that is there for the caller, locked: the lock of its seats. @throws Problem not_found */
export const lockSession = (ctx: Context, id: string): Promise<LiveSession> => lockRow(ctx, LiveSession, { id, hiddenAt: null });

interface Asked {
  userId: string;
  allowed: boolean;
  source: LiveRegistrationSource;
  /** Of the queue, where an offer that has run out gives its seat to the next. */
  denied: ReadonlySet<string>;
}

/** Who is to be registered, how, and whether they have what the session requires. */
export const asked = preparation(async (ctx: Context, { input }: { input: RegisterForLiveSessionInput }): Promise<Asked> => {
  const session = (await visibleSession(ctx, input.sessionId)) ?? fail('not_found', 'Not found');
  const { userId, source } = await whom(ctx, session, input.userId);
  const allowed = session.requiredFeature === null || source === STAFF || (await featureOf(ctx, userId, session.requiredFeature)).allowed;
  const isOffered = session.offered > 0 && (await registrationOf(ctx, session.id, userId))?.status === OFFERED;
  return { userId, source, allowed, denied: isOffered ? await waitingWithout(ctx, session.id) : new Set() };
});

async function whom(ctx: Context, session: LiveSession, userId: string | null | undefined): Promise<Pick<Asked, 'userId' | 'source'>> {
  const own = ctx.caller.userId;
  if (ctx.caller.kind === 'user' && (userId == null || userId.toLowerCase() === own)) return { userId: own!, source: SELF };
  if (isOffice(ctx, 'session')) return { userId: ctx.subject(userId).toLowerCase(), source: STAFF };
  if (!mayRun(await roleOf(ctx, session.id))) fail('not_found', 'Not found'); // another user's
  return { userId: userId!.toLowerCase(), source: INVITE };
}

const REFUSED: Partial<Record<LiveSessionStatus, string>> = {
  [LiveSessionStatus.ENDED]: 'a session that is ended takes no registrations',
  [LiveSessionStatus.CANCELLED]: 'a session that is cancelled takes no registrations',
  [LiveSessionStatus.DRAFT]: 'a session that is a draft takes no registrations',
};

function requireOpen(ctx: Context, session: LiveSession): void {
  const refused = REFUSED[session.status];
  if (refused) fail('conflict', refused);
  if (!isWindowOpen(session, ctx.now())) fail('conflict', 'Registration is closed', { reason: 'registration_closed' });
}

/** An invitation that was cancelled or has expired is over: only another one opens the session. @throws Problem forbidden `invite_only` */
async function requireInvited(ctx: Context, { id, visibility }: LiveSession): Promise<void> {
  if (visibility === LiveVisibility.INVITE && (await roleOf(ctx, id)) === null)
    fail('forbidden', 'This session is for those who are invited', { reason: 'invite_only' });
}

interface Registering {
  /** What the user has of the session, read under its lock. */
  before: LiveRegistration | null;
  overrideCapacity?: boolean | null;
}

/** Registers somebody in a locked session, or answers with what they have: 200. @throws Problem conflict `session_full`, `registration_closed`; forbidden `feature_required`, `invite_only`. */
export async function register(ctx: Context, session: LiveSession, { before, overrideCapacity }: Registering): Promise<LiveRegistration> {
  const { userId, source, allowed, denied } = asked.of(ctx);
  if (before && (before.status === CONFIRMED || before.status === WAITLISTED)) return repeated(ctx, before);
  requireOpen(ctx, session);
  if (!allowed) fail('forbidden', 'This session needs a feature that the user does not have', { reason: 'feature_required' });
  if (before?.status === OFFERED && source === INVITE) return repeated(ctx, before);
  if (before?.status === OFFERED && before.confirmBy! > ctx.now()) return repeated(ctx, await takeOffer(ctx, session, before));
  if (source === SELF) await requireInvited(ctx, session);
  if (before?.status === OFFERED) await expire(ctx, session, before, denied);
  const status = statusFor(session, source, overrideCapacity === true && source === STAFF);
  return enter(ctx, session, { before, userId, source, status });
}

function repeated(ctx: Context, registration: LiveRegistration): LiveRegistration {
  ctx.status(200);
  return registration;
}

function statusFor(session: LiveSession, source: LiveRegistrationSource, mayExceed: boolean): LiveRegistrationStatus {
  if (mayExceed) return CONFIRMED;
  const status = placeFor(session);
  if (status === null || (source === INVITE && status !== CONFIRMED)) return full(session);
  return source === INVITE ? OFFERED : status;
}

export const full = ({ confirmed, offered, capacity, waitlistEnabled }: LiveSession): never =>
  fail('conflict', `${confirmed + offered} of ${capacity} seats taken, waitlist ${waitlistEnabled ? 'full' : 'off'}`, {
    reason: 'session_full',
  });

interface Entry {
  before: LiveRegistration | null;
  userId: string;
  source: LiveRegistrationSource;
  status: LiveRegistrationStatus;
}

/** A row is made or revived, at the end of the order of arrival. */
export async function enter(ctx: Context, session: LiveSession, { before, userId, source, status }: Entry): Promise<LiveRegistration> {
  const now = ctx.now();
  const row = before ?? Object.assign(new LiveRegistration(), { id: newId(), sessionId: session.id, userId, version: 0 });
  const times = {
    registeredAt: now,
    confirmedAt: status === CONFIRMED ? now : null,
    confirmBy: status === OFFERED ? session.startsAt : null,
  };
  Object.assign(row, {
    source,
    status,
    ...times,
    cancelledAt: null,
    cancelledBy: null,
    queueNo: session.nextQueueNo++,
    version: row.version + 1,
  });
  if (status === CONFIRMED) session.confirmed++;
  else if (status === OFFERED) session.offered++;
  else session.waitlisted++;
  counted(ctx, session);
  ctx.em.persist(row);
  announce(ctx, session, row);
  ctx.audit('live_registration.made', row.id, { session_id: session.id, status, source, exceeded: session.exceeded });
  return row;
}

function announce(ctx: Context, session: LiveSession, row: LiveRegistration): void {
  const about = { userId: row.userId, brandId: session.brandId };
  if (row.status === OFFERED) return invite(ctx, session, row);
  const isWaiting = row.status === WAITLISTED;
  const data = { registration_id: row.id, session_id: session.id, status: isWaiting ? ('waitlisted' as const) : ('confirmed' as const) };
  ctx.emit(liveRegistrationCreated, { ...data, position: isWaiting ? session.waitlisted : null }, about);
  if (!isWaiting) emitRegistered(ctx, session, row);
}

/** Messages of this service hold ids and times; what is shown of them, comms asks for. */
export function requestMessage(ctx: Context, template: string, session: LiveSession, row: LiveRegistration, dedupeKey: string): void {
  const params = { session_id: session.id, registration_id: row.id, starts_at: session.startsAt.toISOString() };
  const channels = ['email', 'push', 'in_app'] as ('email' | 'push' | 'in_app')[];
  const message = {
    request_id: newId(),
    template,
    channels,
    params,
    dedupe_key: dedupeKey,
    category: 'transactional' as const,
    send_after: null,
  };
  const recipient = { recipient_type: 'user' as const, recipient_id: null };
  ctx.emit(messageSendRequested, { ...message, ...recipient }, { userId: row.userId, brandId: session.brandId });
}

const invite = (ctx: Context, session: LiveSession, row: LiveRegistration): void =>
  requestMessage(ctx, 'live_invitation', session, row, `live:invite:${row.id}:${row.registeredAt.toISOString()}`);

/** An offered seat is taken. */
export async function takeOffer(ctx: Context, session: LiveSession, row: LiveRegistration): Promise<LiveRegistration> {
  Object.assign(row, { status: CONFIRMED, confirmedAt: ctx.now(), confirmBy: null, version: row.version + 1 });
  session.offered--;
  session.confirmed++;
  counted(ctx, session);
  if (isInvitation(row)) announce(ctx, session, row);
  else emitRegistered(ctx, session, row);
  ctx.audit('live_registration.confirmed', row.id, { session_id: session.id });
  return row;
}

/** The window of an offer is over: its seat goes to the next who may take part. */
export async function expire(ctx: Context, session: LiveSession, row: LiveRegistration, denied: ReadonlySet<string>): Promise<void> {
  Object.assign(row, { status: EXPIRED, confirmBy: null, version: row.version + 1 });
  session.offered--;
  counted(ctx, session);
  ctx.audit('live_registration.expired', row.id, { session_id: session.id });
  await promote(ctx, session, denied);
  await tellRegistrations(ctx, session.id, [row]);
}

/** Ends a registration; its seat goes to the next in the same transaction. Nothing happens to one that holds and waits for none. */
export async function cancelRegistration(
  ctx: Context,
  session: LiveSession,
  row: LiveRegistration,
  { by, denied }: { by: LiveCancelledBy; denied: ReadonlySet<string> },
): Promise<void> {
  if (!holdsSeat(row.status) && row.status !== WAITLISTED) return;
  if (row.status === CONFIRMED) session.confirmed--;
  else if (row.status === OFFERED) session.offered--;
  else session.waitlisted--;
  Object.assign(row, { status: CANCELLED, cancelledAt: ctx.now(), cancelledBy: by, confirmBy: null, version: row.version + 1 });
  counted(ctx, session);
  ctx.audit('live_registration.cancelled', row.id, { session_id: session.id, by });
  await promote(ctx, session, denied);
}

/** Users of the queue who have lost what the session requires; asked before the seats are locked. */
export const denied = preparation(async (ctx: Context, { sessionId }: { sessionId: string }): Promise<ReadonlySet<string>> =>
  waitingWithout(ctx, sessionId),
);

/** Cancels the caller's own. Again: nothing. @throws Problem not_found for somebody never registered; conflict after the end. */
export async function cancelOwn(ctx: Context, sessionId: string): Promise<LiveRegistration> {
  const userId = ctx.caller.userId!;
  if (!(await registrationOf(ctx, sessionId, userId))) fail('not_found', 'Not found');
  const session = await lockSession(ctx, sessionId);
  if (session.status === LiveSessionStatus.ENDED) fail('conflict', 'a registration of a session that is ended cannot be cancelled');
  const row = await lockRow(ctx, LiveRegistration, { sessionId: session.id, userId });
  await cancelRegistration(ctx, session, row, { by: LiveCancelledBy.SELF, denied: denied.of(ctx) });
  return row;
}

/** The seat of somebody who joins: an offer is taken; without a registration one is made where none is required. @throws Problem forbidden, conflict */
export async function seatFor(ctx: Context, session: LiveSession, userId: string, allowed: boolean): Promise<LiveRegistration> {
  const before = await registrationOf(ctx, session.id, userId);
  if (before?.status === CONFIRMED) return before;
  if (before?.status === OFFERED && before.confirmBy! > ctx.now()) return takeOffer(ctx, session, before);
  if (session.registrationRequired) fail('forbidden', 'A confirmed registration is required', { reason: 'registration_required' });
  await requireInvited(ctx, session);
  if (!allowed) fail('forbidden', 'This session needs a feature that the user does not have', { reason: 'feature_required' });
  if (before?.status === WAITLISTED || freeSeats(session) === 0 || session.waitlisted > 0) full(session);
  return enter(ctx, session, { before, userId, source: JOIN, status: CONFIRMED });
}
