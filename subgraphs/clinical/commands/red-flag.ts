import { lockRow } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { Intervention, InterventionStatus } from '../entities/intervention.js';
import { EncounterPeriod } from '../entities/neighbours.js';
import type { BiomarkerObservation } from '../entities/observation.js';
import { RedFlag, RedFlagRule, RedFlagRuleStatus, RedFlagSource } from '../entities/red-flag.js';
import { loadProtocolVersion } from '../queries/dictionary.js';
import { isErased, lockPatient } from '../queries/patient.js';
import { contraindicated } from '../rules/intervention.js';
import { fires, markersOf, RED_FLAG_STATES, type RedFlagTrigger, STANDING_FLAGS } from '../rules/red-flag.js';
import { announceFlag } from './waiting-event.js';

export const activeRules = (ctx: Context, source: RedFlagSource): Promise<RedFlagRule[]> =>
  ctx.em.find(RedFlagRule, { source, status: RedFlagRuleStatus.ACTIVE }, { orderBy: { key: 'asc' } });

async function raise(
  ctx: Context,
  patientId: string,
  rule: RedFlagRule,
  evidence: string[],
  hiddenUntil: Date | null = null,
): Promise<void> {
  if (await ctx.em.findOne(RedFlag, { patientId, ruleKey: rule.key, status: { $in: [...STANDING_FLAGS] } })) return;
  const flag = Object.assign(new RedFlag(), {
    patientId,
    ruleId: rule.id,
    ruleKey: rule.key,
    severity: rule.severity,
    source: rule.source,
    detectedAt: ctx.now(),
    hiddenUntil,
  });
  flag.seal(ctx, { evidence, resolution: null });
  ctx.em.persist(flag);
  announceFlag(ctx, flag);
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
  hidden_until: Date | string | null;
}

/** Until when the last of results is kept from the member; null for none. */
function hiddenUntil(results: readonly Newest[]): Date | null {
  const times = results.flatMap(one => (one.hidden_until === null ? [] : [new Date(one.hidden_until).getTime()]));
  return times.length ? new Date(Math.max(...times)) : null;
}

/** Newest standing result of each marker. */
const newestOf = (ctx: Context, patientId: string, codes: readonly string[]): Promise<Newest[]> =>
  ctx.sql<Newest>(
    `select distinct on (code) id, code, canonical_value::float8 as value, hidden_until from ${ctx.schema}.observation
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
    const evidence = newest.filter(one => named.includes(one.code));
    await raise(
      ctx,
      patientId,
      rule,
      evidence.map(one => one.id),
      hiddenUntil(evidence),
    );
  }
}

/** Rules over what devices measured. @param evidence the batch that was synced. */
export async function detectInWearables(
  ctx: Context,
  patientId: string,
  wearable: Readonly<Record<string, number>>,
  evidence: string,
): Promise<void> {
  await lockPatient(ctx, patientId);
  if (await isErased(ctx, patientId)) return;
  await detect(ctx, patientId, RedFlagSource.WEARABLE, { wearable }, [evidence]);
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
  const evidence = unfit.map(one => one.id);
  if (evidence.length) await flagContraindication(ctx, patientId, evidence);
}

async function moveFlag(ctx: Context, id: string, trigger: RedFlagTrigger): Promise<RedFlag> {
  const flag = await lockRow(ctx, RedFlag, { id });
  const from = flag.status;
  flag.status = move(RED_FLAG_STATES, 'red flag', from, trigger);
  ctx.audit(`red_flag.${trigger}`, flag.id, { from, to: flag.status });
  return flag;
}

/** A clinician has seen it. */
export const acknowledgeRedFlag = async (ctx: Context, id: string): Promise<RedFlag> =>
  Object.assign(await moveFlag(ctx, id, 'acknowledge'), { acknowledgedBy: actorOf(ctx.caller), acknowledgedAt: ctx.now() });

/** Ends a flag. @param resolution what was done about it, or why it was no danger. */
export async function endFlag(ctx: Context, id: string, trigger: 'resolve' | 'dismiss', resolution: string): Promise<RedFlag> {
  const flag = await moveFlag(ctx, id, trigger);
  flag.resolvedAt = ctx.now();
  flag.seal(ctx, { ...flag.open(ctx), resolution });
  return flag;
}

/** Keeps when an encounter began, so that its results are known from others, and judges what runs by what was found. */
export async function recordEncounter(ctx: Context, encounter: EncounterPeriod, codes: readonly string[]): Promise<void> {
  await ctx.em.upsert(EncounterPeriod, encounter);
  await flagContraindicated(ctx, encounter.patientId, codes);
}
