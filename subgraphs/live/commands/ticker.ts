import { loggedError } from '../../../runtime/observe/log.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { LiveSession } from '../entities/session.js';
import { sessionFeed, shownCounts } from './feeds.js';

/** At most one entry of votes and one of counts per session in so many milliseconds. Source: live 4.8. */
const TICK_MS = 500;

const pending = new WeakMap<ServiceHost, Map<string, NodeJS.Timeout>>();

/** Somebody else was quicker than the interval allows. */
class TooEarly extends Error {}

const VOTES =
  'update live.live_question set votes_dirty = false where session_id = $1 and votes_dirty returning id, vote_count as count, status';
const COUNTS = 'update live.live_session set counts_dirty = false where id = $1 and counts_dirty returning 1';

/** Tells the stream what has changed since the last entry. Locks questions, then the session, then the stream. */
async function tell(ctx: Context, sessionId: string): Promise<void> {
  const votes = await ctx.sql<{ id: string; count: number; status: string }>(VOTES, [sessionId]);
  const isCounted = (await ctx.sql(COUNTS, [sessionId])).length > 0;
  if (votes.length === 0 && !isCounted) return;
  if (!(await sessionFeed.claimTick(ctx, sessionId, TICK_MS))) throw new TooEarly();
  const session = isCounted ? await ctx.em.findOneOrFail(LiveSession, { id: sessionId }) : null;
  const shown = votes.filter(({ status }) => status === 'approved' || status === 'answered');
  await sessionFeed.append(ctx, sessionId, [
    ...(shown.length > 0 ? [{ type: 'votes', payload: { counts: Object.fromEntries(shown.map(({ id, count }) => [id, count])) } }] : []),
    ...(session ? [{ type: 'counts', payload: shownCounts(session) }] : []),
  ]);
}

/** Tells a session's stream of its changed votes and counts within half a second, once for all that come by then. */
export function tickSoon(host: ServiceHost, sessionId: string): void {
  const timers = pending.get(host) ?? new Map<string, NodeJS.Timeout>();
  pending.set(host, timers);
  if (timers.has(sessionId)) return;
  const run = (): void => {
    timers.delete(sessionId);
    host
      .transaction(ctx => tell(ctx, sessionId))
      .catch(error => {
        if (error instanceof TooEarly) tickSoon(host, sessionId);
        else host.log.warn({ err: loggedError(error) }, 'a stream was not told of votes and counts');
      });
  };
  timers.set(sessionId, setTimeout(run, TICK_MS).unref());
}

/** After this transaction. */
export const tickAfter = (ctx: Context, sessionId: string): void => ctx.afterCommit(() => tickSoon(ctx.host, sessionId));

const DIRTY = `select id from live.live_session where counts_dirty
  union select session_id as id from live.live_question where votes_dirty limit 100`;

/** Sessions whose process ended before it told. */
export async function tickForgotten(host: ServiceHost): Promise<void> {
  const dirty = await host.read(ctx => ctx.sql<{ id: string }>(DIRTY));
  for (const { id } of dirty) tickSoon(host, id);
}

/** Ends what waits, when the process leaves. */
export function stopTicks(host: ServiceHost): void {
  for (const timer of pending.get(host)?.values() ?? []) clearTimeout(timer);
  pending.delete(host);
}
