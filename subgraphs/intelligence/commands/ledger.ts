import { prepared } from '../../../events/prepared.js';
import type { Context } from '../../../runtime/request/context.js';
import type { LoopDecision } from '../entities/decision.js';
import { entityHash, tombstonesSince } from '../queries/entity-lock.js';

const json = (value: unknown): string => JSON.stringify(value);

/** Columns of the ledger with their types and where they come from. */
const COLUMNS: Record<string, [type: string, value: (decision: LoopDecision) => unknown]> = {
  id: ['uuid', one => one.id],
  decision_key: ['text', one => one.decisionKey],
  policy_id: ['uuid', one => one.policyId],
  policy_kind: ['text', one => one.policyKind],
  policy_key: ['text', one => one.policyKey],
  brand_id: ['uuid', one => one.brandId],
  policy_version: ['int', one => one.policyVersion],
  registry_id: ['uuid', one => one.registryId],
  stage: ['text', one => one.stage],
  ranker: ['text', one => one.ranker],
  arm: ['text', one => one.arm],
  entity_type: ['text', one => one.entityType],
  entity_id: ['uuid', one => one.entity],
  record: ['bytea', one => one.record],
  request_hash: ['bytea', one => one.requestHash],
  served_candidate_id: ['text', one => one.servedCandidateId],
  baseline_candidate_id: ['text', one => one.baselineCandidateId],
  propensity: ['double precision', one => one.propensity],
  predicted_outcome: ['double precision', one => one.predictedOutcome],
  shadow_predictions: ['jsonb', one => json(one.shadowPredictions)],
  outcome_metric: ['text', one => one.outcomeMetric],
  outcome_codes: ['text[]', one => one.outcomeCodes],
  violations: ['jsonb', one => json(one.violations)],
  fallback: ['boolean', one => one.fallback],
  status: ['text', one => one.status],
  decided_at: ['timestamptz', one => one.decidedAt.toISOString()],
  matures_at: ['timestamptz', one => one.maturesAt.toISOString()],
  closed_at: ['timestamptz', one => one.closedAt?.toISOString() ?? null],
  seed: ['text', one => one.seed],
};
const NAMES = Object.keys(COLUMNS);
const VALUES = Object.values(COLUMNS);
const PARAMETERS = VALUES.map(([type], index) => `$${index + 1}::${type}`).join(', ');

const INSERT = (schema: string): string => `
insert into ${schema}.decision (${NAMES.join(', ')}) select ${PARAMETERS}
where not exists (select from ${schema}.entity_tombstone where entity_hash = $${NAMES.length + 1} and erased_at > $${NAMES.length + 2})
on conflict (policy_id, decision_key) do nothing returning 1`;

/**
 * Writes a decision, unless its entity was erased meanwhile or an equal call was faster, for which it waits; answers whether it was written.
 * The entity's lock is held, so that no erasure comes after this look.
 */
export async function insertDecision(ctx: Context, decision: LoopDecision): Promise<boolean> {
  const values = VALUES.map(([, value]) => value(decision));
  const rows = await ctx.sql(prepared(INSERT(ctx.schema)), [...values, await entityHash(ctx, decision.entity), tombstonesSince(ctx)]);
  return rows.length > 0;
}
