import type { Erase } from '../../runtime/erasure/erasure.js';
import { eraseHeld } from './commands/erase-account.js';

/** Runs as identity's own task, the last of an erasure, by the same command. */
export const erase = eraseHeld satisfies Erase;
