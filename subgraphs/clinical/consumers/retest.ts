import { biomarkerAdded } from '../../../events/catalogue/clinical.js';
import { type Consumer, handle } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { recordFollowUp } from '../commands/retest-outcome.js';
import { RETEST_FLAG } from '../rules/retest-cycle.js';

/**
 * The re-test handler, isolated in its own queue: a follow-up closes every open cycle that it qualifies for. With the cycle flag
 * off it leaves no trace; the sweep records what was missed once it is on. Source: spec 1, Re-test cycle 3; clinical 7.1.5-7.1.8.
 */
const added = handle(biomarkerAdded, async (ctx: Context, event) => {
  const { observation_id: observationId } = event.data;
  ctx.host.fault('retest.handler', observationId);
  if (ctx.flags.boolean(RETEST_FLAG)) await recordFollowUp(ctx, observationId, { event: event.id });
});

/** Follow-ups close cycles. */
export const retest: Consumer<Context> = { name: 'clinical.retest', on: [added] };
