import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { missDueCheckIns, openDueCheckIns } from '../commands/check-in.js';
import { deleteRetainedConsults } from '../commands/consult.js';
import { escalateDueAlerts } from '../commands/critical-alert.js';
import { missDueDoses, planDueDoses } from '../commands/dose.js';
import { storeDueScores } from '../commands/health-score.js';
import { completeDueInterventions } from '../commands/intervention-life.js';
import { discardExpiredVials } from '../commands/vial.js';
import { releaseDueEvents } from '../commands/waiting-event.js';

/** A kind of care that is due by time. */
interface Care {
  /** When the first thing of the kind is due, a question in SQL. */
  due(schema: string): string;
  /** Does what is due at an instant, some rows at a time. */
  run(ctx: Context, at: Date): Promise<void>;
}

const CARE = {
  escalation: { due: s => `select min(acknowledge_by) from ${s}.critical_alert where status = 'open'`, run: escalateDueAlerts },
  completion: {
    due: s => `select min(ends_at) from ${s}.intervention where status in ('active', 'paused')`,
    run: completeDueInterventions,
  },
  checkIn: { due: s => `select min(next_check_in_at) from ${s}.intervention where next_check_in_at is not null`, run: openDueCheckIns },
  missedCheckIn: { due: s => `select min(due_at) + interval '168 hours' from ${s}.check_in where status = 'due'`, run: missDueCheckIns },
  dose: { due: s => `select min(next_dose_at) from ${s}.intervention where next_dose_at is not null`, run: planDueDoses },
  missedDose: {
    due: s => `select min(scheduled_for) + interval '168 hours' from ${s}.dose_log where status = 'scheduled'`,
    run: missDueDoses,
  },
  vialExpiry: { due: s => `select min(expires_at) from ${s}.vial where status <> 'discarded'`, run: discardExpiredVials },
  retention: { due: s => `select min(keep_until) from ${s}.retained_consult`, run: deleteRetainedConsults },
  score: { due: s => `select min(due_at) from ${s}.health_score_due`, run: storeDueScores },
  waitingEvent: { due: s => `select min(until) from ${s}.waiting_event`, run: releaseDueEvents },
} as const satisfies Readonly<Record<string, Care>>;

type Kind = keyof typeof CARE;
const KINDS = Object.keys(CARE) as Kind[];

/** When each kind is due, ms since 1970: one statement, because every step of a clock asks. */
async function dueTimes(ctx: Context): Promise<Record<Kind, number | null>> {
  const columns = KINDS.map(kind => `(extract(epoch from (${CARE[kind].due(ctx.schema)})) * 1000)::float8 as "${kind}"`);
  const [row] = await ctx.sql<Record<Kind, number | null>>(`select ${columns.join(', ')}`);
  return row!;
}

/** One timer for all kinds of care, so that a step of the clock costs one question. */
export const careTimer: Timer<Context> = {
  name: 'care',
  next: async ctx => {
    const times = Object.values(await dueTimes(ctx)).filter(one => one !== null);
    return times.length ? new Date(Math.min(...times)) : null;
  },
  run: async (ctx, at) => {
    const times = await dueTimes(ctx);
    for (const kind of KINDS) if (times[kind] !== null && times[kind] <= at.getTime()) await CARE[kind].run(ctx, at);
  },
};
