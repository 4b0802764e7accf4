import { Migration } from '@mikro-orm/migrations';

/** Partners whose signed word signs people in; what they have said once; and the tickets that follow. A ticket is found by its SHA-256 only. */
const PARTNER_SSO = [
  `create table identity.sso_partner (
    key text primary key, name text not null, issuer text not null, jwks jsonb, jwks_uri text, trusted_email boolean not null default false,
    trusted_mfa boolean not null default false, enabled boolean not null default true, created_at timestamptz(3) not null, updated_at timestamptz(3) not null,
    constraint sso_partner_key_check check (key ~ '^[a-z0-9-]{3,64}$'), constraint sso_partner_keys_check check ((jwks is null) <> (jwks_uri is null)))`,
  `create table identity.sso_assertion (
    partner text not null references identity.sso_partner (key), jti_hash bytea not null, expires_at timestamptz(3) not null, primary key (partner, jti_hash))`,
  `create index sso_assertion_expires_at on identity.sso_assertion (expires_at)`,
  `create table identity.sso_ticket (
    hash bytea primary key, user_id uuid not null references identity."user" (id), partner text not null references identity.sso_partner (key),
    client_id text not null references identity.oauth_client (id), return_to text not null, amr text[] not null, created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null, used_at timestamptz(3))`,
  `create index sso_ticket_user_id on identity.sso_ticket (user_id)`,
  `create index sso_ticket_expires_at on identity.sso_ticket (expires_at)`,
];

export class PartnerSso extends Migration {
  override up(): void {
    for (const statement of PARTNER_SSO) this.addSql(statement);
  }
}
