import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

/** Accounts. `email_key` is the address in NFC and lower case; the row goes with the account, so the address may register again. */
const ACCOUNTS = [
  `create table identity."user" (
    id uuid primary key, status text not null, phone text, brand_id uuid, last_sign_in_at timestamptz(3), created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null, erased_at timestamptz(3), version int not null default 1,
    constraint user_status_check check (status in ('pending', 'active', 'suspended', 'banned', 'erasing', 'erased')))`,
  `create index user_created_at_id on identity."user" (created_at desc, id desc)`,
  `create index user_phone on identity."user" (phone) where phone is not null`,
  `create table identity.user_email (
    user_id uuid primary key references identity."user" (id), email text not null, email_key text not null, verified_at timestamptz(3),
    constraint user_email_email_key_unique unique (email_key))`,
  `create table identity.user_profile (
    user_id uuid primary key references identity."user" (id), handle text, display_name text, bio text, pronouns text, location text, website_url text,
    avatar_url text, visibility text not null default 'members', joined_on date not null,
    constraint user_profile_handle_unique unique (handle),
    constraint user_profile_handle_check check (handle ~ '^[a-z][a-z0-9_]{2,29}$'),
    constraint user_profile_visibility_check check (visibility in ('public', 'members', 'private')))`,
  `create table identity.user_settings (
    user_id uuid primary key references identity."user" (id), locale text not null default 'en', time_zone text not null default 'UTC',
    unit_system text not null default 'metric', time_format text not null default 'h24', week_start text not null default 'monday',
    theme text not null default 'system', discoverable_by_email boolean not null default false, show_activity boolean not null default true,
    direct_messages text not null default 'known', marketing_consent boolean not null default false, marketing_consent_at timestamptz(3),
    marketing_consent_source text, version int not null default 1,
    constraint user_settings_unit_system_check check (unit_system in ('metric', 'imperial')),
    constraint user_settings_time_format_check check (time_format in ('h12', 'h24')),
    constraint user_settings_week_start_check check (week_start in ('monday', 'sunday', 'saturday')),
    constraint user_settings_theme_check check (theme in ('system', 'light', 'dark')),
    constraint user_settings_direct_messages_check check (direct_messages in ('everyone', 'known')))`,
  `create table identity.credential_password (
    user_id uuid primary key references identity."user" (id), hash text not null, changed_at timestamptz(3) not null)`,
  `create table identity.external_identity (
    id uuid primary key, user_id uuid not null references identity."user" (id), provider text not null, subject text not null,
    created_at timestamptz(3) not null, constraint external_identity_subject_unique unique (provider, subject))`,
  `create index external_identity_user_id on identity.external_identity (user_id)`,
  `create table identity.handle_hold (handle text primary key, user_id uuid not null, held_until timestamptz(3) not null)`,
  `create table identity.auth_session (
    id uuid primary key, user_id uuid not null references identity."user" (id), created_at timestamptz(3) not null, last_active_at timestamptz(3) not null,
    expires_at timestamptz(3) not null, auth_time timestamptz(3) not null, amr text[] not null, ended_at timestamptz(3), browser text, os text,
    form_factor text, ip_prefix text, country_code char(2))`,
  `create index auth_session_user_id on identity.auth_session (user_id) where ended_at is null`,
];

/** OAuth clients. A secret is kept as SHA-256 only; an end in the future is the overlap of a rotation. */
const CLIENTS = [
  `create table identity.oauth_client (
    id text primary key, name text not null, description text, logo_url text, homepage_url text, privacy_url text, terms_url text, kind text not null,
    status text not null default 'active', first_party boolean not null default false, staff_access boolean not null default false, brand_id uuid,
    service_slug text, sso_partner text, redirect_uris text[] not null default '{}', post_logout_redirect_uris text[] not null default '{}',
    scopes text[] not null default '{}', access_token_ttl_seconds int not null default 3600, refresh_reuse_leeway_seconds int not null default 0,
    token_exchange boolean not null default false, token_endpoint_auth_method text not null, contacts text[] not null default '{}',
    created_at timestamptz(3) not null, updated_at timestamptz(3) not null, last_used_at timestamptz(3), version int not null default 1,
    constraint oauth_client_id_check check (id ~ '^[a-z0-9-]{3,64}$'),
    constraint oauth_client_kind_check check (kind in ('machine', 'confidential', 'public')),
    constraint oauth_client_status_check check (status in ('active', 'disabled', 'deleted')),
    constraint oauth_client_staff_access_check check (not staff_access or (first_party and kind <> 'machine')),
    constraint oauth_client_service_slug_check check (service_slug is null or kind = 'machine'),
    constraint oauth_client_access_token_ttl_seconds_check check (access_token_ttl_seconds between 300 and 31536000),
    constraint oauth_client_refresh_reuse_leeway_seconds_check check (refresh_reuse_leeway_seconds between 0 and 30),
    constraint oauth_client_token_endpoint_auth_method_check
      check (token_endpoint_auth_method in ('client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none')),
    constraint oauth_client_service_slug_unique unique (service_slug))`,
  `create table identity.oauth_client_secret (
    id uuid primary key, client_id text not null references identity.oauth_client (id), hash bytea not null, hint text not null,
    created_at timestamptz(3) not null, last_used_at timestamptz(3), expires_at timestamptz(3))`,
  `create index oauth_client_secret_client_id on identity.oauth_client_secret (client_id)`,
  `create table identity.oauth_client_agreement (
    id uuid primary key, client_id text not null references identity.oauth_client (id), kind text not null default 'phi', document_version text not null,
    scopes text[] not null, signed_by text not null, signed_at timestamptz(3) not null, expires_at timestamptz(3), ended_at timestamptz(3),
    constraint oauth_client_agreement_kind_check check (kind in ('phi')))`,
  `create index oauth_client_agreement_client_id on identity.oauth_client_agreement (client_id)`,
  `create table identity.failed_client_auth (key bytea primary key, failures int not null, window_ends_at timestamptz(3) not null)`,
];

/**
 * Consent and what was issued under it. A family is one authorization (app and sign-in): its row is locked shared when a token of it is
 * saved and exclusively when it ends. Artifacts are found by the SHA-256 of their secret; the payload holds no secret.
 */
const GRANTS = [
  `create table identity.oauth_grant (
    id uuid primary key, user_id uuid not null references identity."user" (id), client_id text not null references identity.oauth_client (id),
    scopes text[] not null, declined_scopes text[] not null default '{}', status text not null, granted_at timestamptz(3) not null,
    created_at timestamptz(3) not null, updated_at timestamptz(3) not null, last_used_at timestamptz(3), revoked_at timestamptz(3), revoked_by text,
    version int not null default 1,
    constraint oauth_grant_status_check check (status in ('active', 'stale', 'revoked')),
    constraint oauth_grant_revoked_by_check check (revoked_by in ('user', 'staff', 'system')))`,
  `create unique index oauth_grant_live on identity.oauth_grant (user_id, client_id) where status <> 'revoked'`,
  `create index oauth_grant_user_id on identity.oauth_grant (user_id, created_at desc)`,
  `create index oauth_grant_client_id on identity.oauth_grant (client_id) where status <> 'revoked'`,
  `create table identity.token_family (
    id text primary key, grant_id uuid not null references identity.oauth_grant (id), user_id uuid not null, client_id text not null, session_id uuid,
    scopes text[] not null, created_at timestamptz(3) not null, last_used_at timestamptz(3) not null, ended_at timestamptz(3), end_reason text,
    constraint token_family_end_reason_check check (end_reason in
      ('replayed', 'token_revoked', 'grant_revoked', 'signed_out', 'client_removed', 'user_blocked', 'phi_agreement_ended', 'unused', 'user_erased')))`,
  `create index token_family_live on identity.token_family (grant_id) where ended_at is null`,
  `create index token_family_user_id on identity.token_family (user_id) where ended_at is null`,
  `create index token_family_session_id on identity.token_family (session_id) where ended_at is null`,
  `create table identity.oauth_artifact (
    model text not null, id_hash bytea not null, uid text, family_id text references identity.token_family (id) on delete cascade, payload jsonb not null,
    created_at timestamptz(3) not null, expires_at timestamptz(3) not null, consumed_at timestamptz(3), primary key (model, id_hash))`,
  `create index oauth_artifact_family_id on identity.oauth_artifact (family_id)`,
  `create index oauth_artifact_uid on identity.oauth_artifact (model, uid) where uid is not null`,
  `create index oauth_artifact_expires_at on identity.oauth_artifact (expires_at)`,
];

/** Signing keys, the revocation feed and the first service token of each hour. The counter's row lock makes `seq` gap-free and in commit order. */
const TOKENS = [
  `create table identity.signing_key (
    kid text primary key, public_jwk jsonb not null, private_sealed bytea not null, created_at timestamptz(3) not null, active_from timestamptz(3) not null,
    max_ttl_seconds int not null default 3600)`,
  `create table identity.token_revocation (
    seq bigint primary key, kind text not null, value text not null, not_before bigint, effective_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    constraint token_revocation_kind_check check (kind in ('token', 'family', 'session', 'secret', 'client', 'user')))`,
  `create index token_revocation_kind_value on identity.token_revocation (kind, value)`,
  `create index token_revocation_expires_at on identity.token_revocation (expires_at)`,
  `revoke update, truncate on identity.token_revocation from platform_identity`,
  `create table identity.token_revocation_counter (only_row boolean primary key default true check (only_row), seq bigint not null)`,
  `insert into identity.token_revocation_counter (seq) values (0)`,
  `create table identity.service_token_hour (
    client_id text not null, secret_id uuid not null, scopes text not null, hour timestamptz(3) not null, token_id uuid not null,
    primary key (client_id, secret_id, scopes, hour))`,
];

/** What the read-only role sees: no personal, hashed or sealed column. */
const SAFE_VIEWS = [
  `create view identity.user_safe as select id, status, brand_id, last_sign_in_at, created_at, updated_at, erased_at, version from identity."user"`,
  `create view identity.oauth_client_safe as select id, name, kind, status, first_party, staff_access, brand_id, service_slug, scopes,
    access_token_ttl_seconds, created_at, updated_at, last_used_at, version from identity.oauth_client`,
  `create view identity.oauth_grant_safe as select id, user_id, client_id, scopes, declined_scopes, status, granted_at, created_at, updated_at, last_used_at,
    revoked_at, revoked_by, version from identity.oauth_grant`,
  ...['user_safe', 'oauth_client_safe', 'oauth_grant_safe'].flatMap(view => grantSafeView('identity', view)),
];

export class AccountsClientsTokens extends Migration {
  override up(): void {
    for (const statement of [...houseTables('identity'), ...ACCOUNTS, ...CLIENTS, ...GRANTS, ...TOKENS, ...SAFE_VIEWS])
      this.addSql(statement);
  }
}
