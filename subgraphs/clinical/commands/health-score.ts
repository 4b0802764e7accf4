import { healthScoreComputed } from '../../../events/catalogue/clinical.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { HealthScore, HealthScorePlan } from '../entities/health-score.js';
import { scoreNow } from '../queries/health-score.js';
import { lockPatient } from '../queries/patient.js';
import { isNews } from '../rules/health-score.js';

/** A score is computed once a patient's results have been quiet for so long. Source: clinical 4.2. */
const QUIET_MS = MINUTE_MS;
const NEWEST = { orderBy: { computedAt: 'desc', id: 'desc' } } as const;

/** Plans a computation; results that follow within a minute are counted in the same one. */
export const scoreLater = (ctx: Context, patientId: string, inMs: number = QUIET_MS): Promise<unknown> =>
  ctx.sql(
    `insert into ${ctx.schema}.health_score_due (patient_id, due_at) values ($1, $2)
     on conflict (patient_id) do update set due_at = excluded.due_at`,
    [patientId, after(ctx.now(), inMs).toISOString()],
  );

/** Plans a computation that follows at once. */
export async function recomputeHealthScore(ctx: Context, patientId: string): Promise<HealthScorePlan> {
  await scoreLater(ctx, patientId, 0);
  ctx.audit('health_score.requested', patientId, {});
  return { userId: patientId, dueAt: ctx.now() };
}

/** Plans another score for when the next result that is kept from the member may be seen. */
async function scoreWhenShown(ctx: Context, patientId: string): Promise<void> {
  const [next] = await ctx.sql<{ at: Date | string | null }>(
    `select min(hidden_until) as at from ${ctx.schema}.observation where patient_id = $1 and hidden_until > $2 and superseded_by is null`,
    [patientId, ctx.now().toISOString()],
  );
  if (next?.at) await scoreLater(ctx, patientId, new Date(next.at).getTime() - ctx.now().getTime());
}

function announce(ctx: Context, row: HealthScore): void {
  row.announced = true;
  const { id, band, trend, modelVersion, patientId: userId } = row;
  const data = { score_id: id, model_version: modelVersion, band: band!, trend: trend!, computed_at: row.computedAt.toISOString() };
  ctx.emit(healthScoreComputed, data, { userId });
}

/** Stores a new score of a patient and announces it when it is news. */
async function storeScore(ctx: Context, patientId: string): Promise<void> {
  await lockPatient(ctx, patientId);
  const before = await ctx.em.findOne(HealthScore, { patientId, band: { $ne: null } }, NEWEST);
  const announced = await ctx.em.findOne(HealthScore, { patientId, announced: true }, NEWEST);
  const row = await scoreNow(ctx, patientId, before?.open(ctx).score ?? null);
  if (isNews(row.band, announced && { band: announced.band, at: announced.computedAt }, ctx.now())) announce(ctx, row);
  ctx.em.persist(row);
  await scoreWhenShown(ctx, patientId);
  ctx.audit('health_score.computed', row.id, { status: row.status, model_version: row.modelVersion });
}

/** Patients whose results have been quiet, some at a time. */
export async function storeDueScores(ctx: Context, at: Date): Promise<void> {
  const due = await ctx.sql<{ patient_id: string }>(
    `delete from ${ctx.schema}.health_score_due where patient_id in
       (select patient_id from ${ctx.schema}.health_score_due where due_at <= $1 order by due_at limit 50 for update skip locked) returning patient_id`,
    [at.toISOString()],
  );
  for (const { patient_id: patientId } of due) await storeScore(ctx, patientId);
}
