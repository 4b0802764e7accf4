import { Problem } from '../../../runtime/request/errors.js';
import { FinalFailure, type Retry } from '../ports/workflow.js';

/** Source: workflow 7.8. */
export const DEFAULT_RETRY: Retry = { delays: [1, 4, 16, 64, 300], jitter: true };
const JITTER = 0.2;
/** A conflict and a limit may pass. */
const PASSING = [409, 429];

/** Whether no other attempt would mend it. */
export const isFinal = (error: unknown): boolean =>
  error instanceof FinalFailure || (error instanceof Problem && error.status < 500 && !PASSING.includes(error.status));

/** Milliseconds of a delay of so many seconds, spread where the retry has a jitter. */
export const delayMs = (seconds: number, { jitter }: Retry): number =>
  Math.round(seconds * 1000 * (jitter ? 1 + JITTER * (2 * Math.random() - 1) : 1));
