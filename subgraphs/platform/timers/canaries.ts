import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { loseCanary } from '../commands/canary.js';
import { CanaryKind } from '../entities/health.js';
import { CANARY_LIMITS } from '../rules/health.js';

/** Probes that are not back in time, and the silence of workflows that have been heard before. */
const OVERDUE = `
  select id, sent_at + interval '${CANARY_LIMITS[CanaryKind.BUS].lost} milliseconds' as at from platform.canary_probe where kind = 'bus' and status = 'pending'
  union all
  select null, w.sent_at + interval '${CANARY_LIMITS[CanaryKind.WORKFLOW].lost} milliseconds' from (
    select sent_at, status from platform.canary_probe where kind = 'workflow' order by sent_at desc, id desc limit 1) w where w.status <> 'lost'`;
const EARLIEST = `select extract(epoch from min(at)) * 1000 as ms from (${OVERDUE}) o`;
const DUE = `select id from (${OVERDUE}) o where at <= $1 order by at`;

/** Source: platform 5. */
export const canaryTimer: Timer<Context> = {
  name: 'canaries',
  everySeconds: 5,
  async next(ctx) {
    const [row] = await ctx.sql<{ ms: string | null }>(EARLIEST);
    return row?.ms == null ? null : new Date(Math.round(Number(row.ms)));
  },
  async run(ctx, at) {
    for (const { id } of await ctx.sql<{ id: string | null }>(DUE, [at.toISOString()])) await loseCanary(ctx, id, at);
  },
};
