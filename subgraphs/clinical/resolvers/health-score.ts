import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { healthScoreComputed } from '../../../events/catalogue/clinical.js';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { scoreLater } from '../commands/health-score-due.js';
import { auditRead } from '../commands/read-audit.js';
import { Biomarker, BiomarkerStatus } from '../entities/biomarker.js';
import {
  HealthScore,
  HealthScoreConnection,
  HealthScorePlan,
  SCORE_READERS,
  scorePlace,
  type SealedScore,
} from '../entities/health-score.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { sealJson } from '../entities/sealed.js';
import { HealthScoreArgs, HealthScoresArgs, RecomputeHealthScoreInput } from '../inputs/health-score.js';
import { lockPatient, patientOf } from '../queries/patient.js';
import { type ComputedScore, FRESH_DAYS, isNews, SCORE_MODEL, type ScoredResult, scoreOf, trendOf } from '../rules/health-score.js';
import { DAY_MS } from '../rules/retest-cycle.js';
import type { DueWork } from '../timers/care.js';

/** Newest fresh result of each marker that the member may see: subscores would tell a critical value before its time. Source: clinical 7.3.2. */
async function resultsOf(ctx: Context, patientId: string): Promise<ScoredResult[]> {
  const since = new Date(ctx.now().getTime() - FRESH_DAYS * DAY_MS);
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

function build(ctx: Context, patientId: string, computed: ComputedScore, before: number | null): HealthScore {
  const { score, components, ...shown } = computed;
  const row = Object.assign(new HealthScore(), { patientId, modelVersion: SCORE_MODEL.version, computedAt: ctx.now(), ...shown });
  row.trend = score === null ? null : trendOf(before, score);
  row.detailsSealed = sealJson(ctx, { score, components } satisfies SealedScore, scorePlace(row.id));
  return row;
}

function announce(ctx: Context, row: HealthScore): void {
  row.announced = true;
  const { id, band, trend, modelVersion, patientId: userId } = row;
  const data = { score_id: id, model_version: modelVersion, band: band!, trend: trend!, computed_at: row.computedAt.toISOString() };
  ctx.emit(healthScoreComputed, data, { userId });
}

/** Plans another score for when the next result that is kept from the member may be seen. */
async function scoreWhenShown(ctx: Context, patientId: string): Promise<void> {
  const [next] = await ctx.sql<{ at: Date | string | null }>(
    `select min(hidden_until) as at from ${ctx.schema}.observation where patient_id = $1 and hidden_until > $2 and superseded_by is null`,
    [patientId, ctx.now().toISOString()],
  );
  if (next?.at) await scoreLater(ctx, patientId, new Date(next.at).getTime() - ctx.now().getTime());
}

/** Stores a new score of a patient and tells of it when it is news. */
async function store(ctx: Context, patientId: string): Promise<void> {
  await lockPatient(ctx, patientId);
  const newest = { orderBy: { computedAt: 'desc', id: 'desc' } } as const;
  const before = await ctx.em.findOne(HealthScore, { patientId, band: { $ne: null } }, newest);
  const told = await ctx.em.findOne(HealthScore, { patientId, announced: true }, newest);
  const row = build(ctx, patientId, await compute(ctx, patientId), before?.open(ctx).score ?? null);
  if (isNews(row.band, told && { band: told.band, at: told.computedAt }, ctx.now())) announce(ctx, row);
  ctx.em.persist(row);
  await scoreWhenShown(ctx, patientId);
  ctx.audit('health_score.computed', row.id, { status: row.status, model_version: row.modelVersion });
}

/** Patients whose results have been quiet, some at a time. */
export const scoreDue: DueWork = async (ctx, at) => {
  const due = await ctx.sql<{ patient_id: string }>(
    `delete from ${ctx.schema}.health_score_due where patient_id in
       (select patient_id from ${ctx.schema}.health_score_due where due_at <= $1 order by due_at limit 50 for update skip locked) returning patient_id`,
    [at.toISOString()],
  );
  for (const { patient_id: patientId } of due) await store(ctx, patientId);
};

/** The newest score; where none is stored, what the results say now. */
export async function newestScore(ctx: Context, patientId: string): Promise<HealthScore> {
  const stored = await ctx.load('health_score.newest', patientId, async ids => {
    const rows = await ctx.sql<{ id: string }>(
      `select distinct on (patient_id) id from ${ctx.schema}.health_score where patient_id = any($1) order by patient_id, computed_at desc, id desc`,
      [ids],
    );
    const found = await ctx.em.find(HealthScore, { id: { $in: rows.map(one => one.id) } });
    return ids.map(id => found.find(row => row.patientId === id) ?? null);
  });
  const row = stored ?? build(ctx, patientId, await compute(ctx, patientId), null);
  await auditRead(ctx, 'health_scores', [row]);
  return row;
}

@Resolver(() => HealthScore)
export class HealthScoreResolver {
  @Access({ user: 'read:clinical' })
  @Query(() => HealthScore, { description: 'Own newest score.' })
  myHealthScore(@Ctx() ctx: Context): Promise<HealthScore> {
    return newestScore(ctx, ctx.caller.userId!);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read' })
  @Query(() => HealthScore, { description: "A patient's newest score." })
  healthScore(@Args(() => HealthScoreArgs) { userId }: HealthScoreArgs, @Ctx() ctx: Context): Promise<HealthScore> {
    return newestScore(ctx, userId.toLowerCase());
  }

  @Access({ ...SCORE_READERS, self: true })
  @Query(() => HealthScoreConnection, { description: 'Scores, newest first.' })
  async healthScores(
    @Args(() => HealthScoresArgs) { userId, ...paging }: HealthScoresArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<HealthScore>> {
    const found = await page(ctx.em, HealthScore, { patientId: patientOf(ctx, userId) }, paging, { time: 'computedAt' });
    await auditRead(ctx, 'health_scores', found.nodes);
    return found;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:results' })
  @Mutation(() => HealthScorePlan, { description: "Computes a patient's score anew, soon." })
  async recomputeHealthScore(
    @Arg('input', () => RecomputeHealthScoreInput) input: RecomputeHealthScoreInput,
    @Ctx() ctx: Context,
  ): Promise<HealthScorePlan> {
    const userId = input.userId.toLowerCase();
    await scoreLater(ctx, userId, 0);
    ctx.audit('health_score.requested', userId, {});
    return { userId, dueAt: ctx.now() };
  }
}
