import { v5 } from 'uuid';
import { after, DAY_MS } from '../../../runtime/time/durations.js';

const RUNS = 'c9a0b7de-2c33-5b1e-8f64-8d0c6c4f5a21';

/** The id of the only run of a definition for a key. Source: workflow 7.3. */
export const runIdOf = (definition: string, key: string): string => v5(`${definition}\n${key}`, RUNS);

/** When a run of the definition that begins, or goes on, at `from` fails if it has not ended. */
export const deadlineOf = ({ timeoutDays }: { timeoutDays: number }, from: Date): Date => after(from, timeoutDays * DAY_MS);
