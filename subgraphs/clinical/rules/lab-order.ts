import { after, DAY_MS, HOUR_MS, SECOND_MS } from '../../../runtime/time/durations.js';

/** An order counts as under way for so long after the laboratory's last message. Source: clinical 5, consumed. */
const UNDER_WAY_MS = 21 * DAY_MS;
const OVER: readonly string[] = ['completed', 'cancelled', 'rejected'];

export const isOver = (status: string): boolean => OVER.includes(status);

/** Until when the order's markers are not prompted for. */
export const underWayUntil = (changedAt: Date): Date => after(changedAt, UNDER_WAY_MS);

const FIRST_WAIT_MS = 30 * SECOND_MS;
const LONGEST_WAIT_MS = HOUR_MS;

/** When labs is asked again after it gave no answer: after 30 s, then twice as long each time, at most an hour. Null: it is too late to matter. */
export function askAgainAt(now: Date, attempts: number, changedAt: Date): Date | null {
  const at = after(now, Math.min(FIRST_WAIT_MS * 2 ** Math.min(attempts, 10), LONGEST_WAIT_MS));
  return at > underWayUntil(changedAt) ? null : at;
}
