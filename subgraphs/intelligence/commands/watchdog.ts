import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS, HOUR_MS } from '../../../runtime/time/durations.js';
import { deadAfter, JOIN_FLOOR, stallReasons, type LoopFacts } from '../rules/liveness.js';
import { joinCounts } from '../queries/cohorts.js';
import { loopFacts } from '../queries/loop-facts.js';
import { loopSettings } from '../queries/settings.js';
import { raiseAlarm, type AlarmName } from './alarms.js';

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
  const counts = await joinCounts(ctx, after(ctx.now(), -settings.windowDays * DAY_MS), ctx.now());
  const low = counts.some(({ joined, expired }) => joined / (joined + expired) < JOIN_FLOOR);
  return [
    ...reasons.map(cause => ({ alarm: 'liveness' as const, cause })),
    ...(low ? [{ alarm: 'join' as const, cause: 'join_completeness' }] : []),
  ];
}

interface Raised {
  cause: string;
  last_ms: number;
  /** Records of the last day. */
  records: number;
}

/** When an alarm was raised for each cause in the last day. */
async function raisedOf(ctx: Context): Promise<Map<string, Raised>> {
  const rows = await ctx.sql<Raised>(
    `select cause, (extract(epoch from max(at)) * 1000)::float8 as last_ms, count(*)::int as records from ${ctx.schema}.alarm_record where at > $1 and at <= $2 group by cause`,
    [after(ctx.now(), -FORESEEN * HOUR_MS).toISOString(), ctx.now().toISOString()],
  );
  return new Map(rows.map(row => [row.cause, row]));
}

/** When a cause raises an alarm: at once, then an hour after the last time; after a day of it when the watchdog looks, so null until then. */
function raiseAt(raised: Raised | undefined, now: number): number | null {
  const due = raised ? Math.max(raised.last_ms + HOUR_MS, now) : now;
  return due > now && raised!.records >= FORESEEN ? null : due;
}

/** Raises what is active: one record per cause and hour, for as long as it lasts. Source: intelligence 7.1. */
export async function checkAlarms(ctx: Context): Promise<void> {
  const raised = await raisedOf(ctx);
  const now = ctx.now().getTime();
  for (const { alarm, cause } of await activeCauses(ctx)) {
    if (raiseAt(raised.get(cause), now) !== now) continue;
    await ctx.sql(`insert into ${ctx.schema}.alarm_record (cause, at) values ($1, $2) on conflict do nothing`, [
      cause,
      ctx.now().toISOString(),
    ]);
    ctx.afterCommit(() => raiseAlarm(ctx, alarm, cause));
  }
}

/** The next instant at which the watchdog has an alarm to raise; null: none in sight. */
export async function nextAlarm(ctx: Context): Promise<Date | null> {
  const raised = await raisedOf(ctx);
  const facts = await loopFacts(ctx);
  const now = ctx.now().getTime();
  const causes = await activeCauses(ctx, facts);
  const times = causes.map(({ cause }) => raiseAt(raised.get(cause), now)).filter(at => at !== null);
  const dead = deadAfter(facts, loopSettings(ctx));
  if (dead !== null && dead + 1 > now) times.push(dead + 1);
  return times.length ? new Date(Math.min(...times)) : null;
}
