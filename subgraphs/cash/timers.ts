import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { dueSweep } from '../../runtime/time/due-sweep.js';
import { DAY_MS, MINUTE_MS } from '../../runtime/time/durations.js';
import { checkBooks, earliestUnchecked } from './commands/books-check.js';
import { earliestChange, sweep } from './commands/sweep.js';

const SWEEP_MS = 10 * MINUTE_MS;

/** Every 10 minutes: grants that begin, reservations that end, what expires. Reads do not wait for it. Source: cash 4 and 7.2. */
const expiry = dueSweep({ name: 'cash.expiry', everyMs: SWEEP_MS, run: (ctx, slot) => sweep(ctx, slot) }, earliestChange);

/** Once a day: accounts against the books. Source: cash 7.5. */
const books = dueSweep({ name: 'cash.books', everyMs: DAY_MS, run: checkBooks }, earliestUnchecked);

export const timers: readonly Timer<Context>[] = [expiry, books];
