import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, page, type Connection } from '../../../runtime/request/paging.js';
import { LiveAccessReason, LiveRecordingStatus, LiveRegistrationStatus, LiveSessionStatus, LiveVisibility } from '../entities/enums.js';
import { LiveRecording } from '../entities/recording.js';
import { LiveRegistration } from '../entities/registration.js';
import { LiveSession, LiveSessionHost } from '../entities/session.js';
import type { LiveAccess } from '../entities/values.js';
import type { LiveSessionsArgs } from '../inputs/session.js';
import { brandName, featuresOf, type Feature } from '../ports/neighbours.js';
import { providerOf } from '../ports/providers.js';
import { isOffice, ownRegistration, ownRole, unblocked } from './people.js';
import { calendarOf } from './calendar.js';

const { DRAFT, SCHEDULED, LIVE, ENDED, CANCELLED } = LiveSessionStatus;
const { CONFIRMED, WAITLISTED, OFFERED } = LiveRegistrationStatus;

const HOSTED = 'select session_id as id from live.live_session_host where user_id = $1';
const HELD = 'select session_id as id from live.live_registration where user_id = $1 and status = any($2)';

const idsOf = async (ctx: Context, text: string, params: unknown[]): Promise<string[]> =>
  (await ctx.sql<{ id: string }>(text, params)).map(({ id }) => id);

async function narrowed(ctx: Context, args: LiveSessionsArgs): Promise<FilterQuery<LiveSession>[]> {
  const { kind, tag, from, to, hostUserId, registered } = args;
  const filters: FilterQuery<LiveSession>[] = [];
  if (kind) filters.push({ kind });
  if (tag) filters.push({ tags: { $contains: [tag] } });
  if (from) filters.push({ startsAt: { $gte: from } });
  if (to) filters.push({ startsAt: { $lt: to } });
  if (hostUserId) filters.push({ id: { $in: await idsOf(ctx, HOSTED, [hostUserId]) } });
  if (registered && ctx.caller.userId)
    filters.push({ id: { $in: await idsOf(ctx, HELD, [ctx.caller.userId, [CONFIRMED, WAITLISTED, OFFERED]]) } });
  return filters;
}

/** Soonest first, unless only what is over is asked for. */
function listed(
  ctx: Context,
  where: FilterQuery<LiveSession>[],
  status: readonly LiveSessionStatus[],
  args: LiveSessionsArgs,
): Promise<Connection<LiveSession>> {
  const isPast = status.every(one => one === ENDED || one === CANCELLED);
  const filter = { $and: [...where, { status: { $in: [...status] } }] } as FilterQuery<LiveSession>;
  return page(
    ctx.em,
    LiveSession,
    filter,
    { first: args.first, after: args.after },
    { time: 'startsAt', direction: isPast ? 'desc' : 'asc' },
  );
}

/** Sessions that are listed for everybody: public ones of the token's brand, without those whose host and the caller have blocked each other. */
export async function sessionsPage(ctx: Context, args: LiveSessionsArgs): Promise<Connection<LiveSession>> {
  if (args.after) decodeCursor(args.after, 2);
  const status = (args.status?.length ? args.status : [SCHEDULED, LIVE]).filter(one => one !== DRAFT);
  const office = isOffice(ctx, 'read');
  const { brandId } = ctx.caller;
  const shown: FilterQuery<LiveSession>[] = [{ hiddenAt: null }];
  const isOwn = args.registered === true && ctx.caller.userId !== null;
  if (!office && !isOwn) shown.push({ visibility: LiveVisibility.PUBLIC });
  if (!office && brandId) shown.push({ brandId });
  const found = await listed(ctx, [...shown, ...(await narrowed(ctx, args))], status, args);
  return { ...found, nodes: await unblocked(ctx, found.nodes) };
}

/** Every session, for staff and services. */
export async function adminSessionsPage(ctx: Context, args: LiveSessionsArgs, withDeleted: boolean): Promise<Connection<LiveSession>> {
  const status = args.status?.length ? args.status : [DRAFT, SCHEDULED, LIVE, ENDED, CANCELLED];
  return listed(ctx, [...(withDeleted ? [] : [{ hiddenAt: null }]), ...(await narrowed(ctx, args))], status, args);
}

export const sessionsOfBrand = (ctx: Context, brandId: string, args: LiveSessionsArgs): Promise<Connection<LiveSession>> =>
  listed(
    ctx,
    [{ brandId, hiddenAt: null, visibility: LiveVisibility.PUBLIC }],
    args.status?.length ? args.status.filter(one => one !== DRAFT) : [SCHEDULED, LIVE],
    args,
  );

export async function hostedPage(
  ctx: Context,
  userId: string,
  args: { first: number; after?: string | null },
): Promise<Connection<LiveSession>> {
  const ids = (await ctx.em.find(LiveSessionHost, { userId })).map(({ sessionId }) => sessionId);
  return page(ctx.em, LiveSession, { id: { $in: ids }, hiddenAt: null }, args, { time: 'startsAt' });
}

export async function ownRegistrations(
  ctx: Context,
  userId: string,
  upcoming: boolean,
  args: { first: number; after?: string | null },
): Promise<Connection<LiveRegistration>> {
  const soon = upcoming
    ? (
        await ctx.em.find(LiveSession, {
          endsAt: { $gt: ctx.now() },
          id: { $in: await idsOf(ctx, HELD, [userId, [CONFIRMED, WAITLISTED, OFFERED]]) },
        })
      ).map(({ id }) => id)
    : null;
  const where = { userId, ...(soon && { sessionId: { $in: soon }, status: { $in: [CONFIRMED, WAITLISTED, OFFERED] } }) };
  return page(ctx.em, LiveRegistration, where, args, { time: 'registeredAt' });
}

/** Whether the caller has a feature, asked once for all of a list. */
async function ownFeature(ctx: Context, key: string): Promise<Feature> {
  const feature = await ctx.load('live.feature', key, async keys => {
    const known = await featuresOf(ctx, ctx.caller.userId!, keys);
    return keys.map(one => known.get(one) ?? null);
  });
  return feature ?? { allowed: false, upgradeTo: [] };
}

const OPEN: LiveAccess = { allowed: true, reason: LiveAccessReason.NONE, upgradeTo: [] };

/** Whether the caller may take part in a session; for services and the host team it is open. */
export async function accessOf(ctx: Context, session: LiveSession): Promise<LiveAccess> {
  if (ctx.caller.kind !== 'user' || isOffice(ctx, 'read') || (await ownRole(ctx, session.id)) !== null) return OPEN;
  if (session.visibility === LiveVisibility.INVITE) {
    const status = (await ownRegistration(ctx, session.id))?.status;
    if (status !== CONFIRMED && status !== OFFERED && status !== WAITLISTED)
      return { ...OPEN, allowed: false, reason: LiveAccessReason.INVITE_ONLY };
  }
  if (session.requiredFeature === null) return OPEN;
  const { allowed, upgradeTo } = await ownFeature(ctx, session.requiredFeature);
  return allowed ? OPEN : { allowed, reason: LiveAccessReason.FEATURE_REQUIRED, upgradeTo };
}

/** Recordings that the caller may watch; those with a part in it and the office also see which are made. */
export async function recordingsPage(
  ctx: Context,
  session: LiveSession,
  args: { first: number; after?: string | null },
): Promise<Connection<LiveRecording>> {
  const all = isOffice(ctx, 'read') || (await ownRole(ctx, session.id)) !== null;
  if (!all && !(await accessOf(ctx, session)).allowed) return { nodes: [], pageInfo: { endCursor: null, hasNextPage: false } };
  const status = all ? { $ne: LiveRecordingStatus.DELETED } : LiveRecordingStatus.READY;
  return page(ctx.em, LiveRecording, { sessionId: session.id, status }, args, { time: 'createdAt' });
}

/** Signed, for those who may watch; null while there is nothing to watch, and where the vendor has no address. */
export async function recordingUrl(ctx: Context, recording: LiveRecording): Promise<string | null> {
  if (recording.status !== LiveRecordingStatus.READY) return null;
  return providerOf(ctx.host).playbackUrl(recording.sessionId, recording.vendorRef);
}

/** The file of a calendar. @param detail shows the title. */
export async function calendarText(ctx: Context, session: LiveSession, detail: boolean): Promise<string> {
  if (detail) return calendarOf(session, session.title);
  const brand = await brandName(ctx, session.brandId);
  return calendarOf(session, brand === null ? 'Live session' : `Live session, ${brand}`);
}
