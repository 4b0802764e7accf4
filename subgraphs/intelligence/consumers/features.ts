import { chatCompleted } from '../../../events/catalogue/ai.js';
import { clientEventTracked, featuresRefreshed } from '../../../events/catalogue/analytics.js';
import {
  biomarkerAdded,
  healthScoreComputed,
  protocolStarted,
  redFlagDetected,
  retestPrompted,
} from '../../../events/catalogue/clinical.js';
import { encounterRecorded, wearableSynced } from '../../../events/catalogue/patient-graph.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { countActivity } from '../commands/activity.js';
import { requestRefresh } from '../commands/feature-refresh.js';
import { mirrorFlag } from '../commands/guard.js';

/** An open red flag holds candidates back; one of severity `info` does not. */
const redFlag = handle(redFlagDetected, async (ctx: Context, event) => {
  const { user_id: userId, data } = event;
  await countActivity(ctx, event, 'red_flags');
  await mirrorFlag(ctx, userId!, { id: data.flag_id, severity: data.severity, detectedAt: data.detected_at });
});

const scored = handle(healthScoreComputed, (ctx: Context, event) =>
  countActivity(ctx, event, 'scores_computed', { score_band: event.data.band }),
);

const refreshed = handle(featuresRefreshed, (ctx: Context, { data }) => requestRefresh(ctx, data.feature_set, data.version));

const counting = (definition: Parameters<typeof handle>[0], key: string) =>
  handle(definition, (ctx: Context, event) => countActivity(ctx, event, key));

/** Source: intelligence 5. */
export const featureConsumer: Consumer<Context> = {
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
};
