import type { Context } from '../../../runtime/request/context.js';

/** A score is computed once a patient's results have been quiet for so long, ms. Source: clinical 4.2. */
const QUIET_MS = 60_000;

/** Plans a computation; results that follow within a minute are counted in the same one. */
export const scoreLater = (ctx: Context, patientId: string, inMs: number = QUIET_MS): Promise<unknown> =>
  ctx.sql(
    `insert into ${ctx.schema}.health_score_due (patient_id, due_at) values ($1, $2)
     on conflict (patient_id) do update set due_at = excluded.due_at`,
    [patientId, new Date(ctx.now().getTime() + inMs).toISOString()],
  );
