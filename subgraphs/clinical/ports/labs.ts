import type { Context } from '../../../runtime/request/context.js';
import { stored } from '../../../runtime/federation/federation.js';

const ASK = stored(
  `query ClinicalLabOrder($id: ID!) {
    labOrder(id: $id) { specimens { id } items { test { components { biomarkerCode } includes { components { biomarkerCode } } } } }
  }`,
);

interface Components {
  components: { biomarkerCode: string | null }[];
}

interface Answer {
  labOrder: { specimens: { id: string }[]; items: { test: Components & { includes: Components[] } }[] } | null;
}

/** What clinical needs of a lab order. */
export interface LabOrderContents {
  /** Dictionary codes of what is measured, each once. */
  codes: readonly string[];
  /** Ids of the specimens that exist so far: clinical's draw ids. */
  drawIds: readonly string[];
}

/** Markers and draws of an order, asked of labs through the federation; null for an unknown one. @throws when labs cannot answer. */
export async function contentsOf(ctx: Context, labOrderId: string): Promise<LabOrderContents | null> {
  const { labOrder } = await ctx.federation.run<Answer>(ASK, { id: labOrderId });
  if (!labOrder) return null;
  const tests = labOrder.items.flatMap(({ test }) => [test, ...test.includes]);
  const codes = tests.flatMap(({ components }) => components.flatMap(({ biomarkerCode }) => biomarkerCode ?? []));
  return { codes: [...new Set(codes)], drawIds: labOrder.specimens.map(({ id }) => id.toLowerCase()) };
}
