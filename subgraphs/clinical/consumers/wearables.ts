import { integrationSyncCompleted } from '../../../events/catalogue/integrations.js';
import { wearableSynced } from '../../../events/catalogue/patient-graph.js';
import { handle, type Consumer, type Envelope } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { RedFlagSource } from '../entities/red-flag.js';
import { newestSummaries } from '../ports/wearables.js';
import { activeRules, detect } from '../commands/red-flag-detect.js';
import { wearableKindsOf } from '../rules/red-flag.js';
import { isErased, lockPatient } from '../queries/patient.js';

interface Synced {
  kinds: string[];
  window_start: string;
  window_end: string;
}

const dayOf = (instant: string): string => instant.slice(0, 10);

/** Daily values of the kinds that a rule names; nothing is asked where none does. */
async function inputsOf(ctx: Context, event: Envelope<Synced>): Promise<Record<string, number> | null> {
  const rules = await activeRules(ctx, RedFlagSource.WEARABLE);
  const named = rules.flatMap(rule => wearableKindsOf(rule.condition));
  const kinds = [...new Set(named)].filter(kind => event.data.kinds.includes(kind));
  if (kinds.length === 0) return null;
  return newestSummaries(ctx, event.user_id!, { kinds, from: dayOf(event.data.window_start), to: dayOf(event.data.window_end) });
}

async function judge(ctx: Context, event: Envelope, batch: string): Promise<void> {
  if (ctx.facts === null) return;
  await lockPatient(ctx, event.user_id!);
  if (await isErased(ctx, event.user_id!)) return;
  await detect(ctx, event.user_id!, RedFlagSource.WEARABLE, { wearable: ctx.facts }, [batch]);
}

/** What devices measured is judged by the red-flag rules. Source: clinical 5. */
export const wearables: Consumer<Context> = {
  name: 'clinical.wearables',
  prepare: inputsOf,
  on: [
    handle(wearableSynced, (ctx: Context, event) => judge(ctx, event, event.data.batch_id)),
    handle(integrationSyncCompleted, (ctx: Context, event) => judge(ctx, event, event.data.run_id)),
  ],
};
