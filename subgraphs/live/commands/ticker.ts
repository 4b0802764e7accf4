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
  isOver = false;
  /** Being told now; whether more has changed meanwhile. */
  readonly running = new Map<string, boolean>();
  /** Told less than an interval ago, here or elsewhere: when that is over, by the process's own clock. */
  readonly rests = new Map<string, number>();

  rest(sessionId: string, until: number): void {
    this.rests.set(sessionId, until);
    setTimeout(() => this.rests.get(sessionId) === until && this.rests.delete(sessionId), Math.max(0, until - performance.now())).unref();
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

const COUNTS = 'update live.live_session set counts_dirty = false where id = $1 and counts_dirty returning 1';
const VOTES = 'select id, vote_count as count, status from live.live_question where session_id = $1 and votes_dirty';
/** What was told; whoever holds a question now changes it, and tells again. */
const TOLD = `with free as materialized (select id, vote_count from live.live_question where id = any($1::uuid[]) for update skip locked)
  update live.live_question q set votes_dirty = false from free join unnest($1::uuid[], $2::int[]) told (id, count) using (id)
  where q.id = free.id and free.vote_count = told.count`;

interface Votes {
  id: string;
  count: number;
  status: string;
}

/** What a tick has told, and when it claimed the interval, by the process's own clock; what it does afterwards delays the next one no more. */
interface Told {
  votes: readonly Votes[];
  claimed: number;
}

/**
 * Tells the stream what has changed since the last entry; null for nothing. Locks the session, then the stream. Votes are read without a lock:
 * behind a crowd's transactions for ten questions it waited 120 ms for theirs. As the stream is locked, later entries have later counts.
 */
async function tell(ctx: Context, sessionId: string): Promise<Told | null> {
  const isCounted = (await ctx.sql(COUNTS, [sessionId])).length > 0;
  if (!isCounted && (await ctx.sql(VOTES, [sessionId])).length === 0) return null;
  const wait = await sessionFeed.claimTick(ctx, sessionId, TICK_MS);
  if (wait > 0) throw new TooEarly(wait);
  const claimed = performance.now();
  const votes = await ctx.sql<Votes>(VOTES, [sessionId]);
  const session = isCounted ? await ctx.em.findOneOrFail(LiveSession, { id: sessionId }) : null;
  const shown = votes.filter(({ status }) => status === 'approved' || status === 'answered');
  await sessionFeed.append(ctx, sessionId, [
    ...(shown.length > 0 ? [{ type: 'votes', payload: { counts: Object.fromEntries(shown.map(({ id, count }) => [id, count])) } }] : []),
    ...(session ? [{ type: 'counts', payload: shownCounts(session) }] : []),
  ]);
  return { votes, claimed };
}

/** @throws TooEarly */
async function tick(host: ServiceHost, sessionId: string): Promise<void> {
  const told = await host.transaction(ctx => tell(ctx, sessionId));
  if (told) ticksOf(host).rest(sessionId, told.claimed + TICK_MS);
  const [ids, counts] = [told?.votes.map(({ id }) => id) ?? [], told?.votes.map(({ count }) => count)];
  if (ids.length > 0) await host.transaction(ctx => ctx.sql(TOLD, [ids, counts]));
}

async function run(host: ServiceHost, sessionId: string): Promise<void> {
  const ticks = ticksOf(host);
  ticks.timers.delete(sessionId);
  ticks.running.set(sessionId, false);
  await tick(host, sessionId).catch(error => {
    if (!(error instanceof TooEarly)) return host.log.warn({ err: loggedError(error) }, 'a stream was not told of votes and counts');
    ticks.rest(sessionId, performance.now() + error.waitMs);
    ticks.running.set(sessionId, true);
  });
  const isChanged = ticks.running.get(sessionId);
  ticks.running.delete(sessionId);
  if (isChanged && !ticks.isOver) tickSoon(host, sessionId);
}

/** Tells a session's stream of its changed votes and counts within half a second, once for all that come by then. */
export function tickSoon(host: ServiceHost, sessionId: string): void {
  const ticks = ticksOf(host);
  if (ticks.running.has(sessionId)) ticks.running.set(sessionId, true);
  else if (!ticks.timers.has(sessionId))
    ticks.timers.set(sessionId, setTimeout(() => void run(host, sessionId), ticks.waitOf(sessionId)).unref());
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
  const ticks = ticksOf(host);
  ticks.isOver = true;
  for (const timer of ticks.timers.values()) clearTimeout(timer);
  known.delete(host);
}
