import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { gateOfChange, settleChange } from '../commands/flag-change.js';

const WAITING = `
  select id, flag_key, case status when 'pending' then expires_at else apply_at end as at from platform.flag_change
  where status in ('pending', 'scheduled')`;
const EARLIEST = `select extract(epoch from min(at)) * 1000 as ms from (${WAITING}) w`;
const DUE = `select id from (${WAITING}) w where at <= $1 order by at, id`;

/**
 * Applies changes whose time has come and ends those that nobody approved. The gate is asked before each one's transaction, so the
 * timer works outside one; two processes at once find the second change settled. Source: platform 3.
 */
export const flagChangesTimer: Timer<Context> = {
  name: 'flag_changes',
  everySeconds: 1,
  async next(ctx) {
    const [row] = await ctx.sql<{ ms: string | null }>(EARLIEST);
    return row?.ms == null ? null : new Date(Math.round(Number(row.ms)));
  },
  async run(ctx, at) {
    for (const { id } of await ctx.sql<{ id: string }>(DUE, [at.toISOString()])) {
      const gate = await gateOfChange(ctx, id);
      await ctx.host.transaction(own => settleChange(own, id, gate));
    }
  },
  claimed: { claim: async () => undefined, keep: async () => undefined, finish: async () => undefined },
};
