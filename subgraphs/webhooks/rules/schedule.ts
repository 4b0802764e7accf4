import type { WebhookAttemptError, WebhookDeadLetterReason } from '../entities/enums.js';

/** Seconds from the end of failed attempt 1, 2, … to the next. Source: specification 1, webhook delivery 6. */
export const RETRY_SECONDS: readonly number[] = [60, 300, 1800, 7200, 43_200];

/** How one attempt ended. `error` null: a status 200..299 in time. */
export interface AttemptResult {
  error: WebhookAttemptError | null;
  /** When it ended, ms. */
  endedAt: number;
}

export interface AfterAttempt {
  status: 'delivered' | 'retrying' | 'dead_lettered';
  /** ms; set for RETRYING only. */
  nextAttemptAt: number | null;
  deadLetterReason: WebhookDeadLetterReason | null;
}

/** Attempts of a delivery in all: the first, and one per entry of the schedule. */
export const maxAttempts = (schedule: readonly number[] = RETRY_SECONDS): number => schedule.length + 1;

/**
 * State of a delivery after its attempt `number` (1, 2, …). No status is exempt from the schedule, and no jitter is applied:
 * the next attempt is due exactly the delay after the end of this one. Source: section 3, Delivery; rules 4 and 10.
 */
export function afterAttempt(number: number, result: AttemptResult, schedule: readonly number[] = RETRY_SECONDS): AfterAttempt {
  if (result.error === null) return { status: 'delivered', nextAttemptAt: null, deadLetterReason: null };
  const delay = schedule[number - 1];
  if (delay === undefined) return { status: 'dead_lettered', nextAttemptAt: null, deadLetterReason: 'retries_exhausted' };
  return { status: 'retrying', nextAttemptAt: result.endedAt + delay * 1000, deadLetterReason: null };
}

/** The schedule as configured: `60,300,1800,7200,43200`. @throws Error when an entry is not a positive whole number of seconds. */
export function parseSchedule(text: string): number[] {
  const seconds = text.split(',').map(Number);
  if (seconds.some(one => !Number.isInteger(one) || one < 1))
    throw new Error('WEBHOOKS_RETRY_SCHEDULE_SECONDS must be positive whole seconds, comma separated');
  return seconds;
}
