import { loggedError } from '../../../runtime/observe/log.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { LiveSession } from '../entities/session.js';
import { sessionFeed, shownCounts } from './feeds.js';

/** At most one entry of votes and one of counts per session in so many milliseconds. Source: live 4.8. */
const TICK_MS = 500;
/** How long the first change after a rest waits for others. */
const GATHER_MS = 100;

/** What a process has planned, by session. */
class Ticks {
  readonly timers = new Map<string, NodeJS.Timeout>();
  /** Told less than an interval ago, here or elsewhere: when that is over, by the process's own clock. */
  readonly rests = new Map<string, number>();

  rest(sessionId: string, ms: number): void {
    this.rests.set(sessionId, performance.now() + ms);
    setTimeout(() => this.rests.delete(sessionId), ms).unref();
  }

  waitOf(sessionId: string): number {
    return Math.max(GATHER_MS, (this.rests.get(sessionId) ?? 0) - performance.now());
  }
}

const known = new WeakMap<ServiceHost, Ticks>();

function ticksOf(host: ServiceHost): Ticks {
  if (!known.has(host)) known.set(host, new Ticks());
  return known.get(host)!;
}

/** Another process was quicker than the interval allows. */
class TooEarly extends Error {
  constructor(readonly waitMs: number) {
    super('told less than an interval ago');
  }
}

const VOTES =
  'update live.live_question set votes_dirty = false where session_id = $1 and votes_dirty returning id, vote_count as count, status';
const COUNTS = 'update live.live_session set counts_dirty = false where id = $1 and counts_dirty returning 1';

/** Tells the stream what has changed since the last entry. Locks questions, then the session, then the stream. */
async function tell(ctx: Context, sessionId: string): Promise<void> {
  const votes = await ctx.sql<{ id: string; count: number; status: string }>(VOTES, [sessionId]);
  const isCounted = (await ctx.sql(COUNTS, [sessionId])).length > 0;
  if (votes.length === 0 && !isCounted) return;
  const wait = await sessionFeed.claimTick(ctx, sessionId, TICK_MS);
  if (wait > 0) throw new TooEarly(wait);
  const session = isCounted ? await ctx.em.findOneOrFail(LiveSession, { id: sessionId }) : null;
  const shown = votes.filter(({ status }) => status === 'approved' || status === 'answered');
  await sessionFeed.append(ctx, sessionId, [
    ...(shown.length > 0 ? [{ type: 'votes', payload: { counts: Object.fromEntries(shown.map(({ id, count }) => [id, count])) } }] : []),
    ...(session ? [{ type: 'counts', payload: shownCounts(session) }] : []),
  ]);
}

/** Tells a session's stream of its changed votes and counts within half a second, once for all that come by then. */
export function tickSoon(host: ServiceHost, sessionId: string): void {
  const ticks = ticksOf(host);
  if (ticks.timers.has(sessionId)) return;
  const run = (): void => {
    ticks.timers.delete(sessionId);
    host
      .transaction(ctx => tell(ctx, sessionId))
      .then(() => ticks.rest(sessionId, TICK_MS))
      .catch(error => {
        if (!(error instanceof TooEarly)) return host.log.warn({ err: loggedError(error) }, 'a stream was not told of votes and counts');
        ticks.rest(sessionId, error.waitMs); // also for votes that come meanwhile: each attempt locks questions
        tickSoon(host, sessionId);
      });
  };
  ticks.timers.set(sessionId, setTimeout(run, ticks.waitOf(sessionId)).unref());
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
  for (const timer of ticksOf(host).timers.values()) clearTimeout(timer);
  known.delete(host);
}
