import type { Context } from '../../../runtime/request/context.js';
import { Consult, ConsultStatus, RetainedConsult } from '../entities/consult.js';
import { keepUntil, retentionYears } from '../rules/retention.js';

const yearsOf = (ctx: Context): number => retentionYears(ctx.host.config.setting('CLINICAL_RETAIN_SIGNED_CONSULT_YEARS'));

/** Why signed consults outlive an erasure. */
export const basisOf = (ctx: Context): string => `medical records: signed consults are kept for ${yearsOf(ctx)} years`;

/** Keeps type and dates of a patient's signed consults where they must be kept, nobody's from then on. Answers how many. */
export async function retainConsults(ctx: Context, patientId: string): Promise<number> {
  const years = yearsOf(ctx);
  if (years === 0) return 0;
  const signed = await ctx.em.find(Consult, { patientId, status: ConsultStatus.SIGNED });
  const kept = signed.map(({ id, type, createdAt, signedAt, followUpDueOn }) =>
    Object.assign(new RetainedConsult(), { id, type, createdAt, signedAt, followUpDueOn, keepUntil: keepUntil(signedAt!, years) }),
  );
  const due = kept.filter(one => one.keepUntil > ctx.now());
  if (due.length) await ctx.em.insertMany(due);
  return due.length;
}

/** What need not be kept any longer goes. */
export async function deleteRetainedConsults(ctx: Context, at: Date): Promise<void> {
  const rows = await ctx.em.nativeDelete(RetainedConsult, { keepUntil: { $lte: at } });
  ctx.audit('retained_consult.deleted', null, { rows });
}
