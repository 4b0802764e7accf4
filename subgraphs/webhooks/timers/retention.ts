import { sweepTimer } from '../../../runtime/time/schedule.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { reseal } from '../commands/reseal.js';
import { dropOld } from '../commands/retention.js';

/** Makes the next partitions, drops what is older than the retention, and seals anew what an older key has sealed, once a day. Source: rules 21 and 25. */
export const retentionTimer = sweepTimer({
  name: 'retention',
  everyMs: DAY_MS,
  async run(ctx, slot) {
    await ctx.host.transaction(own => dropOld(own, slot));
    await ctx.host.transaction(reseal);
  },
});
