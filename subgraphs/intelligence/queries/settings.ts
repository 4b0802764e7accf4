import { after, durationMs, MINUTE_MS } from '../../../runtime/time/durations.js';
import type { Context } from '../../../runtime/request/context.js';
import type { LoopSettings } from '../rules/liveness.js';

/** Which ranker serves; S0 unless known otherwise. Source: spec 1, Intelligence loop 7. */
export const STAGE_FLAG = 'feature.intelligence.stage';

/** Clocks of callers may be ahead by so much. */
const SKEW_MS = 5 * MINUTE_MS;

/** Whether an instant that is reported as past lies ahead: what follows from it could not be corrected later. */
export const isAhead = (ctx: Context, at: Date): boolean => at > after(ctx.now(), SKEW_MS);

function positive(ctx: Context, name: string, fallback: number): number {
  const value = Number(ctx.host.config.setting(name) ?? fallback);
  if (!(value > 0)) throw new Error(`${name} must be a number above 0`);
  return value;
}

/** Settings of the loop: `LOOP_TICK_INTERVAL` (ISO 8601 duration), `LOOP_WINDOW_DAYS`, `LOOP_NO_PROPOSAL_WEEKS`. */
export function loopSettings(ctx: Context): LoopSettings {
  const interval = durationMs(ctx.host.config.setting('LOOP_TICK_INTERVAL') ?? 'PT1H');
  if (interval === null || interval <= 0) throw new Error('LOOP_TICK_INTERVAL must be an ISO 8601 duration');
  return {
    tickIntervalMs: interval,
    windowDays: positive(ctx, 'LOOP_WINDOW_DAYS', 28),
    noProposalWeeks: positive(ctx, 'LOOP_NO_PROPOSAL_WEEKS', 4),
  };
}

/** Whether a reviewer must be an active member of the staff; production's default. Source: intelligence 4.1. */
export const verifiesReviewers = ({ host: { config } }: Context): boolean =>
  (config.setting('GOVERNANCE_VERIFY_REVIEWER') ?? String(config.production)) === 'true';
