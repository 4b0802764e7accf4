import type { Context } from '../../../runtime/request/context.js';
import { Biomarker } from '../entities/biomarker.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { markerOf } from '../queries/dictionary.js';
import { STANDING } from '../queries/observation.js';
import { lockPatient } from '../queries/patient.js';
import { type Demographics, subjectAt } from '../rules/demographics.js';
import { judgedAgain } from '../rules/observation.js';
import { scoreLater } from './health-score.js';

/** How far back results are judged again, months. Source: clinical 5, consumed. */
const MONTHS = 24;

function monthsBefore(at: Date, months: number): Date {
  const then = new Date(at);
  then.setUTCMonth(then.getUTCMonth() - months);
  return then;
}

/** Standing results of the last 24 months that have a value. */
const recentOf = (ctx: Context, patientId: string): Promise<BiomarkerObservation[]> =>
  ctx.em.find(BiomarkerObservation, {
    patientId,
    ...STANDING,
    canonicalAmount: { $ne: null },
    collectedAt: { $gte: monthsBefore(ctx.now(), MONTHS) },
  });

/**
 * Judges a patient's results again by what is known of the patient now, each by the dictionary version that judged it first. Alerts
 * are for new results only. Source: clinical 2, range choice; 5.
 */
export async function judgeAgain(ctx: Context, patientId: string, demographics: Demographics | null): Promise<void> {
  await lockPatient(ctx, patientId);
  const rows = await recentOf(ctx, patientId);
  const ids = [...new Set(rows.map(row => row.biomarkerId))];
  const entries = await ctx.em.find(Biomarker, { id: { $in: ids } }, { populate: ['ranges'] });
  const markers = new Map(entries.map(entry => [entry.id, markerOf(entry)]));
  const changed = rows.filter(row => {
    const subject = { performer: row.performer, ...subjectAt(demographics, row.collectedAt) };
    const sealed = row.open(ctx);
    const fresh = judgedAgain(markers.get(row.biomarkerId)!, row.canonicalAmount!, sealed, subject);
    if (JSON.stringify(fresh) === JSON.stringify(sealed)) return false;
    row.seal(ctx, fresh);
    return true;
  });
  if (changed.length === 0) return;
  await scoreLater(ctx, patientId);
  ctx.audit('observations.judged_again', patientId, { rows: changed.length });
}
