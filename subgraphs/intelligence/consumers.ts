import { chatCompleted } from '../../events/catalogue/ai.js';
import { clientEventTracked, featuresRefreshed, outcomeCreated, outcomeRecorded } from '../../events/catalogue/analytics.js';
import {
  biomarkerAdded,
  healthScoreComputed,
  protocolStarted,
  redFlagDetected,
  retestCycleStarted,
  retestPrompted,
  retestRecorded,
} from '../../events/catalogue/clinical.js';
import { messageSendRequested } from '../../events/catalogue/comms.js';
import { proposalRaised } from '../../events/catalogue/intelligence.js';
import { encounterRecorded, wearableSynced } from '../../events/catalogue/patient-graph.js';
import { brandCacheInvalidated } from '../../events/catalogue/platform.js';
import { handle, type Consumer } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { newId } from '../../runtime/data/ids.js';
import { countActivity } from './queries/activity.js';
import { countRefused } from './queries/alarms.js';
import { isErased, lockEntity } from './queries/entity-lock.js';
import { joinByCode, joinById } from './commands/outcome-join.js';

/** The grace of a re-test and a week: a decision waits at least as long as its cycle. Source: intelligence 5. */
const RETEST_GRACE_DAYS = 37;
/** Analytics decides up to an hour after its window; a day is on the safe side. */
const ANALYTICS_GRACE_DAYS = 1;
/** No decision waits longer. */
const LONGEST_DAYS = 400;

/** Moves deadlines on, never back, at most to 400 days after the decision. */
const EXTEND = (schema: string, which: string): string => `
update ${schema}.decision set matures_at = greatest(matures_at, least($1::timestamptz, decided_at + interval '${LONGEST_DAYS} days'))
where status = 'pending' and ${which}`;

const daysAfter = (instant: string, days: number): string => new Date(Date.parse(instant) + days * 86_400_000).toISOString();

/** The Outcome Record of a re-test closes the decisions that wait for its code. Source: spec 1, Re-test cycle 3. */
const recorded = handle(retestRecorded, async (ctx: Context, { id, user_id: userId, occurred_at, data }) => {
  const outcome = {
    metric: 'retest',
    label: data.direction,
    sourceType: 'clinical.retest.recorded.v1',
    sourceEventId: id,
    occurredAt: new Date(occurred_at),
  };
  await joinByCode(ctx, userId!, data.code, outcome);
});

const cycleStarted = handle(retestCycleStarted, async (ctx: Context, { user_id: userId, data }) => {
  const which = `entity_id = $2 and outcome_metric = 'retest' and outcome_codes @> array[$3::text]`;
  await ctx.sql(EXTEND(ctx.schema, which), [daysAfter(data.due_at, RETEST_GRACE_DAYS), userId, data.code]);
});

const windowOpened = handle(outcomeCreated, async (ctx: Context, { data }) => {
  await ctx.sql(EXTEND(ctx.schema, 'id = $2'), [daysAfter(data.matures_at, ANALYTICS_GRACE_DAYS), data.decision_id]);
});

/** An outcome about somebody else than the decision, or of another metric than it waits for, is refused and counted. */
const outcomeKnown = handle(outcomeRecorded, async (ctx: Context, { user_id: userId, data }) => {
  const [row] = await ctx.sql<{ entity_id: string; outcome_metric: string }>(
    `select entity_id, outcome_metric from ${ctx.schema}.decision where id = $1`,
    [data.decision_id],
  );
  if (!row) return;
  if (row.entity_id !== userId) return countRefused(ctx, 'of_another_entity');
  if (row.outcome_metric !== data.metric) return countRefused(ctx, 'of_another_metric');
  await lockEntity(ctx, row.entity_id);
  const outcome = {
    metric: data.metric,
    label: data.label,
    sourceType: 'analytics.outcome.recorded.v1',
    sourceEventId: data.outcome_id,
    occurredAt: new Date(data.recorded_at),
  };
  await joinById(ctx, data.decision_id, outcome);
});

/** An open red flag holds candidates back; `info` is told to nobody. */
const redFlag = handle(redFlagDetected, async (ctx: Context, event) => {
  const { user_id: userId, data } = event;
  await countActivity(ctx, event, 'red_flags');
  if (await isErased(ctx, userId!)) return;
  await ctx.sql(
    `insert into ${ctx.schema}.guard_state (entity_id, kind, reference, severity, detected_at) values ($1, 'red_flag', $2, $3, $4) on conflict do nothing`,
    [userId, data.flag_id, data.severity, data.detected_at],
  );
});

const counting = (definition: Parameters<typeof handle>[0], key: string) =>
  handle(definition, (ctx: Context, event) => countActivity(ctx, event, key));

const scored = handle(healthScoreComputed, (ctx: Context, event) =>
  countActivity(ctx, event, 'scores_computed', { score_band: event.data.band }),
);

/** The proposal stands in the review queue, and whoever governs is told. Source: spec 1, Emission and consumption ties. */
const queued = handle(proposalRaised, async (ctx: Context, { data }) => {
  await ctx.sql(`insert into ${ctx.schema}.governance_queue (proposal_id, queued_at) values ($1, $2) on conflict do nothing`, [
    data.proposal_id,
    ctx.now().toISOString(),
  ]);
  ctx.emit(
    messageSendRequested,
    {
      request_id: newId(),
      template: 'loop_proposal_raised',
      channels: ['email'],
      recipient_type: 'staff_role',
      recipient_id: 'admin',
      params: { policy_key: data.policy_key, metric: data.metric },
      dedupe_key: `loop_proposal_raised:${data.proposal_id}`,
      send_after: null,
      category: 'transactional',
    },
    { userId: null, subject: `loop_proposal:${data.proposal_id}` },
  );
});

/** A job fetches the new version; an event that is older than what is asked for already changes nothing. */
const refreshed = handle(featuresRefreshed, async (ctx: Context, { data }) => {
  await ctx.sql(
    `insert into ${ctx.schema}.feature_refresh (feature_set, version, requested_at, next_attempt_at) values ($1, $2, $3, $3) on conflict do nothing`,
    [data.feature_set, data.version, ctx.now().toISOString()],
  );
});

/** A changed stage is in force at once, not at the next poll. */
const flagsChanged = handle(brandCacheInvalidated, async (ctx: Context, { data }) => {
  if (data.keys.includes('flags')) ctx.afterCommit(() => ctx.flags.refresh());
});

/** One queue each for outcomes, features, governance and flags, so that none waits for another. Source: intelligence 5. */
export const consumers: readonly Consumer<Context>[] = [
  { name: 'intelligence.outcomes', on: [recorded, cycleStarted, windowOpened, outcomeKnown] },
  {
    name: 'intelligence.features',
    on: [
      redFlag,
      scored,
      refreshed,
      counting(retestPrompted, 'prompts_received'),
      counting(biomarkerAdded, 'results_added'),
      counting(protocolStarted, 'protocols_started'),
      counting(chatCompleted, 'chats'),
      counting(clientEventTracked, 'events_tracked'),
      counting(encounterRecorded, 'encounters'),
      counting(wearableSynced, 'wearable_syncs'),
    ],
  },
  { name: 'intelligence.governance', on: [queued] },
  { name: 'intelligence.flags', on: [flagsChanged] },
];
