import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';

/** Does what is due of one kind at an instant, some rows at a time. */
export type DueWork = (ctx: Context, at: Date) => Promise<void>;

/** When the first thing of each kind is due; one statement, because every step of a clock asks. */
const DUE = (schema: string): Readonly<Record<string, string>> => ({
  escalation: `select min(acknowledge_by) from ${schema}.critical_alert where status = 'open'`,
  completion: `select min(ends_at) from ${schema}.intervention where status in ('active', 'paused')`,
  checkIn: `select min(next_check_in_at) from ${schema}.intervention where next_check_in_at is not null`,
  missedCheckIn: `select min(due_at) + interval '168 hours' from ${schema}.check_in where status = 'due'`,
  dose: `select min(next_dose_at) from ${schema}.intervention where next_dose_at is not null`,
  missedDose: `select min(scheduled_for) + interval '168 hours' from ${schema}.dose_log where status = 'scheduled'`,
  vialExpiry: `select min(expires_at) from ${schema}.vial where status <> 'discarded'`,
  retention: `select min(keep_until) from ${schema}.retained_consult`,
  score: `select min(due_at) from ${schema}.health_score_due`,
});

const ms = (select: string, name: string): string => `(extract(epoch from (${select})) * 1000)::float8 as "${name}"`;

async function dueTimes(ctx: Context): Promise<Record<string, number | null>> {
  const columns = Object.entries(DUE(ctx.schema)).map(([name, select]) => ms(select, name));
  const [row] = await ctx.sql<Record<string, number | null>>(`select ${columns.join(', ')}`);
  return row!;
}

/** One timer for all kinds of care, so that a step of the clock costs one question. @param works one for each kind of {@link DUE}. */
export const careTimer = (works: Readonly<Record<string, DueWork>>): Timer<Context> => ({
  name: 'care',
  next: async ctx => {
    const times = Object.values(await dueTimes(ctx)).filter((one): one is number => one !== null);
    return times.length ? new Date(Math.min(...times)) : null;
  },
  run: async (ctx, at) => {
    for (const [name, due] of Object.entries(await dueTimes(ctx))) if (due !== null && due <= at.getTime()) await works[name]!(ctx, at);
  },
});
