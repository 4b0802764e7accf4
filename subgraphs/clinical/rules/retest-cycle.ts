import type { TransitionTable } from '../../../runtime/request/states.js';
import { after, DAY_MS, durationMs, MINUTE_MS } from '../../../runtime/time/durations.js';
import { InterventionStatus } from '../entities/intervention.js';
import { RetestCycleStatus as Status, RetestCycleTiming as Timing } from '../entities/retest-cycle.js';

/** A follow-up later than this after the due date is LATE. Days are of exactly 24 h, independent of time zones. Source: clinical 7.1.10. */
const IN_WINDOW_MS = 7 * DAY_MS;
export const DEFAULT_WINDOW_DAYS = 90;
export const DEFAULT_GRACE_DAYS = 30;

/** Gates creation, follow-up recording and the Outcome Record; off unless known to be on. Source: spec 1, Re-test cycle 6. */
export const RETEST_FLAG = 'feature.clinical.retest-cycle';

/** Re-test cycle states. RETESTED and EXPIRED are final. Source: spec 1, States; clinical 3. */
export const RETEST_STATES = {
  [Status.BASELINE_SET]: { prompt: Status.PROMPTED, record: Status.RETESTED, expire: Status.EXPIRED },
  [Status.PROMPTED]: { prompt: Status.PROMPTED, record: Status.RETESTED, expire: Status.EXPIRED },
  [Status.RETESTED]: {},
  [Status.EXPIRED]: {},
} as const satisfies TransitionTable<Status, RetestTrigger>;

export type RetestTrigger = 'prompt' | 'record' | 'expire';

export const OPEN_STATUSES: readonly Status[] = [Status.BASELINE_SET, Status.PROMPTED];
export const isOpenCycle = (status: Status): boolean => OPEN_STATUSES.includes(status);

export interface RetestSettings {
  /** Days between two prompts. */
  repromptDays: number;
  maxPrompts: number;
  /** Distance of the sweeps on the UTC grid, ms. */
  sweepEveryMs: number;
}

export interface RetestDates {
  retestDueAt: Date;
  expiresAt: Date;
}

/** Due: baseline + window. Expiry: due + grace. Source: spec 1, Re-test cycle 1 and 4. */
export function datesOf(baselineCollectedAt: Date, windowDays: number, graceDays: number): RetestDates {
  const retestDueAt = after(baselineCollectedAt, windowDays * DAY_MS);
  return { retestDueAt, expiresAt: after(retestDueAt, graceDays * DAY_MS) };
}

/** Whole days between two draws. */
export const daysBetween = (from: Date, to: Date): number => Math.floor((to.getTime() - from.getTime()) / DAY_MS);

/** EARLY before half the window, IN_WINDOW up to 7 days after the due date, then LATE. */
export function timingOf(baselineCollectedAt: Date, retestDueAt: Date, followUpCollectedAt: Date): Timing {
  const [start, due, at] = [baselineCollectedAt, retestDueAt, followUpCollectedAt].map(date => date.getTime()) as [number, number, number];
  if (at - start < (due - start) / 2) return Timing.EARLY;
  return at <= due + IN_WINDOW_MS ? Timing.IN_WINDOW : Timing.LATE;
}

/** Earliest instant of the next prompt, null when there will be none in the cycle's life. */
export function nextPromptAt(
  cycle: { retestDueAt: Date; expiresAt: Date; promptCount: number; lastPromptedAt: Date | null },
  settings: RetestSettings,
): Date | null {
  if (cycle.promptCount >= settings.maxPrompts) return null;
  const at = cycle.lastPromptedAt === null ? cycle.retestDueAt : after(cycle.lastPromptedAt, settings.repromptDays * DAY_MS);
  return at > cycle.expiresAt ? null : at;
}

/** What the sweep must know of an open cycle; instants in ms since 1970. */
export interface Candidate {
  retestDueAt: number;
  expiresAt: number;
  promptCount: number;
  lastPromptedAt: number | null;
  /** A qualifying follow-up is stored. */
  followUp: boolean;
  /** The marker's lab order is under way. */
  labInProgress: boolean;
  interventionStatus: InterventionStatus | null;
}

export type SweepAction = 'record' | 'expire' | 'prompt' | 'skip_flag' | 'skip_limit' | 'skip_lab' | 'wait';

const ended = (status: InterventionStatus | null): boolean =>
  status === InterventionStatus.CANCELLED || status === InterventionStatus.STOPPED;

const limited = (cycle: Candidate, now: number, settings: RetestSettings): boolean =>
  cycle.promptCount >= settings.maxPrompts ||
  (cycle.lastPromptedAt !== null && now < cycle.lastPromptedAt + settings.repromptDays * DAY_MS);

/**
 * What a sweep does with an open cycle: record what is stored, else expire, else prompt. The flags are asked only where they
 * decide. Source: clinical 7.1.2, 7.1.3, 7.1.10, 7.1.11.
 */
export function sweepAction(
  cycle: Candidate,
  now: number,
  settings: RetestSettings,
  flags: { cycle: boolean; prompt: () => boolean },
): SweepAction {
  if (cycle.followUp) return flags.cycle ? 'record' : 'wait';
  if (now > cycle.expiresAt) return 'expire';
  if (now < cycle.retestDueAt || ended(cycle.interventionStatus)) return 'wait';
  if (limited(cycle, now, settings)) return 'skip_limit';
  if (cycle.labInProgress) return 'skip_lab';
  return flags.prompt() ? 'prompt' : 'skip_flag';
}

function whole(name: string, text: string | undefined, fallback: number, min: number, max: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (!Number.isInteger(value) || value < min || value > max) throw new Error(`${name} must be a whole number from ${min} to ${max}`);
  return value;
}

/** Settings of the data plane: `RETEST_REPROMPT_DAYS` 14 (1..90), `RETEST_MAX_PROMPTS` 3 (1..10), `RETEST_SWEEP_INTERVAL` PT6H (PT1M..P1D). */
export function retestSettings(setting: (name: string) => string | undefined): RetestSettings {
  const sweepEveryMs = durationMs(setting('RETEST_SWEEP_INTERVAL') ?? 'PT6H');
  if (sweepEveryMs === null || sweepEveryMs < MINUTE_MS || sweepEveryMs > DAY_MS)
    throw new Error('RETEST_SWEEP_INTERVAL must be an ISO 8601 duration from PT1M to P1D');
  return {
    repromptDays: whole('RETEST_REPROMPT_DAYS', setting('RETEST_REPROMPT_DAYS'), 14, 1, 90),
    maxPrompts: whole('RETEST_MAX_PROMPTS', setting('RETEST_MAX_PROMPTS'), 3, 1, 10),
    sweepEveryMs,
  };
}

/** Settings of one brand: those of platform's config `clinical.retest`, else those of all. @throws Error for a value out of range. */
export function brandSettings(base: RetestSettings, config: unknown): RetestSettings {
  const { reprompt_days: days, max_prompts: most } = (config ?? {}) as { reprompt_days?: unknown; max_prompts?: unknown };
  return {
    ...base,
    repromptDays: whole('reprompt_days', days === undefined ? undefined : String(days), base.repromptDays, 1, 90),
    maxPrompts: whole('max_prompts', most === undefined ? undefined : String(most), base.maxPrompts, 1, 10),
  };
}
