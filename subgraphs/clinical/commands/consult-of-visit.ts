import type { Context } from '../../../runtime/request/context.js';
import { Consult, ConsultStatus as Status } from '../entities/consult.js';
import { moveConsult } from './consult.js';

/** The consult of a patient that a visit is for: asked for with the visit's type, else the only one that waits. */
async function consultFor(ctx: Context, patientId: string, type: string): Promise<Consult | null> {
  const waiting = await ctx.em.find(Consult, { patientId, status: Status.REQUESTED }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return waiting.find(one => one.type === type) ?? (waiting.length === 1 ? waiting[0]! : null);
}

/** The consult that is scheduled with a visit. */
const scheduledWith = (ctx: Context, visitId: string): Promise<Consult | null> =>
  ctx.em.findOne(Consult, { visitId, status: Status.SCHEDULED });

/** Schedules the consult that a new visit is for. */
export async function scheduleFor(ctx: Context, patientId: string, visit: { id: string; type: string }): Promise<void> {
  const consult = await consultFor(ctx, patientId, visit.type);
  if (!consult) return;
  consult.visitId = visit.id;
  moveConsult(ctx, consult, 'schedule');
}

export async function rescheduleWith(ctx: Context, visitId: string): Promise<void> {
  const consult = await scheduledWith(ctx, visitId);
  if (consult) moveConsult(ctx, consult, 'schedule');
}

/** The consult of a visit that was cancelled waits for another one. */
export async function unscheduleWith(ctx: Context, visitId: string): Promise<void> {
  const consult = await scheduledWith(ctx, visitId);
  if (!consult) return;
  consult.visitId = null;
  moveConsult(ctx, consult, 'unschedule');
}
