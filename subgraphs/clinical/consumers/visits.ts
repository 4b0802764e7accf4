import { visitCancelled, visitCreated, visitRescheduled } from '../../../events/catalogue/booking.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { Consult, ConsultStatus } from '../entities/consult.js';
import { moveConsult } from '../resolvers/consult.js';

/** The consult of a patient that a visit is for: asked for with the visit's type, else the only one that waits. */
async function consultFor(ctx: Context, patientId: string, type: string): Promise<Consult | null> {
  const waiting = await ctx.em.find(Consult, { patientId, status: ConsultStatus.REQUESTED }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return waiting.find(one => one.type === type) ?? (waiting.length === 1 ? waiting[0]! : null);
}

const booked = handle(visitCreated, async (ctx: Context, event) => {
  const consult = await consultFor(ctx, event.user_id!, event.data.visit_type);
  if (!consult) return;
  consult.visitId = event.data.visit_id;
  moveConsult(ctx, consult, 'schedule');
});

/** The consult that is scheduled with a visit. */
const ofVisit = (ctx: Context, visitId: string): Promise<Consult | null> =>
  ctx.em.findOne(Consult, { visitId, status: ConsultStatus.SCHEDULED });

const moved = handle(visitRescheduled, async (ctx: Context, event) => {
  const consult = await ofVisit(ctx, event.data.visit_id);
  if (consult) moveConsult(ctx, consult, 'schedule');
});

const called = handle(visitCancelled, async (ctx: Context, event) => {
  const consult = await ofVisit(ctx, event.data.visit_id);
  if (!consult) return;
  consult.visitId = null;
  moveConsult(ctx, consult, 'unschedule');
});

/** Visits of booking move the consults that they are for. Source: clinical 5. */
export const visits: Consumer<Context> = { name: 'clinical.visits', on: [booked, moved, called] };
