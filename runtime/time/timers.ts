import { keepLease } from '../../events/leases.js';
import { repeat } from '../../events/repeat.js';
import type { Timer } from './clock.js';
import type { Context, ServiceHost } from '../request/context.js';
import { loggedError } from '../observe/log.js';
import { dropOldKeys } from '../data/idempotency.js';
import { readManualClock } from '../data/transaction.js';
import { earliestOfEach, type NextByQuery } from './due.js';
import { HOUR_MS, SECOND_MS } from './durations.js';
import { CLAIM_SECONDS } from './schedule.js';

const DEFAULT_CHECK_SECONDS = 15;
/** The manual clock waits for a timer that works, looking so often. */
const LOOK_AGAIN_MS = 10;
/** Inbox rows outlive the 30 days of the log, so that a replay is always recognised. Source: event-machinery 7. */
const INBOX_DAYS = 35;
/** A guard against a timer whose `run` does not move its `next` on. */
const MAX_RUNS_PER_INSTANT = 100_000;

const lockName = (host: ServiceHost, timer: Timer<Context>): string => `timer:${host.slug}:${timer.name}`;

/** Runs a timer once if it is due at or before `until`; one process at a time. Answers the instant it ran for, or null. */
async function runDue(host: ServiceHost, timer: Timer<Context>, until: Date): Promise<Date | null> {
  const due = await host.transaction(ctx => runOrClaim(ctx, timer, until));
  if (!due) return null;
  if (timer.claimed) await runClaimed(host, timer, due);
  host.metrics.timers.inc({ service: host.slug, timer: timer.name, outcome: 'done' });
  return due.at;
}

/** An instant at which a timer is due, and what it has claimed. */
interface Taken {
  at: Date;
  claim: unknown;
}

async function runOrClaim(ctx: Context, timer: Timer<Context>, until: Date): Promise<Taken | null> {
  const [lock] = await ctx.sql<{ ok: boolean }>('select pg_try_advisory_xact_lock(hashtextextended($1, 13)) as ok', [
    lockName(ctx.host, timer),
  ]);
  if (!lock?.ok) return null;
  const at = await timer.next(ctx);
  if (at === null || at > until) return null;
  return { at, claim: await (timer.claimed ? timer.claimed.claim(ctx, at) : timer.run(ctx, at)) };
}

/** Works outside a transaction and keeps the claim up meanwhile. */
async function runClaimed(host: ServiceHost, timer: Timer<Context>, { at, claim }: Taken): Promise<void> {
  const stopKeeping = keepLease(() => host.transaction(ctx => timer.claimed!.keep(ctx, at)), CLAIM_SECONDS * SECOND_MS);
  try {
    await host.read(ctx => timer.run(ctx, at, claim));
  } finally {
    await stopKeeping();
  }
  await host.transaction(ctx => timer.claimed!.finish(ctx, at));
}

const maxDate = (a: Date, b: Date): Date => (a > b ? a : b);

interface Due {
  timer: Timer<Context>;
  at: Date;
}

/** Whether a timer is at work on an instant that it has claimed, in whatever process. */
const isWorking = async (ctx: Context, { claimed }: Timer<Context>): Promise<boolean> => (await claimed?.running?.(ctx)) ?? false;

/** The timer that is due first, if any is due at or before `until`, and the clock; null while a timer of this service works, after which others may be due. */
async function earliest(host: ServiceHost, until: Date): Promise<{ due: Due | undefined; now: Date } | null> {
  const { timers } = host;
  return host.read(async ctx => {
    if ((await Promise.all(timers.map(timer => isWorking(ctx, timer)))).includes(true)) return null;
    const seen = await Promise.all(timers.map(async timer => ({ timer, at: await timer.next(ctx) })));
    const ready = seen.filter((one): one is Due => one.at !== null && one.at <= until);
    return { due: ready.sort((a, b) => a.at.getTime() - b.at.getTime())[0], now: ctx.now() };
  });
}

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/**
 * Moves a service's manual clock to `target`: again and again the earliest timer that is due, the clock standing at its instant,
 * and at last the clock itself. Source: conventions 8.
 */
export async function advanceTo(host: ServiceHost, target: Date): Promise<void> {
  const isFirst = (await host.read(readManualClock)) === null;
  for (let runs = 0; runs < MAX_RUNS_PER_INSTANT; runs++) {
    let next = await earliest(host, target);
    for (; !next; next = await earliest(host, target)) await pause(LOOK_AGAIN_MS); // the scheduler's own check came first
    if (!next.due) break;
    await setClock(host, maxDate(next.due.at, next.now), target);
    await runDue(host, next.due.timer, next.due.at);
  }
  await setClock(host, target, target);
  if (isFirst) await forgetSlotsAhead(host, target);
}

/**
 * A clock that is first set to the past will come to slots that the wall clock has seen: they are run when it does. Whoever claims one by the
 * wall clock at this moment has the lock of its timer, and is waited for.
 */
async function forgetSlotsAhead(host: ServiceHost, target: Date): Promise<void> {
  await host.transaction(async ctx => {
    for (const timer of host.timers) await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 13))', [lockName(host, timer)]);
    await ctx.sql(`delete from ${ctx.schema}.schedule_slot where slot > $1`, [target.toISOString()]);
  });
}

async function setClock(host: ServiceHost, at: Date, limit: Date): Promise<void> {
  const instant = at > limit ? limit : at;
  await host.transaction(ctx =>
    ctx.sql(
      `insert into ${ctx.schema}.test_clock (now) values ($1) on conflict (only_row) do update set now = greatest(test_clock.now, excluded.now)`,
      [instant.toISOString()],
    ),
  );
}

async function check(host: ServiceHost, timer: Timer<Context>): Promise<void> {
  try {
    while (await runDue(host, timer, await host.read(async ctx => ctx.now())));
  } catch (error) {
    host.metrics.timers.inc({ service: host.slug, timer: timer.name, outcome: 'failed' });
    host.log.error({ err: loggedError(error), timer: timer.name }, 'a timer failed; it is tried again');
  }
}

/** Whether a timer has something due now, or cannot say: its own run finds out then, and says why. */
async function isDue(ctx: Context, timer: Timer<Context>): Promise<boolean> {
  try {
    const at = await timer.next(ctx);
    return at !== null && at <= ctx.now();
  } catch {
    return true;
  }
}

const isQuery = (timer: Timer<Context>): timer is Timer<Context> & { next: NextByQuery } => 'waiting' in timer.next;

/** Whether something is due, of the timers that a query tells it of; of none where a query fails: each is then asked, and fails alone. */
async function dueTogether(ctx: Context, timers: readonly Timer<Context>[]): Promise<Map<Timer<Context>, boolean>> {
  const asked = timers.filter(isQuery);
  if (asked.length < 2) return new Map();
  try {
    const all = asked.map(({ next }) => next.waiting(ctx));
    const now = ctx.now();
    return new Map((await earliestOfEach(ctx, all)).map((at, index) => [asked[index]!, at !== null && at <= now]));
  } catch {
    return new Map();
  }
}

/**
 * The timers of a service that look equally often. Nearly always nothing is due, so they are asked without a transaction and without the
 * lock that keeps other processes out: a process with eighteen services has a hundred timers. One that works is not asked meanwhile.
 */
class Checks {
  readonly #running = new Map<Timer<Context>, Promise<void>>();

  constructor(
    private readonly host: ServiceHost,
    private readonly timers: readonly Timer<Context>[],
  ) {}

  async round(): Promise<void> {
    const due = await this.host.read(async ctx => {
      const found = await dueTogether(ctx, this.timers);
      for (const timer of this.timers) if (!found.has(timer)) found.set(timer, !this.#running.has(timer) && (await isDue(ctx, timer))); // one connection is enough for all
      return found;
    });
    for (const timer of this.timers) if (due.get(timer) && !this.#running.has(timer)) this.#run(timer);
  }

  #run(timer: Timer<Context>): void {
    this.#running.set(
      timer,
      check(this.host, timer).finally(() => this.#running.delete(timer)),
    );
  }

  async drained(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}

/** Looks at the timers of a service again and again; the stop waits for those that work. */
function checking(host: ServiceHost, timers: readonly Timer<Context>[], everySeconds: number, firstMs: number): () => Promise<void> {
  const checks = new Checks(host, timers);
  const round = (): Promise<void> =>
    checks.round().catch(error => host.log.warn({ err: loggedError(error) }, 'timers could not be looked at; they are looked at again'));
  const stop = repeat(round, everySeconds * SECOND_MS, firstMs);
  return async () => {
    await stop();
    await checks.drained();
  };
}

async function housekeeping(host: ServiceHost): Promise<void> {
  await host
    .transaction(async ctx => {
      await ctx.sql(`select ${ctx.schema}.roll_partitions($1)`, [INBOX_DAYS]);
      await dropOldKeys(ctx);
    })
    .catch(error => host.log.warn({ err: loggedError(error) }, 'housekeeping failed; it is tried again in an hour'));
}

/** Starts a service's timers and its hourly housekeeping (role `scheduler`). @param firstMs until they are first looked at. */
export function startTimers(host: ServiceHost, firstMs = 0): { stop(): Promise<void> } {
  const byPause = Map.groupBy(host.timers, ({ everySeconds = DEFAULT_CHECK_SECONDS }) => everySeconds);
  const stops = [...byPause].map(([everySeconds, timers]) => checking(host, timers, everySeconds, firstMs));
  stops.push(repeat(() => housekeeping(host), HOUR_MS, firstMs));
  return { stop: async () => void (await Promise.all(stops.map(stop => stop()))) };
}
