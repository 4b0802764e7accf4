import { Migration } from '@mikro-orm/migrations';

/** Everything of a decision but its status, its deadline and when it was activated and closed. Source: intelligence 2, LoopDecision. */
const KEPT =
  `id, decision_key, policy_id, policy_kind, policy_key, brand_id, policy_version, registry_id, stage, ranker, arm, entity_type, entity_id, record, request_hash,
  served_candidate_id, baseline_candidate_id, propensity, predicted_outcome, shadow_predictions, outcome_metric, outcome_codes, violations, fallback, decided_at, seed`
    .split(',')
    .map(column => column.trim());

const row = (name: string): string => `(${KEPT.map(column => `${name}.${column}`).join(', ')})`;

/** The guard of the ledger left out whose policy a decision was, the kind of entity, the baseline of lift and whether it fell back. */
export class KeepWholeDecision extends Migration {
  override up(): void {
    this.addSql(`create or replace function intelligence.keep_decision() returns trigger language plpgsql as $keep$
begin
  if ${row('new')} is distinct from ${row('old')} then raise exception 'a decision is not rewritten' using errcode = 'restrict_violation'; end if;
  return new;
end $keep$;
drop trigger keep_decision on intelligence.decision;
create trigger keep_decision before update of ${KEPT.join(', ')} on intelligence.decision for each row execute function intelligence.keep_decision()`);
  }
}
