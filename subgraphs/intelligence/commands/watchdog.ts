import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { deadAfter, JOIN_FLOOR, stallReasons, type LoopFacts } from '../rules/liveness.js';
import { raiseAlarm, type AlarmName } from '../queries/alarms.js';
import { daysAfter, joinCounts } from '../queries/cohorts.js';
import { loopFacts } from '../queries/loop-facts.js';
import { loopSettings } from '../queries/settings.js';

/** The watchdog looks this often. Source: intelligence 7.1. */
const EVERY_SECONDS = 300;
const HOUR_MS = 3_600_000;
/** Repeats that the watchdog foresees, so that a clock that jumps passes each; further ones it finds when it looks, which a jump of months does once. */
const FORESEEN = 24;

interface Cause {
  alarm: AlarmName;
  cause: string;
}

/** What is wrong now: reasons of a stall, and joins below the floor with closed outcomes present. */
async function activeCauses(ctx: Context, facts?: LoopFacts): Promise<Cause[]> {
  const settings = loopSettings(ctx);
  const reasons = stallReasons(facts ?? (await loopFacts(ctx)), settings);
  const counts = await joinCounts(ctx, daysAfter(ctx.now(), -settings.windowDays), ctx.now());
  const low = counts.some(({ joined, expired }) => joined / (joined + expired) < JOIN_FLOOR);
  return [
    ...reasons.map(cause => ({ alarm: 'liveness' as const, cause })),
    ...(low ? [{ alarm: 'join' as const, cause: 'join_completeness' }] : []),
  ];
}

interface Told {
  cause: string;
  last_ms: number;
  /** Records of the last day. */
  records: number;
}

/** When each cause was told of in the last day. */
async function toldOf(ctx: Context): Promise<Map<string, Told>> {
  const rows = await ctx.sql<Told>(
    `select cause, (extract(epoch from max(at)) * 1000)::float8 as last_ms, count(*)::int as records from ${ctx.schema}.alarm_record where at > $1 and at <= $2 group by cause`,
    [new Date(ctx.now().getTime() - FORESEEN * HOUR_MS).toISOString(), ctx.now().toISOString()],
  );
  return new Map(rows.map(row => [row.cause, row]));
}

/** When a cause is told of: at once, then an hour after the last time; after a day of it when the watchdog looks, so null until then. */
function tellAt(told: Told | undefined, now: number): number | null {
  const due = told ? Math.max(told.last_ms + HOUR_MS, now) : now;
  return due > now && told!.records >= FORESEEN ? null : due;
}

/** Raises what is active: one record per cause and hour, for as long as it lasts. Source: intelligence 7.1. */
export async function checkAlarms(ctx: Context): Promise<void> {
  const told = await toldOf(ctx);
  const now = ctx.now().getTime();
  for (const { alarm, cause } of await activeCauses(ctx)) {
    if (tellAt(told.get(cause), now) !== now) continue;
    await ctx.sql(`insert into ${ctx.schema}.alarm_record (cause, at) values ($1, $2) on conflict do nothing`, [
      cause,
      ctx.now().toISOString(),
    ]);
    ctx.afterCommit(() => raiseAlarm(ctx, alarm, cause));
  }
}

/** The next instant at which the watchdog has something to tell; null: nothing in sight. */
async function nextAlarm(ctx: Context): Promise<Date | null> {
  const told = await toldOf(ctx);
  const facts = await loopFacts(ctx);
  const now = ctx.now().getTime();
  const causes = await activeCauses(ctx, facts);
  const times = causes.map(({ cause }) => tellAt(told.get(cause), now)).filter(at => at !== null);
  const dead = deadAfter(facts, loopSettings(ctx));
  if (dead !== null && dead + 1 > now) times.push(dead + 1);
  return times.length ? new Date(Math.min(...times)) : null;
}

/** Tells a dead loop from a converged one, outside the tick. Source: spec 1, Alarms; intelligence 7.1. */
export const watchdog: Timer<Context> = {
  name: 'loop.watchdog',
  everySeconds: EVERY_SECONDS,
  next: nextAlarm,
  run: checkAlarms,
};
