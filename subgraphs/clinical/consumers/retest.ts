import { biomarkerAdded } from '../../../events/catalogue/clinical.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { RETEST_FLAG } from '../resolvers/retest-cycle.js';
import { QUALIFIES, recordStored } from '../commands/outcome.js';

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

/**
 * The re-test handler, isolated in its own queue: a follow-up closes every open cycle that it qualifies for. With the cycle flag
 * off it leaves no trace; the sweep records what was missed once it is on. Source: spec 1, Re-test cycle 3; clinical 7.1.5-7.1.8.
 */
const added = handle(biomarkerAdded, async (ctx: Context, event) => {
  const { observation_id: observationId } = event.data;
  ctx.host.fault('retest.handler', observationId);
  if (!ctx.flags.boolean(RETEST_FLAG)) return;
  for (const cycleId of await waitingFor(ctx, observationId)) await recordStored(ctx, cycleId, { event: event.id });
  await countLate(ctx, observationId);
});

/** Follow-ups close cycles. */
export const retest: Consumer<Context> = { name: 'clinical.retest', on: [added] };
