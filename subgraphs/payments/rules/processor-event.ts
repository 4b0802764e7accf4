import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../runtime/time/durations.js';

/** Waits after each failure; after the last try the event is dead. Source: payments 4.5. */
const RETRIES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 12 * HOUR_MS] as const;

/** Until the next try, after so many failures; null: none, it is dead. */
export const retryMs = (failures: number): number | null => RETRIES_MS[failures - 1] ?? null;

/** The process that took an event handles it at once; if it dies, another one does so later. */
export const EVENT_LEASE_MS = 30_000;
/** The raw body is kept for replays. Source: payments 2. */
export const BODY_KEPT_MS = 400 * DAY_MS;
