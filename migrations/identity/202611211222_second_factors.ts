import { Migration } from '@mikro-orm/migrations';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** Second factors. The TOTP secret is sealed, the last accepted time step is kept; of backup codes there is an HMAC only. */
const SECOND_FACTORS = [
  `create table identity.mfa_method (
    id uuid primary key, user_id uuid not null references identity."user" (id), kind text not null, label text, status text not null,
    secret_sealed bytea, last_step bigint, attempts_left int not null default 5, created_at timestamptz(3) not null, expires_at timestamptz(3),
    last_used_at timestamptz(3),
    constraint mfa_method_kind_check check (kind in ('totp', 'email_otp')),
    constraint mfa_method_status_check check (status in ('pending', 'active')),
    constraint mfa_method_expires_at_check check ((status = 'pending') = (expires_at is not null)))`,
  `create index mfa_method_user_id on identity.mfa_method (user_id)`,
  `create index mfa_method_expires_at on identity.mfa_method (expires_at) where expires_at is not null`,
  `create table identity.backup_code (
    id uuid primary key, user_id uuid not null references identity."user" (id), hash bytea not null, generated_at timestamptz(3) not null,
    used_at timestamptz(3), constraint backup_code_hash_unique unique (user_id, hash))`,
  `create view identity.mfa_method_safe as select id, user_id, kind, status, created_at, last_used_at from identity.mfa_method`,
  ...grantSafeView('identity', 'mfa_method_safe'),
];

export class SecondFactors extends Migration {
  override up(): void {
    for (const statement of SECOND_FACTORS) this.addSql(statement);
  }
}
