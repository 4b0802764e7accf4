import type { FastifyInstance } from 'fastify';
import { ruleOf } from '../../../runtime/access/access.js';
import { enforce } from '../../../runtime/access/guard.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { fail } from '../../../runtime/request/errors.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import type { Authenticate, NativePath } from '../../../runtime/service.js';
import type { Viewer } from '../../../runtime/streams/connection.js';
import { serveStreams } from '../../../runtime/streams/streams.js';
import { sessionFeed, shownCounts, shownQuestion, shownRegistration, shownSession } from '../commands/feeds.js';
import { countViewers } from '../commands/vendor.js';
import { READERS, VIEWERS } from '../entities/access.js';
import { LiveQuestionStatus } from '../entities/enums.js';
import { LiveQuestion } from '../entities/question.js';
import { LiveSession } from '../entities/session.js';
import { blockedIn, isOffice, registrationOf, roleOf, visibleSession } from '../queries/people.js';
import { calendarText } from '../queries/session.js';
import { isFound } from '../rules/session.js';

const { PENDING, APPROVED, ANSWERED } = LiveQuestionStatus;
const TOP = 200;

/** The whole state that viewers see, or the host team: the session, its counts, its top questions. */
async function state(ctx: Context, id: string, team: boolean): Promise<object> {
  const session = await ctx.em.findOneOrFail(LiveSession, { id });
  const status = { $in: team ? [PENDING, APPROVED, ANSWERED] : [APPROVED, ANSWERED] };
  const questions = await ctx.em.find(LiveQuestion, { sessionId: id, status }, { orderBy: { voteCount: 'desc', id: 'asc' }, limit: TOP });
  return { session: shownSession(session), counts: shownCounts(session), questions: questions.map(one => shownQuestion(ctx, one)) };
}

/** What only this viewer sees: the own seat, and own questions that are not shown to all. */
async function own(ctx: Context, id: string, { userId }: Viewer): Promise<object> {
  if (userId === null) return { registration: null, questions: [] };
  const registration = await registrationOf(ctx, id, userId);
  const hidden = { $nin: [APPROVED, ANSWERED, LiveQuestionStatus.WITHDRAWN, LiveQuestionStatus.REMOVED] };
  const questions = await ctx.em.find(LiveQuestion, { sessionId: id, userId, status: hidden }, { limit: TOP });
  return { registration: registration && shownRegistration(registration), questions: questions.map(one => shownQuestion(ctx, one)) };
}

const TEAM = 'select user_id as id from live.live_session_host where session_id = $1 and user_id = any($2::uuid[])';
const INVITED = `select user_id as id from live.live_registration where session_id = $1 and user_id = any($2::uuid[]) and source in ('staff', 'host', 'invite')`;

/** Nobody is cut off because follows does not answer: it is asked again in a minute. */
async function blockedNow(ctx: Context, session: LiveSession, userIds: readonly string[]): Promise<ReadonlySet<string>> {
  return blockedIn(ctx, session, userIds).catch(error => {
    ctx.log.warn({ err: loggedError(error) }, 'follows did not say whom the host of a session has blocked');
    return new Set<string>();
  });
}

/** Whoever does not find the session any longer, by the rule of its GET. Who has left the team goes on without what is the team's. */
async function gone(ctx: Context, id: string, viewers: readonly Viewer[]): Promise<ReadonlySet<Viewer>> {
  const session = await ctx.em.findOne(LiveSession, { id });
  if (!session || session.hiddenAt !== null) return new Set(viewers);
  const userIds = [...new Set(viewers.flatMap(({ userId }) => userId ?? []))];
  const idsOf = async (text: string) => new Set((await ctx.sql<{ id: string }>(text, [id, userIds])).map(row => row.id));
  const [team, invited, blocked] = [await idsOf(TEAM), await idsOf(INVITED), await blockedNow(ctx, session, userIds)];
  for (const viewer of viewers) viewer.team &&= isOffice(viewer, 'moderate') || team.has(viewer.userId ?? '');
  const { status, visibility } = session;
  const finds = (userId: string): boolean => team.has(userId) || isFound({ status, visibility, hidden: false }, invited.has(userId));
  const isGone = (userId: string): boolean => blocked.has(userId) || !finds(userId);
  return new Set(viewers.filter(viewer => !isOffice(viewer, 'read') && viewer.userId !== null && isGone(viewer.userId)));
}

const SEEN = `insert into live.live_presence (session_id, user_id, seen_at) select $1, unnest($2::uuid[]), clock_timestamp()
  on conflict (session_id, user_id) do update set seen_at = excluded.seen_at`;

async function seen(ctx: Context, id: string, userIds: readonly string[]): Promise<void> {
  await ctx.sql(SEEN, [id, [...userIds].sort()]);
  await countViewers(ctx, id);
}

async function open(ctx: Context, id: string): Promise<{ team: boolean }> {
  const session = (await visibleSession(ctx, id)) ?? fail('not_found', 'Not found');
  return { team: isOffice(ctx, 'moderate') || (await roleOf(ctx, session.id)) !== null };
}

/** Questions, votes, counts and state of a session as they change, and its calendar file. */
export async function mountStream(app: FastifyInstance, host: ServiceHost, authenticate: Authenticate): Promise<void> {
  serveStreams(
    app,
    host,
    { feed: sessionFeed, path: '/live/v1/sessions/:id/stream', access: VIEWERS, open, gone, state, own, seen },
    authenticate,
  );
  app.get<{ Params: { id: string } }>('/live/v1/sessions/:id/calendar.ics', async (request, reply) => {
    const ctx = await host.context(await authenticate(request));
    enforce(ruleOf(READERS), 'calendar', ctx);
    const session = (await visibleSession(ctx, request.params.id)) ?? fail('not_found', 'Not found');
    return reply.type('text/calendar; charset=utf-8').send(await calendarText(ctx, session, true));
  });
}

export const streamPaths: readonly NativePath[] = [
  {
    method: 'GET',
    path: '/v1/sessions/{id}/stream',
    summary: 'Follow a session as server-sent events',
    status: 200,
    response: { contentType: 'text/event-stream', schema: { type: 'string' } },
  },
  {
    method: 'GET',
    path: '/v1/sessions/{id}/calendar.ics',
    summary: 'Get a session for a calendar',
    status: 200,
    response: { contentType: 'text/calendar', schema: { type: 'string' } },
  },
];
