import type { Violation } from '../../../runtime/request/errors.js';
import type { TransitionTable } from '../../../runtime/request/states.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import type { WebhookJobStatus } from '../entities/enums.js';

/** Bulk replay and recovery. Source: section 2, WebhookJob. */
export const JOB_STATES = {
  pending: { start: 'running', cancel: 'cancelled' },
  running: { complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  completed: {},
  failed: {},
  cancelled: {},
} as const satisfies TransitionTable<WebhookJobStatus, 'start' | 'complete' | 'fail' | 'cancel'>;

/** How far back events can be recovered: as long as the log keeps them, days. Source: section 4, recover. */
const MAX_DAYS = 30;

/** What is wrong with the time that is to be recovered. */
export function spanViolations(since: Date, until: Date, now: Date): Violation[] {
  const isTooOld = now.getTime() - since.getTime() > MAX_DAYS * DAY_MS;
  return [
    ...(isTooOld ? [{ pointer: '/input/since', message: `must lie at most ${MAX_DAYS} days back` }] : []),
    ...(until <= since ? [{ pointer: '/input/until', message: 'must lie after `since`' }] : []),
  ];
}
