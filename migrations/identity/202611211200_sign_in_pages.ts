import { Migration } from '@mikro-orm/migrations';

/**
 * What people's pages need: which browser session of the engine a sign-in is, and how often somebody failed lately. `key` is a keyed hash
 * of an identifier and a network, because both are personal data.
 */
const SIGN_IN = [
  `alter table identity.auth_session add column engine_uid text`,
  `create unique index auth_session_engine_uid on identity.auth_session (engine_uid) where engine_uid is not null`,
  `create table identity.sign_in_limit (
    key bytea primary key, failures int not null, window_ends_at timestamptz(3) not null, blocked_until timestamptz(3))`,
  `create index token_family_last_used_at on identity.token_family (last_used_at) where ended_at is null`,
];

export class SignInPages extends Migration {
  override up(): void {
    for (const statement of SIGN_IN) this.addSql(statement);
  }
}
