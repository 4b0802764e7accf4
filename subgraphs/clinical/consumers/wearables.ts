import { integrationSyncCompleted } from '../../../events/catalogue/integrations.js';
import { wearableSynced } from '../../../events/catalogue/patient-graph.js';
import { type Consumer, type Envelope, handle } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { activeRules, detectInWearables } from '../commands/red-flag.js';
import { RedFlagSource } from '../entities/red-flag.js';
import { newestSummaries } from '../ports/wearables.js';
import { wearableKindsOf } from '../rules/red-flag.js';

interface Synced {
  kinds: string[];
  window_start: string;
  window_end: string;
}

const dayOf = (instant: string): string => instant.slice(0, 10);

/** Daily values of the kinds that a rule names; nothing is asked where none does. */
const summaries = preparation(async (ctx, { user_id: userId, data }: Envelope<Synced>): Promise<Record<string, number> | null> => {
  const rules = await activeRules(ctx, RedFlagSource.WEARABLE);
  const named = new Set(rules.flatMap(rule => wearableKindsOf(rule.condition)));
  const kinds = [...named].filter(kind => data.kinds.includes(kind));
  if (kinds.length === 0) return null;
  return newestSummaries(ctx, userId!, { kinds, from: dayOf(data.window_start), to: dayOf(data.window_end) });
});

/** @param batch what was synced: the evidence of a flag. */
async function judge(ctx: Context, { user_id: userId }: Envelope, batch: string): Promise<void> {
  const wearable = summaries.of(ctx);
  if (wearable) await detectInWearables(ctx, userId!, wearable, batch);
}

/** What devices measured is judged by the red-flag rules. Source: clinical 5. */
export const wearables: Consumer<Context> = {
  name: 'clinical.wearables',
  prepare: summaries.run,
  on: [
    handle(wearableSynced, (ctx: Context, event) => judge(ctx, event, event.data.batch_id)),
    handle(integrationSyncCompleted, (ctx: Context, event) => judge(ctx, event, event.data.run_id)),
  ],
};
