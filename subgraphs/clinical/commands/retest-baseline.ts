import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, type Violation } from '../../../runtime/request/errors.js';
import { storeResults } from '../commands/observation-store.js';
import { type Biomarker, BiomarkerNoiseModel } from '../entities/biomarker.js';
import { Intervention, InterventionStatus } from '../entities/intervention.js';
import {
  BiomarkerObservation,
  BiomarkerObservationSource as Source,
  BiomarkerObservationStatus as Status,
} from '../entities/observation.js';
import type { RetestBaselineInput, RetestInterventionInput, StartRetestCycleInput } from '../inputs/retest-cycle.js';
import { markerOf } from '../queries/dictionary.js';
import { STANDING } from '../queries/observation.js';
import { edgeViolations } from '../rules/biomarker.js';
import type { Demographics } from '../rules/demographics.js';
import { isRunning } from '../rules/intervention.js';
import { isFromADraw, type Reported, violationsOf } from '../rules/observation.js';

const AT = '/input/baseline';
const INLINE = ['drawId', 'collectedAt', 'value', 'unit'] as const;

const isInline = (baseline: RetestBaselineInput): boolean => baseline.observationId == null;

/** The patient's own, measured in a draw, not withdrawn. @throws Problem not_found, also for another patient's. */
const storedBaseline = (ctx: Context, patientId: string, id: string): Promise<BiomarkerObservation> =>
  requireRow(ctx, BiomarkerObservation, { id, patientId, ...STANDING }, 'The baseline observation was not found');

/** The draw that a call is about, null while it cannot be known. @throws Problem not_found for an observation that is not the patient's. */
export async function drawOf(ctx: Context, patientId: string, { baseline }: StartRetestCycleInput): Promise<string | null> {
  if (isInline(baseline)) return baseline.drawId?.toLowerCase() ?? null;
  return (await storedBaseline(ctx, patientId, baseline.observationId!)).drawId;
}

const reported = (baseline: RetestBaselineInput): Reported => ({
  value: baseline.value!,
  unit: baseline.unit!,
  comparator: baseline.comparator ?? null,
  textValue: null,
  collectedAt: baseline.collectedAt!,
  drawId: baseline.drawId!.toLowerCase(),
  source: Source.LAB,
  status: Status.FINAL,
  performer: baseline.performer ?? null,
  referenceRange: null,
  confirmed: false,
});

function* baselineViolations(ctx: Context, baseline: RetestBaselineInput, entry: Biomarker | undefined): Generator<Violation> {
  const given = INLINE.filter(name => baseline[name] != null);
  if (!isInline(baseline)) {
    for (const name of given) yield { pointer: `${AT}/${name}`, message: 'is not given beside an observation' };
    return;
  }
  for (const name of INLINE) if (!given.includes(name)) yield { pointer: `${AT}/${name}`, message: 'is required without an observation' };
  if (given.length === INLINE.length && entry) yield* violationsOf(markerOf(entry), reported(baseline), ctx.now(), AT);
}

function* targetViolations({ target }: StartRetestCycleInput, entry: Biomarker | undefined): Generator<Violation> {
  if (target == null) return;
  const positive = entry?.noise.model === BiomarkerNoiseModel.LOG_NORMAL;
  yield* edgeViolations({ low: target.low ?? null, high: target.high ?? null }, positive, '/input/target');
}

/** Everything that is wrong with a call beyond its types. Source: clinical 4.1. */
export function violationsOfStart(ctx: Context, input: StartRetestCycleInput, entry: Biomarker | undefined): Violation[] {
  const { baseline, intervention } = input;
  const found = [...baselineViolations(ctx, baseline, entry), ...targetViolations(input, entry)];
  if (!entry) found.push({ pointer: '/input/code', message: 'is not in the dictionary' });
  if ((intervention.id == null) === (intervention.key == null))
    found.push({ pointer: '/input/intervention', message: 'needs exactly one of id and key' });
  return found;
}

/**
 * The patient's intervention, by id or the running one by key. @throws Problem not_found when the patient has none such, conflict
 * when it is not running.
 */
export async function runningIntervention(
  ctx: Context,
  patientId: string,
  { kind, id, key }: RetestInterventionInput,
): Promise<Intervention> {
  const where = { patientId, kind, ...(id ? { id } : { key: key! }) };
  const found = await ctx.em.find(Intervention, where, { orderBy: { createdAt: 'desc', id: 'desc' } });
  const running = found.find(one => isRunning(one.status));
  if (running) return running;
  const status = found[0]?.status ?? fail('not_found', 'The intervention was not found');
  return fail('conflict', `the intervention is ${status.replaceAll('_', ' ')}, not ${InterventionStatus.ACTIVE}`, {
    reason: 'intervention_not_active',
  });
}

/** A stored laboratory result of an inline baseline's draw, of the same laboratory if there is one. */
async function storedLike(ctx: Context, patientId: string, code: string, { drawId, performer }: Reported) {
  const there = await ctx.em.find(
    BiomarkerObservation,
    { patientId, code, drawId, ...STANDING, canonicalAmount: { $ne: null }, source: { $in: [Source.LAB, Source.PARTNER] } },
    { orderBy: { receivedAt: 'asc', id: 'asc' } },
  );
  return there.find(one => one.performer === performer) ?? there[0];
}

/** An inline result, stored as a laboratory's observation of that draw if none is there. */
async function inlineBaseline(
  ctx: Context,
  patientId: string,
  baseline: RetestBaselineInput,
  { code }: Biomarker,
  demographics: Demographics | null,
): Promise<BiomarkerObservation> {
  const result = reported(baseline);
  const same = await storedLike(ctx, patientId, code, result);
  if (same) return same;
  const row = { ...result, name: code, method: null, sourceRef: null, at: AT };
  const [fresh] = await storeResults(ctx, patientId, [row], demographics);
  return fresh!;
}

const unfit = (message: string): never => invalid(`${AT}/observationId`, message);

/** The baseline of a cycle: measured in a draw, of this marker, comparable. @throws Problem invalid_request or not_found. */
export async function baselineOf(
  ctx: Context,
  patientId: string,
  { baseline }: StartRetestCycleInput,
  entry: Biomarker,
  demographics: Demographics | null,
): Promise<BiomarkerObservation> {
  if (isInline(baseline)) return inlineBaseline(ctx, patientId, baseline, entry, demographics);
  const found = await storedBaseline(ctx, patientId, baseline.observationId!);
  if (found.code !== entry.code) unfit('is of another marker');
  if (!isFromADraw(found.source) || found.drawId === null) unfit('is not a laboratory or partner result');
  if (found.canonicalAmount === null) unfit('has no value that can be compared');
  return found;
}
