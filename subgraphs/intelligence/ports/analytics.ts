import type { Context } from '../../../runtime/request/context.js';
import { stored } from '../../../runtime/federation/federation.js';
import { after, HOUR_MS, MINUTE_MS } from '../../../runtime/time/durations.js';

/** Longest wait of what analytics is asked for again. */
export const LAST_RETRY_MS = 6 * HOUR_MS;

/** When to try again after so many attempts: a minute, doubled each time, up to six hours. */
export const retryAt = (at: Date, attempts: number): Date => after(at, Math.min(LAST_RETRY_MS, MINUTE_MS * 2 ** attempts));

const OPEN = stored('mutation OpenOutcome($input: OpenAnalyticsOutcomeInput!) { openAnalyticsOutcome(input: $input) { id } }');

/** An outcome window to be opened at analytics. */
export interface OutcomeWindow {
  decisionId: string;
  userId: string;
  metric: string;
  openedAt: string;
}

/** Asks analytics to watch for an outcome; idempotent on decision and metric. @throws Problem while analytics cannot be reached or does not exist. */
export const openWindow = (ctx: Context, input: OutcomeWindow): Promise<unknown> => ctx.host.federation.run(OPEN, { input });

const VECTORS = stored(`query Vectors($key: String!, $version: Int!, $first: Int!, $after: String) {
  analyticsFeatureVectors(key: $key, version: $version, first: $first, after: $after) { nodes { entityId values asOf } pageInfo { endCursor hasNextPage } }
}`);

export interface VectorPage {
  nodes: { entityId: string; values: Record<string, number | boolean | string>; asOf: string }[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
}

/** A page of a feature set's vectors. @throws Problem while analytics cannot be reached or does not exist. */
export async function vectorPage(ctx: Context, key: string, version: number, after: string | null): Promise<VectorPage> {
  const answer = await ctx.host.federation.run<{ analyticsFeatureVectors: VectorPage }>(VECTORS, { key, version, first: 100, after });
  return answer.analyticsFeatureVectors;
}
