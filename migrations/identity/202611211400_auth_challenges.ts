import { Migration } from '@mikro-orm/migrations';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/**
 * Proofs asked of a person by mail or text message. Address, code, link and payload are sealed; code and link are there until they were
 * delivered or used, afterwards their hashes alone: an HMAC of the short code, SHA-256 of the random token.
 */
const CHALLENGES = [
  `create table identity.auth_challenge (
    id uuid primary key, user_id uuid references identity."user" (id), staff_id uuid, purpose text not null, template text not null, channel text not null,
    recipient_sealed bytea not null, code_sealed bytea, code_hash bytea, link_sealed bytea, link_hash bytea, payload_sealed bytea, interaction_uid text,
    locale text, created_at timestamptz(3) not null, expires_at timestamptz(3) not null, attempts_left int not null default 5,
    consumed_at timestamptz(3), deliveries int not null default 0,
    constraint auth_challenge_link_hash_unique unique (link_hash),
    constraint auth_challenge_purpose_check
      check (purpose in ('sign_in', 'sign_up', 'recovery', 'email_change', 'staff_invite', 'second_factor', 'reauthenticate')),
    constraint auth_challenge_channel_check check (channel in ('email', 'sms')),
    constraint auth_challenge_attempts_left_check check (attempts_left between 0 and 5),
    constraint auth_challenge_deliveries_check check (deliveries between 0 and 3))`,
  `create index auth_challenge_user_id on identity.auth_challenge (user_id)`,
  `create index auth_challenge_staff_id on identity.auth_challenge (staff_id) where staff_id is not null`,
  `create index auth_challenge_interaction_uid on identity.auth_challenge (interaction_uid, created_at desc) where interaction_uid is not null`,
  `create index auth_challenge_expires_at on identity.auth_challenge (expires_at)`,
  `create view identity.auth_challenge_safe as select id, user_id, staff_id, purpose, template, channel, locale, created_at, expires_at, attempts_left,
    consumed_at, deliveries from identity.auth_challenge`,
  ...grantSafeView('identity', 'auth_challenge_safe'),
];

export class AuthChallenges extends Migration {
  override up(): void {
    for (const statement of CHALLENGES) this.addSql(statement);
  }
}
