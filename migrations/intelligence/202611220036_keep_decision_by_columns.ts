import { Migration } from '@mikro-orm/migrations';

/** What a decision was served with. The same list as before; a change of status alone does not name one of them. */
const KEPT = `id, decision_key, policy_id, policy_version, registry_id, stage, ranker, arm, entity_id, record, request_hash, served_candidate_id, propensity,
  predicted_outcome, shadow_predictions, outcome_metric, outcome_codes, violations, decided_at, seed`;

/** The guard of the ledger looks where one of its columns is written, not at every join and expiry, which had the sealed record compared. */
export class KeepDecisionByColumns extends Migration {
  override up(): void {
    this.addSql(`drop trigger keep_decision on intelligence.decision;
create trigger keep_decision before update of ${KEPT} on intelligence.decision for each row execute function intelligence.keep_decision()`);
  }
}
