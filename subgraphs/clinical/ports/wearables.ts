import type { Context } from '../../../runtime/request/context.js';
import { stored } from '../../../runtime/federation/federation.js';

const ASK = stored(
  `query ClinicalWearables($userId: ID!, $kinds: [String!]!, $from: Date!, $to: Date!) {
    wearableSummaries(userId: $userId, kinds: $kinds, from: $from, to: $to) { date kind value { value } }
  }`,
);

interface Answer {
  wearableSummaries: { date: string; kind: string; value: { value: number } }[];
}

/** Days that are asked about: civil dates, both inclusive. */
export interface WearableWindow {
  kinds: readonly string[];
  from: string;
  to: string;
}

/** Newest daily value of each kind in a window, by kind; asked of patient-graph. @throws when it cannot be asked. */
export async function newestSummaries(ctx: Context, userId: string, window: WearableWindow): Promise<Record<string, number>> {
  const { wearableSummaries } = await ctx.federation.run<Answer>(ASK, { userId, ...window });
  const oldestFirst = [...wearableSummaries].sort((a, b) => (a.date < b.date ? -1 : 1));
  return Object.fromEntries(oldestFirst.map(({ kind, value }) => [kind, value.value]));
}
