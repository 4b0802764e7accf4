import { HOUR_MS, SECOND_MS } from '../../../runtime/time/durations.js';

/** How long what is still to be asked of others waits after its n-th failure, ms: 5 s, 10 s, 20 s, … an hour. */
export const taskPause = (attempts: number): number => Math.min(HOUR_MS, 5 * SECOND_MS * 2 ** Math.min(attempts, 20));
