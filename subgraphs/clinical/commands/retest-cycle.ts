import { retestCycleStarted } from '../../../events/catalogue/clinical.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { Biomarker } from '../entities/biomarker.js';
import { Intervention } from '../entities/intervention.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { ProtocolMarker } from '../entities/protocol.js';
import { RetestCycle } from '../entities/retest-cycle.js';
import { roundHalfEven } from '../entities/rounding.js';
import { StartRetestCycleInput } from '../inputs/retest-cycle.js';
import { defaultBrand } from '../ports/brands.js';
import { demographicsOf } from '../ports/demographics.js';
import { settingsOf } from '../ports/retest-settings.js';
import { findMarkers, loadProtocolVersion } from '../queries/dictionary.js';
import { lockPatient } from '../queries/patient.js';
import type { Demographics } from '../rules/demographics.js';
import { datesOf, DEFAULT_GRACE_DAYS, DEFAULT_WINDOW_DAYS, nextPromptAt } from '../rules/retest-cycle.js';
import { baselineOf, drawOf, runningIntervention, violationsOfStart } from './retest-baseline.js';
import { closeCycle, findPair, markNotComparable } from './retest-outcome.js';

/** What is found out before a cycle begins. */
interface StartFacts {
  brandId: string | null;
  demographics: Demographics | null;
}

/** Brand and demographics of a cycle that is to begin. */
export const cycleFacts = preparation(async (ctx, { input }: { input: StartRetestCycleInput }): Promise<StartFacts> => {
  const patientId = input.patientId.toLowerCase();
  const brand = input.brandId?.toLowerCase() ?? defaultBrand(ctx, patientId);
  const [brandId, demographics] = await Promise.all([brand, demographicsOf(ctx, patientId)]);
  return { brandId, demographics };
});

function requireBrand({ brandId }: StartFacts): string {
  const errors = [{ pointer: '/input/brandId', message: 'is required: there is no default brand' }];
  return brandId ?? fail('invalid_request', 'The brand is missing', { errors });
}

/** What a protocol plans for a marker; a stack plans nothing. */
async function plannedMarker(ctx: Context, { key, definitionVersion }: Intervention, code: string): Promise<ProtocolMarker | undefined> {
  const protocol = definitionVersion === null ? null : await loadProtocolVersion(ctx, key, definitionVersion);
  return protocol?.markers.find(marker => marker.code === code);
}

interface Start {
  input: StartRetestCycleInput;
  entry: Biomarker;
  intervention: Intervention;
  baseline: BiomarkerObservation;
  brandId: string;
}

async function build(ctx: Context, { input, entry, intervention, baseline, brandId }: Start): Promise<RetestCycle> {
  const planned = await plannedMarker(ctx, intervention, entry.code);
  const windowDays = input.windowDays ?? planned?.windowDays ?? DEFAULT_WINDOW_DAYS;
  const graceDays = input.graceDays ?? DEFAULT_GRACE_DAYS;
  const target = input.target ?? planned?.target;
  const cycle = Object.assign(new RetestCycle(), {
    patientId: baseline.patientId,
    code: entry.code,
    brandId,
    baselineObservationId: baseline.id,
    baselineDrawId: baseline.drawId!,
    baselineCollectedAt: baseline.collectedAt,
    baselineAmount: roundHalfEven(baseline.canonicalAmount!, entry.decimals),
    unit: entry.unit,
    windowDays,
    graceDays,
    interventionKind: intervention.kind,
    interventionId: intervention.id,
    interventionKey: intervention.key,
    targetLow: target?.low ?? null,
    targetHigh: target?.high ?? null,
    valuesHiddenUntil: baseline.hiddenUntil,
    ...datesOf(baseline.collectedAt, windowDays, graceDays),
    createdAt: ctx.now(),
  });
  cycle.nextPromptAt = nextPromptAt(cycle, settingsOf(ctx));
  return cycle;
}

function announce(ctx: Context, cycle: RetestCycle): void {
  const { code, interventionKey, windowDays, retestDueAt, baselineCollectedAt, patientId: userId, brandId } = cycle;
  const dates = { due_at: retestDueAt.toISOString(), started_at: baselineCollectedAt.toISOString() };
  ctx.emit(retestCycleStarted, { code, protocol: interventionKey, window_days: windowDays, ...dates }, { userId, brandId });
  ctx.audit('retest_cycle.started', cycle.id, { from: null, to: cycle.status, prompt_count: 0 });
}

/** A follow-up that was stored before the cycle closes it in the same transaction. Source: clinical 4.1. */
async function closeIfRetested(ctx: Context, cycle: RetestCycle, baseline: BiomarkerObservation): Promise<void> {
  const pair = await findPair(ctx, cycle, baseline);
  if (pair && !closeCycle(ctx, cycle, pair, {})) markNotComparable(cycle);
}

/** Captures a baseline of a running intervention. Again for the same patient, marker and draw: the stored cycle, unchanged. */
export async function startRetestCycle(ctx: Context, input: StartRetestCycleInput, facts: StartFacts): Promise<RetestCycle> {
  const patientId = input.patientId.toLowerCase();
  await lockPatient(ctx, patientId);
  const entry = (await findMarkers(ctx, [input.code])).get(input.code);
  const draw = await drawOf(ctx, patientId, input);
  const before = entry && draw && (await ctx.em.findOne(RetestCycle, { patientId, code: entry.code, baselineDrawId: draw }));
  if (before) return (ctx.status(200), before);
  requireValid(violationsOfStart(ctx, input, entry));
  const intervention = await runningIntervention(ctx, patientId, input.intervention);
  const baseline = await baselineOf(ctx, patientId, input, entry!, facts.demographics);
  const cycle = await build(ctx, { input, entry: entry!, intervention, baseline, brandId: requireBrand(facts) });
  announce(ctx, cycle);
  ctx.em.persist(cycle);
  await closeIfRetested(ctx, cycle, baseline);
  return cycle;
}
