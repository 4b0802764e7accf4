import { redFlagDetected } from '../../../events/catalogue/clinical.js';
import type { Context } from '../../../runtime/request/context.js';
import type { BiomarkerObservation } from '../entities/observation.js';
import { RedFlag, RedFlagRule, redFlagPlace, RedFlagRuleStatus, RedFlagSource, type SealedFlag } from '../entities/red-flag.js';
import { sealJson } from '../entities/sealed.js';
import { contraindicated } from '../rules/intervention.js';
import { fires, markersOf } from '../rules/red-flag.js';
import { Intervention, InterventionStatus } from '../entities/intervention.js';
import { loadProtocolVersion } from '../queries/dictionary.js';
import { lockPatient } from '../queries/patient.js';

export const activeRules = (ctx: Context, source: RedFlagSource): Promise<RedFlagRule[]> =>
  ctx.em.find(RedFlagRule, { source, status: RedFlagRuleStatus.ACTIVE }, { orderBy: { key: 'asc' } });

async function raise(ctx: Context, patientId: string, rule: RedFlagRule, evidence: string[]): Promise<void> {
  const standing = await ctx.em.findOne(RedFlag, { patientId, ruleKey: rule.key, status: { $in: ['open', 'acknowledged'] as never } });
  if (standing) return;
  const flag = Object.assign(new RedFlag(), {
    patientId,
    ruleId: rule.id,
    ruleKey: rule.key,
    severity: rule.severity,
    source: rule.source,
    detectedAt: ctx.now(),
  });
  flag.detailsSealed = sealJson(ctx, { evidence, resolution: null } satisfies SealedFlag, redFlagPlace(flag.id));
  ctx.em.persist(flag);
  const data = { flag_id: flag.id, rule: rule.key, severity: rule.severity, source: rule.source, detected_at: ctx.now().toISOString() };
  ctx.emit(redFlagDetected, data, { userId: patientId });
  ctx.audit('red_flag.detected', flag.id, { rule: rule.key, severity: rule.severity });
}

/**
 * Raises a flag for each active rule of a source that fires and has none standing. The patient must be locked.
 * @param inputs coded inputs of the rules' conditions.
 */
export async function detect(ctx: Context, patientId: string, source: RedFlagSource, inputs: object, evidence: string[]): Promise<void> {
  for (const rule of await activeRules(ctx, source)) if (fires(rule.condition, inputs)) await raise(ctx, patientId, rule, evidence);
}

interface Newest {
  id: string;
  code: string;
  value: number | null;
}

/** Newest standing result of each marker. */
const newestOf = (ctx: Context, patientId: string, codes: readonly string[]): Promise<Newest[]> =>
  ctx.sql<Newest>(
    `select distinct on (code) id, code, canonical_value::float8 as value from ${ctx.schema}.observation
     where patient_id = $1 and code = any($2) and superseded_by is null and not needs_review and status in ('final', 'corrected') and verification <> 'rejected'
     order by code, collected_at desc, id desc`,
    [patientId, codes],
  );

/** Rules over biomarkers that name a marker of the fresh results: judged on the newest result of each marker that they name. */
export async function detectInResults(ctx: Context, patientId: string, fresh: readonly BiomarkerObservation[]): Promise<void> {
  const codes = new Set(fresh.filter(row => row.canonicalAmount !== null).map(row => row.code));
  const rules = codes.size ? await activeRules(ctx, RedFlagSource.BIOMARKER) : [];
  const concerned = rules.filter(rule => markersOf(rule.condition).some(code => codes.has(code)));
  if (concerned.length === 0) return;
  await ctx.em.flush();
  const newest = await newestOf(ctx, patientId, [...new Set(concerned.flatMap(rule => markersOf(rule.condition)))]);
  const biomarkers = Object.fromEntries(newest.map(({ code, value }) => [code, { value }]));
  for (const rule of concerned) {
    if (!fires(rule.condition, { biomarkers })) continue;
    const named = markersOf(rule.condition);
    await raise(
      ctx,
      patientId,
      rule,
      newest.filter(one => named.includes(one.code)).map(one => one.id),
    );
  }
}

/** Raises the flag of a contraindication. @param evidence ids of interventions. */
export const flagContraindication = (ctx: Context, patientId: string, evidence: string[]): Promise<void> =>
  detect(ctx, patientId, RedFlagSource.QUESTIONNAIRE, { contraindicated: true }, evidence);

/**
 * Raises a flag when a protocol that runs is contraindicated for its patient; the interventions are its evidence. A clinician
 * decides what becomes of them. Source: clinical 5, consumed.
 * @param codes contraindication codes of the patient.
 */
export async function flagContraindicated(ctx: Context, patientId: string, codes: readonly string[]): Promise<void> {
  await lockPatient(ctx, patientId);
  const running = await ctx.em.find(Intervention, {
    patientId,
    status: { $in: [InterventionStatus.ACTIVE, InterventionStatus.PAUSED] },
    definitionVersion: { $ne: null },
  });
  const protocols = await Promise.all(running.map(({ key, definitionVersion }) => loadProtocolVersion(ctx, key, definitionVersion!)));
  const unfit = running.filter((_, index) => contraindicated(protocols[index]?.contraindications ?? [], codes).length > 0);
  if (unfit.length)
    await flagContraindication(
      ctx,
      patientId,
      unfit.map(one => one.id),
    );
}
