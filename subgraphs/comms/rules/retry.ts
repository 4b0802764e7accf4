import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../runtime/time/durations.js';

/** Waits before the second to the sixth attempt. Source: comms 3. */
const WAITS_MS = [30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS];
/** Of what carries a link or code: identity gives it three times. Source: comms 4.1. */
const AUTH_WAITS_MS = [2 * SECOND_MS, 15 * SECOND_MS];

/** When to try again after so many attempts; null: never. @param isAuth whether it is an auth delivery. */
export const waitAfter = (attempts: number, isAuth: boolean): number | null => (isAuth ? AUTH_WAITS_MS : WAITS_MS)[attempts - 1] ?? null;

/**
 * Whether what was begun and not ended may be begun once more: where the provider drops the second copy, or where a second copy does no
 * harm; never an advert. Source: comms 3, outcome unknown.
 */
export const mayRepeatUnknown = (facts: {
  idempotent: boolean;
  marketing: boolean;
  retaken: boolean;
  isAuth: boolean;
  attempts: number;
}): boolean => (facts.isAuth ? facts.attempts < AUTH_WAITS_MS.length + 1 : !facts.retaken && (facts.idempotent || !facts.marketing));
