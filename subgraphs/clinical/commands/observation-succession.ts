import type { Context } from '../../../runtime/request/context.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { RetestCycle } from '../entities/retest-cycle.js';
import { roundHalfEven } from '../entities/rounding.js';
import { STANDING } from '../queries/observation.js';
import { isOpenCycle } from '../rules/retest-cycle.js';

/** What two results of the same measurement have in common. */
export type Measurement = Pick<BiomarkerObservation, 'patientId' | 'code' | 'drawId' | 'performer'>;

/** Whether two results are of one marker in one draw by one laboratory; without a draw only their reference can tell. */
export const sameMeasurement = (a: Measurement, b: Measurement): boolean =>
  a.patientId === b.patientId && a.code === b.code && a.drawId === b.drawId && a.performer === b.performer;

/** Results that nothing replaces any more, so that the new one can follow them in the draw and under their reference. */
export async function replace(ctx: Context, rows: readonly BiomarkerObservation[], by: string): Promise<void> {
  for (const row of rows) row.supersededBy = by;
  if (rows.length) await ctx.em.flush();
}

/** One result of a draw that is left of several that contradicted each other needs no person any more. Source: clinical 7.3.3. */
export async function settleConflict(ctx: Context, { patientId, code, drawId, performer }: Measurement): Promise<void> {
  if (drawId === null) return;
  const rivals = await ctx.em.find(BiomarkerObservation, { patientId, code, drawId, performer, ...STANDING });
  const waiting = rivals.filter(one => one.needsReview);
  if (rivals.length === 1 && waiting.length === 1) waiting[0]!.needsReview = false;
}

function takeBaseline(ctx: Context, cycle: RetestCycle, fresh: BiomarkerObservation & { canonicalAmount: number }): void {
  cycle.baselineObservationId = fresh.id;
  cycle.baselineAmount = roundHalfEven(fresh.canonicalAmount, fresh.open(ctx).decimals);
  cycle.valuesHiddenUntil = fresh.hiddenUntil;
}

const hasValue = (row: BiomarkerObservation | null): row is BiomarkerObservation & { canonicalAmount: number } =>
  row !== null && row.canonicalAmount !== null;

/** Open cycles with this baseline take the corrected one; closed ones keep what was published, with a note. Source: clinical 7.1.13. */
export async function adjustCycles(ctx: Context, old: BiomarkerObservation, fresh: BiomarkerObservation | null): Promise<void> {
  const $or = [{ baselineObservationId: old.id }, { followUpObservationId: old.id }];
  const cycles = await ctx.em.find(RetestCycle, { patientId: old.patientId, $or });
  const change = fresh ? 'corrected' : 'retracted';
  for (const cycle of cycles) {
    const open = isOpenCycle(cycle.status);
    const of = cycle.baselineObservationId === old.id || open ? 'baseline' : 'follow_up';
    if (open && hasValue(fresh)) takeBaseline(ctx, cycle, fresh);
    ctx.audit(`retest_cycle.${open ? 'baseline' : 'outcome'}_${change}`, cycle.id, { status: cycle.status, of });
  }
}

/** Brings cycles and the audit log up to date with what a result that was just stored has replaced. */
export async function succeeded(ctx: Context, replaced: readonly BiomarkerObservation[], fresh: BiomarkerObservation): Promise<void> {
  if (replaced.length === 0) return;
  await ctx.em.flush();
  for (const old of replaced) {
    await adjustCycles(ctx, old, fresh);
    ctx.audit('observation.superseded', old.id, { by: fresh.id, from: old.status, to: fresh.status });
  }
}
