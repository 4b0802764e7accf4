import { Migration } from '@mikro-orm/migrations';

/**
 * How far somebody has come on the pages: the first factor is proved, the second one is due. Found by the SHA-256 of the interaction's
 * id, which is a cookie. `enrolling`: the method that is being set up there.
 */
const PROGRESS = [
  `create table identity.sign_in_progress (
    interaction_hash bytea primary key, user_id uuid not null references identity."user" (id), amr text[] not null,
    attempts_left int not null default 5, enrolling uuid, created_at timestamptz(3) not null, expires_at timestamptz(3) not null)`,
  `create index sign_in_progress_user_id on identity.sign_in_progress (user_id)`,
  `create index sign_in_progress_expires_at on identity.sign_in_progress (expires_at)`,
];

export class SignInProgress extends Migration {
  override up(): void {
    for (const statement of PROGRESS) this.addSql(statement);
  }
}
