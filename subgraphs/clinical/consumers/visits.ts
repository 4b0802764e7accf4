import { visitCancelled, visitCreated, visitRescheduled } from '../../../events/catalogue/booking.js';
import { type Consumer, handle } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { rescheduleWith, scheduleFor, unscheduleWith } from '../commands/consult.js';

/** Visits of booking move the consults that they are for. Source: clinical 5. */
export const visits: Consumer<Context> = {
  name: 'clinical.visits',
  on: [
    handle(visitCreated, (ctx: Context, { user_id: userId, data }) =>
      scheduleFor(ctx, userId!, { id: data.visit_id, type: data.visit_type }),
    ),
    handle(visitRescheduled, (ctx: Context, { data }) => rescheduleWith(ctx, data.visit_id)),
    handle(visitCancelled, (ctx: Context, { data }) => unscheduleWith(ctx, data.visit_id)),
  ],
};
