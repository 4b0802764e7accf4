import { visitCancelled, visitCreated, visitRescheduled } from '../../events/catalogue/booking.js';
import { userBlocked } from '../../events/catalogue/follows.js';
import { streamingSessionEnded } from '../../events/catalogue/live.js';
import { handle, type Consumer, type Envelope } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { preparation } from '../../runtime/request/operation.js';
import { blocking, endByVendor, leaveBlocked } from './commands/reaction.js';
import { cancelVisitCall, makeVisitCall, moveVisitCall } from './commands/visit-call.js';
import { visitOf } from './ports/neighbours.js';

/** A visit with its people, asked of booking before the call is made or moved. */
const visit = preparation((ctx: Context, { data }: Envelope<{ visit_id: string }>) => visitOf(ctx, data.visit_id));

export const consumers: readonly Consumer<Context>[] = [
  {
    name: 'live.streaming',
    on: [handle(streamingSessionEnded, (ctx: Context, { data }) => endByVendor(ctx, data.session_id, data.vendor_session_ref))],
  },
  {
    name: 'live.visits',
    prepare: visit.run,
    on: [
      handle(visitCreated, (ctx: Context, { data }) => makeVisitCall(ctx, data.visit_id, data.mode === 'video' ? visit.of(ctx) : null)),
      handle(visitRescheduled, (ctx: Context, { data }) => moveVisitCall(ctx, data.visit_id, visit.of(ctx))),
      handle(visitCancelled, (ctx: Context, { data }) => cancelVisitCall(ctx, data.visit_id)),
    ],
  },
  {
    name: 'live.blocks',
    prepare: blocking.run,
    on: [
      handle(userBlocked, async (ctx: Context, { user_id, data }) => {
        if (user_id) await leaveBlocked(ctx, user_id, data.blocked_user_id);
      }),
    ],
  },
];
