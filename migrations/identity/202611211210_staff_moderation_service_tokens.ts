import { Migration } from '@mikro-orm/migrations';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** Key, name, description, and permissions without `admin:`. What the roles became since is in later migrations. */
const BUILT_IN_ROLES: readonly (readonly [key: string, name: string, description: string, permissions: string])[] = [
  [
    'owner',
    'Owner',
    'Everything; the last one cannot be taken away.',
    'accounting affiliates ai analytics booking capri cash clinical commerce comms community content entitlements events follows identity integrations jobs live membership patient_graph payments platform webhooks',
  ],
  [
    'admin',
    'Administrator',
    'Everything but clients, erasure and owners.',
    'accounting affiliates ai analytics booking capri cash clinical commerce comms community content entitlements events follows identity:moderate identity:read identity:staff integrations jobs live membership patient_graph payments platform webhooks',
  ],
  [
    'support',
    'Support',
    'Helps people with accounts, orders and bookings.',
    'booking capri:link commerce comms:inbox comms:read comms:send comms:suppression entitlements:read identity:read membership:read payments:read',
  ],
  ['clinician', 'Clinician', 'Cares for patients.', 'booking capri:command capri:read clinical comms:content comms:inbox patient_graph'],
  ['moderator', 'Moderator', 'Keeps the community civil.', 'comms:moderate community follows identity:moderate identity:read live'],
  ['finance', 'Finance', 'Books, payouts and refunds.', 'accounting affiliates capri:reconcile cash payments'],
  ['content_editor', 'Content editor', 'Writes and publishes.', 'content live:read'],
  ['analyst', 'Analyst', 'Reads figures.', 'analytics commerce:read membership:read'],
  [
    'developer',
    'Developer',
    'Runs the machinery.',
    'capri:sync capri:webhooks events identity:clients integrations jobs platform:read webhooks',
  ],
  ['privacy_officer', 'Privacy officer', 'Answers requests for erasure.', 'identity:erasure identity:read'],
];

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const list = (permissions: string): string =>
  permissions
    .split(' ')
    .map(name => literal(`admin:${name}`))
    .join(', ');

/** Rows of the built-in roles: their locks order the changes that could leave nobody in charge. */
const builtInRoles = BUILT_IN_ROLES.map(
  ([key, name, description, permissions]) =>
    `insert into identity.role (key, name, description, permissions, built_in)
     values (${literal(key)}, ${literal(name)}, ${literal(description)}, array[${list(permissions)}], true)`,
);

/** Roles, who holds them, and who works here. `email_key` is the address in NFC and lower case. */
const STAFF = [
  `create table identity.role (
    key text primary key, name text not null, description text not null, permissions text[] not null, built_in boolean not null default false,
    constraint role_key_check check (key ~ '^[a-z][a-z_]{1,39}$'))`,
  ...builtInRoles,
  `create table identity.role_assignment (
    id uuid primary key, user_id uuid not null references identity."user" (id), role text not null references identity.role (key), brand_id uuid,
    granted_by text not null, granted_at timestamptz(3) not null, expires_at timestamptz(3), revoked_at timestamptz(3), reason text)`,
  `create unique index role_assignment_active on identity.role_assignment
    (user_id, role, coalesce(brand_id, '00000000-0000-0000-0000-000000000000')) where revoked_at is null`,
  `create index role_assignment_role on identity.role_assignment (role) where revoked_at is null`,
  `create table identity.staff_member (
    id uuid primary key, user_id uuid references identity."user" (id), email text not null, email_key text not null, display_name text, title text,
    department text, status text not null, visible_in_team boolean not null default true, invited_roles text[] not null default '{}', brand_id uuid,
    invited_by text not null, invited_at timestamptz(3) not null, invite_expires_at timestamptz(3), invite_token_hash bytea,
    accepted_at timestamptz(3), last_active_at timestamptz(3), message text, version int not null default 1,
    constraint staff_member_status_check check (status in ('invited', 'active', 'suspended', 'removed', 'revoked', 'expired')))`,
  `create unique index staff_member_email_key on identity.staff_member (email_key) where status in ('invited', 'active', 'suspended')`,
  `create unique index staff_member_user_id on identity.staff_member (user_id) where status in ('active', 'suspended')`,
  `create index staff_member_invited_at on identity.staff_member (invited_at desc, id desc)`,
  `create index staff_member_invite_expires_at on identity.staff_member (invite_expires_at) where status = 'invited'`,
];

/** What was done to accounts. The row without an end is what stands: at most one an account. */
const MODERATION = [
  `create table identity.moderation_action (
    id uuid primary key, user_id uuid not null references identity."user" (id), kind text not null, reason_code text not null, note text,
    until timestamptz(3), actor text not null, at timestamptz(3) not null, ended_at timestamptz(3),
    constraint moderation_action_kind_check check (kind in ('ban', 'suspend', 'reinstate')),
    constraint moderation_action_reason_code_check check (reason_code in ('spam', 'abuse', 'fraud', 'safety', 'chargeback', 'legal', 'other')))`,
  `create index moderation_action_user_id_at on identity.moderation_action (user_id, at desc, id desc)`,
  `create unique index moderation_action_standing on identity.moderation_action (user_id) where ended_at is null and kind <> 'reinstate'`,
  `create index moderation_action_until on identity.moderation_action (until) where ended_at is null and until is not null`,
];

/** Service tokens that somebody asked for by name; their values are kept nowhere. Keys of clients that sign instead of sending a secret. */
const TOKENS = [
  `create table identity.service_token (
    id uuid primary key, client_id text not null references identity.oauth_client (id), secret_id uuid not null, name text not null, scopes text[] not null,
    created_at timestamptz(3) not null, expires_at timestamptz(3) not null, revoked_at timestamptz(3), issued_by text not null)`,
  `create index service_token_client_id on identity.service_token (client_id, created_at desc, id desc)`,
  `create index oauth_client_agreement_expires_at on identity.oauth_client_agreement (expires_at) where ended_at is null`,
  `alter table identity.oauth_client add column if not exists jwks jsonb, add column if not exists jwks_uri text`,
];

const SAFE_VIEWS = [
  `create view identity.staff_member_safe as select id, user_id, status, visible_in_team, invited_roles, brand_id, invited_at, accepted_at, version
    from identity.staff_member`,
  `create view identity.role_assignment_safe as select id, user_id, role, brand_id, granted_by, granted_at, expires_at, revoked_at
    from identity.role_assignment`,
  `create view identity.service_token_safe as select id, client_id, scopes, created_at, expires_at, revoked_at, issued_by from identity.service_token`,
  ...['staff_member_safe', 'role_assignment_safe', 'service_token_safe'].flatMap(view => grantSafeView('identity', view)),
];

export class StaffModerationServiceTokens extends Migration {
  override up(): void {
    for (const statement of [...STAFF, ...MODERATION, ...TOKENS, ...SAFE_VIEWS]) this.addSql(statement);
  }
}
