import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { dueSweep } from '../../runtime/time/due-sweep.js';
import { DAY_MS, MINUTE_MS } from '../../runtime/time/durations.js';
import { sweepTimer } from '../../runtime/time/schedule.js';
import { forgetOld } from './commands/attribution.js';
import { checkBooks, earliestUnchecked } from './commands/books-check.js';
import { earliestInFlight, followPayouts } from './commands/payouts.js';
import { earliestDue, postDue } from './commands/posting.js';
import { moveTiers } from './commands/tiers.js';

const OFTEN_MS = 10 * MINUTE_MS;

/** Every 10 minutes: commissions whose hold is over. Source: affiliates 3. */
const posting = dueSweep(
  { name: 'affiliates.posting', everyMs: OFTEN_MS, run: async (ctx, slot) => void (await postDue(ctx, slot)) },
  earliestDue,
);

/** Every 10 minutes: payouts that are on their way. Source: affiliates 3. */
const payouts = dueSweep({ name: 'affiliates.payouts', everyMs: OFTEN_MS, run: followPayouts }, earliestInFlight);

/** Once a day: tiers, what is kept no longer. Source: affiliates 7.6. */
const daily = sweepTimer({
  name: 'affiliates.daily',
  everyMs: DAY_MS,
  async run(ctx) {
    await ctx.host.transaction(moveTiers);
    await ctx.host.transaction(forgetOld);
  },
});

/** Once a day: what is owed against the books. Source: affiliates 7.8. */
const books = dueSweep({ name: 'affiliates.books', everyMs: DAY_MS, run: checkBooks }, earliestUnchecked);

export const timers: readonly Timer<Context>[] = [posting, payouts, daily, books];
