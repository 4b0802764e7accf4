import { inOrder } from '../../../runtime/data/loaders.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { Biomarker, BiomarkerStatus } from '../entities/biomarker.js';
import { HealthScore } from '../entities/health-score.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { type ComputedScore, FRESH_DAYS, SCORE_MODEL, type ScoredResult, scoreOf, trendOf } from '../rules/health-score.js';
import { auditRead } from './read-audit.js';

/** Newest fresh result of each marker that the member may see: subscores would show a critical value before its time. Source: clinical 7.3.2. */
async function resultsOf(ctx: Context, patientId: string): Promise<ScoredResult[]> {
  const since = after(ctx.now(), -FRESH_DAYS * DAY_MS);
  const ids = await ctx.sql<{ id: string }>(
    `select distinct on (code) id from ${ctx.schema}.observation where patient_id = $1 and collected_at >= $2 and superseded_by is null
       and not needs_review and status in ('final', 'corrected') and verification <> 'rejected' and canonical_value is not null
       and (hidden_until is null or hidden_until <= $3)
     order by code, collected_at desc, id desc`,
    [patientId, since.toISOString(), ctx.now().toISOString()],
  );
  const rows = await ctx.em.find(BiomarkerObservation, { id: { $in: ids.map(one => one.id) } });
  const entries = await ctx.em.find(Biomarker, { id: { $in: rows.map(row => row.biomarkerId) } });
  return rows.flatMap(row => {
    const [{ comparator, appliedRange }, entry] = [row.open(ctx), entries.find(one => one.id === row.biomarkerId)];
    if (!entry || comparator !== null || row.canonicalAmount! <= 0) return [];
    const ageDays = Math.max(0, (ctx.now().getTime() - row.collectedAt.getTime()) / DAY_MS);
    const ranges = { optimal: appliedRange?.optimal ?? null, reference: appliedRange?.reference ?? null };
    return [{ code: row.code, category: entry.category, value: row.canonicalAmount!, ageDays, ...ranges }];
  });
}

const compute = async (ctx: Context, patientId: string): Promise<ComputedScore> =>
  scoreOf(await resultsOf(ctx, patientId), await ctx.em.count(Biomarker, { supersededAt: null, status: BiomarkerStatus.ACTIVE }));

/** The score of a patient's results by now, not stored. @param before the score before it. */
export async function scoreNow(ctx: Context, patientId: string, before: number | null): Promise<HealthScore> {
  const { score, components, ...shown } = await compute(ctx, patientId);
  const row = Object.assign(new HealthScore(), { patientId, modelVersion: SCORE_MODEL.version, computedAt: ctx.now(), ...shown });
  row.trend = score === null ? null : trendOf(before, score);
  row.seal(ctx, { score, components });
  return row;
}

const newestStored = (ctx: Context, patientId: string): Promise<HealthScore | null> =>
  ctx.load('health_score.newest', patientId, async ids => {
    const rows = await ctx.sql<{ id: string }>(
      `select distinct on (patient_id) id from ${ctx.schema}.health_score where patient_id = any($1) order by patient_id, computed_at desc, id desc`,
      [ids],
    );
    const found = await ctx.em.find(HealthScore, { id: { $in: rows.map(one => one.id) } });
    return inOrder(ids, found, row => row.patientId);
  });

/** The newest score; where none is stored, that of the results by now. */
export async function newestScore(ctx: Context, patientId: string): Promise<HealthScore> {
  const row = (await newestStored(ctx, patientId)) ?? (await scoreNow(ctx, patientId, null));
  await auditRead(ctx, 'health_scores', [row]);
  return row;
}
