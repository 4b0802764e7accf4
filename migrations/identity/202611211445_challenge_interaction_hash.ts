import { Migration } from '@mikro-orm/migrations';

/** An interaction's id is a cookie, so a challenge keeps its SHA-256 only. Those that are open have to be asked for again. */
const HASHED = [
  `alter table identity.auth_challenge drop column interaction_uid`,
  `alter table identity.auth_challenge add column interaction_hash bytea`,
  `create index auth_challenge_interaction_hash on identity.auth_challenge (interaction_hash, created_at desc) where interaction_hash is not null`,
];

export class ChallengeInteractionHash extends Migration {
  override up(): void {
    for (const statement of HASHED) this.addSql(statement);
  }
}
