import { outcomeCreated, outcomeRecorded } from '../../../events/catalogue/analytics.js';
import { retestCycleStarted, retestRecorded } from '../../../events/catalogue/clinical.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { awaitCycle, awaitWindow } from '../commands/deadlines.js';
import { joinByCode, joinOfEntity } from '../commands/outcome-join.js';

/** The Outcome Record of a re-test closes the decisions that wait for its code. Source: spec 1, Re-test cycle 3. */
const recorded = handle(retestRecorded, async (ctx: Context, { id, user_id: userId, occurred_at: at, data }) => {
  const source = { sourceType: 'clinical.retest.recorded.v1', sourceEventId: id };
  await joinByCode(ctx, userId!, data.code, { metric: 'retest', label: data.direction, ...source, occurredAt: new Date(at) });
});

const cycleStarted = handle(retestCycleStarted, (ctx: Context, { user_id: entityId, data }) =>
  awaitCycle(ctx, { entityId, code: data.code, dueAt: data.due_at }),
);

const windowOpened = handle(outcomeCreated, (ctx: Context, { data }) => awaitWindow(ctx, data.decision_id, data.matures_at));

const outcomeKnown = handle(outcomeRecorded, async (ctx: Context, { user_id: userId, data }) => {
  const source = { sourceType: 'analytics.outcome.recorded.v1', sourceEventId: data.outcome_id };
  const outcome = { metric: data.metric, label: data.label, ...source, occurredAt: new Date(data.recorded_at) };
  await joinOfEntity(ctx, data.decision_id, userId, outcome);
});

/** Source: intelligence 5. */
export const outcomeConsumer: Consumer<Context> = {
  name: 'intelligence.outcomes',
  on: [recorded, cycleStarted, windowOpened, outcomeKnown],
};
