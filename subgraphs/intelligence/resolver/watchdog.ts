import type { Timer } from '../../../runtime/clock.js';
import type { Context } from '../../../runtime/context.js';
import { deadAfter, JOIN_FLOOR, stallReasons } from '../rules/liveness.js';
import { raiseAlarm, type AlarmName } from './alarms.js';
import { daysAfter, joinCounts } from './cohorts.js';
import { loopFacts } from './loop-facts.js';
import { loopSettings } from './settings.js';

/** The watchdog looks this often. Source: intelligence 7.1. */
const EVERY_SECONDS = 300;
const HOUR_MS = 3_600_000;
/** An alarm that nobody ends is repeated hourly for so long, then daily. */
const HOURLY_FOR_MS = 6 * HOUR_MS;

interface Cause {
  alarm: AlarmName;
  cause: string;
}

/** What is wrong now: reasons of a stall, and joins below the floor with closed outcomes present. */
async function activeCauses(ctx: Context): Promise<Cause[]> {
  const settings = loopSettings(ctx);
  const reasons = stallReasons(await loopFacts(ctx), settings);
  const counts = await joinCounts(ctx, daysAfter(ctx.now(), -settings.windowDays), ctx.now());
  const low = counts.some(({ joined, expired }) => joined / (joined + expired) < JOIN_FLOOR);
  return [
    ...reasons.map(cause => ({ alarm: 'liveness' as const, cause })),
    ...(low ? [{ alarm: 'join' as const, cause: 'join_completeness' }] : []),
  ];
}

interface Records {
  cause: string;
  first_ms: number;
  last_ms: number;
}

/** When each cause was first and last told of in this spell: in the last day and a half, and of a dead orchestrator since its last tick. */
async function recordsOf(ctx: Context): Promise<Map<string, Records>> {
  const { lastTickAt } = await loopFacts(ctx);
  const rows = await ctx.sql<Records>(
    `select cause, (extract(epoch from min(at)) * 1000)::float8 as first_ms, (extract(epoch from max(at)) * 1000)::float8 as last_ms from ${ctx.schema}.alarm_record
     where at > $1 and at <= $2 and (cause <> 'orchestrator_dead' or at > $3) group by cause`,
    [new Date(ctx.now().getTime() - 36 * HOUR_MS).toISOString(), ctx.now().toISOString(), new Date(lastTickAt ?? 0).toISOString()],
  );
  return new Map(rows.map(row => [row.cause, row]));
}

const repeatAt = ({ first_ms: first, last_ms: last }: Records): number => last + (last - first < HOURLY_FOR_MS ? HOUR_MS : 24 * HOUR_MS);

/** Raises what is active, at most one record per cause and hour. */
export async function checkAlarms(ctx: Context): Promise<void> {
  const known = await recordsOf(ctx);
  const now = ctx.now().getTime();
  for (const { alarm, cause } of await activeCauses(ctx)) {
    const before = known.get(cause);
    if (before && repeatAt(before) > now) continue;
    await ctx.sql(`insert into ${ctx.schema}.alarm_record (cause, at) values ($1, $2) on conflict do nothing`, [
      cause,
      ctx.now().toISOString(),
    ]);
    ctx.afterCommit(() => raiseAlarm(ctx, alarm, cause));
  }
}

/** The next instant at which the watchdog has something to tell; null: nothing in sight. */
async function nextAlarm(ctx: Context): Promise<Date | null> {
  const known = await recordsOf(ctx);
  const causes = await activeCauses(ctx);
  const now = ctx.now().getTime();
  const times = causes.map(({ cause }) => (known.has(cause) ? repeatAt(known.get(cause)!) : now));
  const dead = deadAfter(await loopFacts(ctx), loopSettings(ctx));
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
