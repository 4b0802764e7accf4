import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { Biomarker } from '../entities/biomarker.js';
import { BiomarkerObservation, BiomarkerObservationStatus as ObservationStatus } from '../entities/observation.js';
import { RetestCycle, RetestCycleStatus as Status } from '../entities/retest-cycle.js';
import { roundHalfEven } from '../entities/rounding.js';
import type { ValueRange } from '../entities/units.js';
import { compare, isComparable, type Measured, type Outcome } from '../rules/direction.js';
import { daysBetween, OPEN_STATUSES, RETEST_STATES, timingOf } from '../rules/retest-cycle.js';
import { announceOutcome } from './waiting-event.js';

/** Qualifying follow-up `o` of cycle `c`, in SQL; the earliest one counts. Source: clinical 7.1.5, 7.3.3. */
export const QUALIFIES = `o.patient_id = c.patient_id and o.code = c.code and o.source in ('lab', 'partner') and o.status in ('final', 'corrected')
  and o.verification <> 'rejected' and o.superseded_by is null and not o.needs_review and o.draw_id <> c.baseline_draw_id
  and o.collected_at > c.baseline_collected_at and o.collected_at <= c.expires_at`;

/** Why a cycle stays open although a follow-up is there: text result, or a value that cannot be converted. Source: clinical 7.2.8. */
export const NOT_COMPARABLE = 'not_comparable';

/** What made a cycle close or fail, for the audit row. */
export type Cause = Readonly<Record<string, string>>;

/** What a cycle measures against, and its follow-up. */
interface Pair {
  baseline: BiomarkerObservation;
  followUp: BiomarkerObservation;
  /** Dictionary version that judged the follow-up. */
  entry: Biomarker;
}

interface Compared {
  before: Measured;
  after: Measured;
  outcome: Outcome;
}

const measured = (ctx: Context, row: BiomarkerObservation): Measured | null =>
  row.canonicalAmount === null || row.status === ObservationStatus.ENTERED_IN_ERROR
    ? null
    : { value: row.canonicalAmount, comparator: row.open(ctx).comparator };

const otherLab = ({ baseline, followUp }: Pair): boolean =>
  baseline.performer !== null && followUp.performer !== null && baseline.performer !== followUp.performer;

function targetOf(ctx: Context, cycle: RetestCycle, followUp: BiomarkerObservation): ValueRange | null {
  if (cycle.targetLow !== null || cycle.targetHigh !== null) return { low: cycle.targetLow, high: cycle.targetHigh };
  const applied = followUp.open(ctx).appliedRange;
  return applied?.optimal ?? applied?.reference ?? null;
}

const laterOf = (a: Date | null, b: Date | null): Date | null => (a && b ? (a > b ? a : b) : (a ?? b));

/** Delta in the canonical unit and in percent; null when either result is censored. */
function deltaOf(before: Measured, after: Measured, decimals: number): { deltaAmount: number | null; deltaShare: number | null } {
  if (before.comparator !== null || after.comparator !== null) return { deltaAmount: null, deltaShare: null };
  const delta = after.value - before.value;
  return {
    deltaAmount: roundHalfEven(delta, decimals),
    deltaShare: before.value === 0 ? null : roundHalfEven((100 * delta) / before.value, 1),
  };
}

/** Direction of a pair of results that can be compared; null for others. */
function outcomeOf(ctx: Context, cycle: RetestCycle, pair: Pair): Compared | null {
  const [before, after] = [measured(ctx, pair.baseline), measured(ctx, pair.followUp)];
  const { direction, noise } = pair.entry;
  if (!before || !after || !isComparable(noise, before) || !isComparable(noise, after)) return null;
  const target = targetOf(ctx, cycle, pair.followUp);
  const outcome = compare({ direction, noise, target, otherLab: otherLab(pair), baseline: before, followUp: after });
  return { before, after, outcome };
}

/** The Outcome Record of a cycle. */
function record(ctx: Context, cycle: RetestCycle, { baseline, followUp, entry }: Pair, { before, after, outcome }: Compared): void {
  Object.assign(cycle, {
    followUpObservationId: followUp.id,
    followUpDrawId: followUp.drawId,
    followUpCollectedAt: followUp.collectedAt,
    followUpAmount: roundHalfEven(after.value, entry.decimals),
    ...deltaOf(before, after, entry.decimals),
    outcomeDirection: outcome.direction,
    outcomeBasis: outcome.basis,
    crossedTarget: outcome.crossedTarget,
    daysToRetest: daysBetween(cycle.baselineCollectedAt, followUp.collectedAt),
    timing: timingOf(cycle.baselineCollectedAt, cycle.retestDueAt, followUp.collectedAt),
    organic: cycle.promptCount === 0,
    valuesHiddenUntil: laterOf(baseline.hiddenUntil, followUp.hiddenUntil),
    closedAt: ctx.now(),
    nextPromptAt: null,
    failureCount: 0,
    lastErrorClass: null,
  });
}

/**
 * Closes an open cycle with its follow-up into the Outcome Record: direction, event, audit. False when the two results cannot be
 * compared; the cycle then stays open. Asks nobody: the follow-up carries the ranges that judged it. Source: clinical 7.2.
 */
export function closeCycle(ctx: Context, cycle: RetestCycle, pair: Pair, cause: Cause): boolean {
  const compared = outcomeOf(ctx, cycle, pair);
  if (!compared) return false;
  const from = cycle.status;
  cycle.status = move(RETEST_STATES, 're-test cycle', from, 'record');
  record(ctx, cycle, pair, compared);
  announceOutcome(ctx, cycle);
  ctx.audit('retest_cycle.recorded', cycle.id, { from, to: Status.RETESTED, prompt_count: cycle.promptCount, ...cause });
  return true;
}

/** Qualifying follow-ups of a cycle, the earliest draw first: one that can be compared, else any. */
async function earliestFollowUp(
  ctx: Context,
  cycle: Pick<RetestCycle, 'patientId' | 'code' | 'baselineDrawId' | 'baselineCollectedAt' | 'expiresAt'>,
): Promise<BiomarkerObservation | null> {
  const [row] = await ctx.sql<{ id: string }>(
    `select o.id from ${ctx.schema}.observation o,
       (values ($1::uuid, $2::text, $3::uuid, $4::timestamptz, $5::timestamptz)) as c (patient_id, code, baseline_draw_id, baseline_collected_at, expires_at)
     where ${QUALIFIES} order by (o.canonical_value is null), o.collected_at, o.id limit 1`,
    [cycle.patientId, cycle.code, cycle.baselineDrawId, cycle.baselineCollectedAt.toISOString(), cycle.expiresAt.toISOString()],
  );
  return row ? ctx.em.findOne(BiomarkerObservation, row.id) : null;
}

/** What stands for a baseline: itself, or the row that marks it as entered in error; a corrected one was put into the cycle. */
async function standing(ctx: Context, id: string): Promise<BiomarkerObservation> {
  const row = await ctx.em.findOneOrFail(BiomarkerObservation, id);
  return row.supersededBy === null ? row : standing(ctx, row.supersededBy);
}

/** The stored follow-up that closes a cycle and what it is compared with; null when there is none. */
export async function findPair(ctx: Context, cycle: RetestCycle, known?: BiomarkerObservation): Promise<Pair | null> {
  const followUp = await earliestFollowUp(ctx, cycle);
  if (!followUp) return null;
  const baseline = known ?? (await standing(ctx, cycle.baselineObservationId));
  return { baseline, followUp, entry: await ctx.em.findOneOrFail(Biomarker, followUp.biomarkerId) };
}

/** Keeps a cycle open whose follow-up cannot be compared; the next sweep tries again, a correction may have come. */
export function markNotComparable(cycle: RetestCycle): void {
  cycle.failureCount += 1;
  cycle.lastErrorClass = NOT_COMPARABLE;
}

export type Recorded = 'recorded' | 'not_comparable' | 'nothing';

/**
 * Records the earliest stored follow-up of a cycle, if it is still open: the row is locked, so handler, sweep and creation yield
 * one record and one event. Source: clinical 7.1.8.
 */
export async function recordStored(ctx: Context, cycleId: string, cause: Cause): Promise<Recorded> {
  const cycle = await ctx.em.findOne(RetestCycle, { id: cycleId, status: { $in: [...OPEN_STATUSES] } }, FOR_UPDATE);
  const pair = cycle && (await findPair(ctx, cycle));
  if (!cycle || !pair) return 'nothing';
  if (closeCycle(ctx, cycle, pair, cause)) return 'recorded';
  markNotComparable(cycle);
  return 'not_comparable';
}

/** Open cycles that a stored observation qualifies for, oldest first. */
async function waitingFor(ctx: Context, observationId: string): Promise<string[]> {
  const rows = await ctx.sql<{ id: string }>(
    `select c.id from ${ctx.schema}.observation o join ${ctx.schema}.retest_cycle c on c.patient_id = o.patient_id and c.code = o.code
     where o.id = $1 and c.status in ('baseline_set', 'prompted') and ${QUALIFIES} order by c.baseline_collected_at, c.id`,
    [observationId],
  );
  return rows.map(row => row.id);
}

/** A result that arrives after its cycle had expired is counted once, nothing else. Source: clinical 7.1.5, 7.1.12. */
async function countLate(ctx: Context, observationId: string): Promise<void> {
  await ctx.sql(
    `update ${ctx.schema}.retest_cycle c set late_follow_up_at = o.received_at from ${ctx.schema}.observation o
     where o.id = $1 and c.patient_id = o.patient_id and c.code = o.code and c.status = 'expired' and c.late_follow_up_at is null and o.received_at > c.closed_at
       and o.source in ('lab', 'partner') and o.status in ('final', 'corrected') and o.verification <> 'rejected' and not o.needs_review
       and o.draw_id <> c.baseline_draw_id and o.collected_at > c.baseline_collected_at`,
    [observationId],
  );
}

/** A follow-up closes every open cycle that it qualifies for; one that comes too late is counted. Source: clinical 7.1.5-7.1.8. */
export async function recordFollowUp(ctx: Context, observationId: string, cause: Cause): Promise<void> {
  for (const cycleId of await waitingFor(ctx, observationId)) await recordStored(ctx, cycleId, cause);
  await countLate(ctx, observationId);
}
