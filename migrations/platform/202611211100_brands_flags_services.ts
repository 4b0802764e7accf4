import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

const BRANDS = `
create table platform.brand (
  id uuid primary key,
  slug text not null constraint brand_slug_unique unique,
  name text not null,
  legal_name text not null,
  status text not null default 'active' constraint brand_status_check check (status in ('active', 'suspended', 'archived')),
  is_default boolean not null default false,
  default_locale text not null,
  locales text[] not null,
  default_currency text not null,
  currencies text[] not null,
  countries text[] not null,
  time_zone text not null,
  theme jsonb not null,
  support_email text not null,
  support_url text,
  tax_inclusive_prices boolean not null default false,
  legal_version int not null default 1,
  version int not null default 1,
  cache_version int not null default 0,
  created_at timestamptz(3) not null,
  constraint brand_slug_check check (slug ~ '^[a-z0-9-]{2,40}$' and slug <> 'resolve'),
  constraint brand_default_locale_check check (default_locale = any (locales)),
  constraint brand_default_currency_check check (default_currency = any (currencies))
);
create index brand_created_at_id on platform.brand (created_at, id);
create unique index brand_one_default on platform.brand (is_default) where is_default;

create table platform.brand_domain (
  id uuid primary key,
  brand_id uuid not null constraint brand_domain_brand_id_foreign references platform.brand (id) on delete cascade,
  host text not null constraint brand_domain_host_unique unique,
  purpose text not null constraint brand_domain_purpose_check check (purpose in ('app', 'shop', 'auth', 'docs')),
  status text not null default 'pending' constraint brand_domain_status_check check (status in ('pending', 'verified', 'failed')),
  verification_record text not null,
  verified_at timestamptz(3),
  constraint brand_domain_host_check check (host ~ '^[a-z0-9-]+(\\.[a-z0-9-]+)+$')
);
create index brand_domain_brand_id on platform.brand_domain (brand_id)`;

/** A flag is archived, never deleted: its key is not used again, and the sum of all revisions is the snapshot's. */
const FLAGS = `
create table platform.flag (
  key text primary key,
  description text not null,
  kind text not null constraint flag_kind_check check (kind in ('release', 'experiment', 'ops', 'permission')),
  value_type text not null constraint flag_value_type_check check (value_type in ('boolean', 'string')),
  variants jsonb not null,
  off_variant text not null,
  default_rule jsonb not null,
  prerequisites jsonb not null,
  enabled boolean not null default false,
  killed boolean not null default false,
  fail_closed boolean not null default true,
  protected boolean not null default false,
  guard text,
  salt text not null,
  permanent boolean not null default false,
  expires_on date,
  archived_at timestamptz(3),
  owner text not null,
  readers text[] not null,
  revision int not null default 1,
  constraint flag_key_check check (key ~ '^feature(\\.[a-z0-9-]+)+$' and char_length(key) <= 128),
  constraint flag_revision_check check (revision >= 1)
);

create table platform.flag_rule (
  id uuid primary key,
  flag_key text not null constraint flag_rule_flag_key_foreign references platform.flag (key),
  position int not null,
  conditions jsonb not null,
  variant text,
  rollout jsonb,
  constraint flag_rule_flag_key_position unique (flag_key, position),
  constraint flag_rule_serves_check check ((variant is null) <> (rollout is null)),
  constraint flag_rule_position_check check (position >= 0 and position <= 49)
);

create table platform.flag_change (
  id uuid primary key,
  flag_key text not null constraint flag_change_flag_key_foreign references platform.flag (key),
  before jsonb not null,
  after jsonb not null,
  reason text not null,
  requested_by text not null,
  status text not null
    constraint flag_change_status_check check (status in ('pending', 'approved', 'applied', 'rejected', 'scheduled', 'expired')),
  apply_at timestamptz(3),
  approvals jsonb not null,
  revision int,
  created_at timestamptz(3) not null,
  constraint flag_change_reason_check check (char_length(reason) >= 10)
);
create index flag_change_flag_key_created_at on platform.flag_change (flag_key, created_at, id);
revoke delete, truncate on platform.flag, platform.flag_change from platform_platform`;

const SERVICES = `
create table platform.service (
  slug text primary key,
  name text not null,
  purpose text not null,
  maturity text constraint service_maturity_check check (maturity in ('stable', 'beta', 'preview')),
  production_ready boolean,
  critical boolean not null
)`;

/** Left out: the record that proves a domain, free text, user ids (conditions, before, after) and who asked. */
const SAFE_VIEWS = `
create view platform.brand_safe as
  select id, slug, name, legal_name, status, is_default, default_locale, locales, default_currency, currencies, countries, time_zone, theme,
    tax_inclusive_prices, legal_version, version, cache_version, created_at from platform.brand;
create view platform.brand_domain_safe as select id, brand_id, host, purpose, status, verified_at from platform.brand_domain;
create view platform.flag_safe as
  select key, kind, value_type, variants, off_variant, default_rule, prerequisites, enabled, killed, fail_closed, protected, guard, salt, permanent,
    expires_on, archived_at, owner, readers, revision from platform.flag;
create view platform.flag_rule_safe as select id, flag_key, position, variant, rollout from platform.flag_rule;
create view platform.flag_change_safe as select id, flag_key, status, apply_at, revision, created_at from platform.flag_change;
create view platform.service_safe as select slug, name, purpose, maturity, production_ready, critical from platform.service`;

const VIEWS = ['brand_safe', 'brand_domain_safe', 'flag_safe', 'flag_rule_safe', 'flag_change_safe', 'service_safe'];

/**
 * The flags without which the platform could not be switched on: part of the product, so they exist in production too. The
 * prompt's salt is that of the contract's acceptance case. Source: platform 4.2, 10.2.
 */
const SEEDED_FLAGS = `
insert into platform.flag (key, description, kind, value_type, variants, off_variant, default_rule, prerequisites, enabled, protected, guard, salt, permanent, owner, readers)
values
  ('feature.intelligence.stage', 'Which ranker serves; S0 is the rule-based one.', 'ops', 'string',
   '[{"name":"S0","value":"S0"},{"name":"S1","value":"S1"},{"name":"S2","value":"S2"},{"name":"S3","value":"S3"},{"name":"S4","value":"S4"},{"name":"S5","value":"S5"}]',
   'S0', '{"variant":"S0"}', '[]', true, true, 'stage_gate', 'feature.intelligence.stage', true, 'intelligence', '{}'),
  ('feature.clinical.retest-cycle', 'Re-test cycles: creation, follow-up recording, outcome records.', 'release', 'boolean',
   '[{"name":"on","value":true},{"name":"off","value":false}]',
   'off', '{"variant":"off"}', '[]', false, true, null, 'feature.clinical.retest-cycle', true, 'clinical', '{}'),
  ('feature.clinical.retest-prompt', 'The nudge to re-test, per brand and user.', 'release', 'boolean',
   '[{"name":"on","value":true},{"name":"off","value":false}]',
   'off', '{"variant":"off"}', '[{"key":"feature.clinical.retest-cycle","variant":"on"}]', false, true, null, 's1', true, 'clinical', '{}')`;

/** Names, purposes, maturity and readiness of the specification; the last five have neither. Source: spec 1; platform 4.3. */
const SEEDED_SERVICES = `
insert into platform.service (slug, name, purpose, maturity, production_ready, critical) values
  ('identity', 'Identity', 'User accounts, authentication, machine-to-machine tokens, role-based access control', 'stable', true, true),
  ('accounting', 'Accounting', 'Immutable financial ledger, wallets, transaction processing', 'stable', true, false),
  ('payments', 'Payments', 'Payment gateway abstraction, charges, refunds, payouts', 'stable', true, true),
  ('comms', 'Comms', 'Email, SMS, push notifications, in-app messaging', 'stable', true, false),
  ('analytics', 'Analytics', 'Event tracking, dashboards, data warehouse sink', 'beta', true, false),
  ('affiliates', 'Affiliates', 'Affiliate tracking, attribution rules, commission tiers', 'beta', false, false),
  ('clinical', 'Clinical', 'Health data, biomarker engine, protocols, health scoring', 'beta', true, true),
  ('commerce', 'Commerce', 'Product catalog, orders, e-commerce workflows', 'beta', true, true),
  ('ai', 'AI', 'AI agents, evaluations, recap builder', 'preview', true, false),
  ('webhooks', 'Webhooks', 'Webhook delivery, retry management, event subscriptions', 'stable', true, false),
  ('events', 'Events', 'Event bus, event publishing, cross-service messaging', 'stable', true, true),
  ('patient-graph', 'Patient graph', 'Patient data model, health data ingestion, graph queries', 'beta', false, false),
  ('membership', 'Membership', 'Membership plans, subscriptions, entitlements', 'beta', false, false),
  ('content', 'Content', 'CMS-backed content management and delivery', 'preview', false, false),
  ('jobs', 'Jobs', 'Background job scheduling, cron tasks, async processing', 'stable', true, false),
  ('platform', 'Platform', 'Platform configuration, brand management, service health', 'stable', true, true),
  ('follows', 'Follows', 'Social graph, follow/unfollow, relationships', 'preview', false, false),
  ('partner', 'Partner', 'Partner-specific service layer and workflows', 'preview', true, false),
  ('booking', 'Booking', 'Visit scheduling, provider availability, appointments', 'preview', false, false),
  ('cash', 'Cash', 'Cash grants, spending, expiration, balance', 'preview', true, false),
  ('community', 'Community', 'Posts, comments, likes, community feed', 'preview', false, false),
  ('entitlements', 'Entitlements', 'Feature access, tier-based entitlements, cache management', 'preview', false, false),
  ('integrations', 'Integrations', 'Wearable device connections, OAuth flows, health data sync', 'preview', false, false),
  ('intelligence', 'Intelligence', 'Ranking, decision ledger, honesty metrics, governed proposals', null, null, false),
  ('labs', 'Labs', 'Lab catalogue, orders, kits, result intake and release', null, null, false),
  ('live', 'Live', 'Live sessions, waitlist, questions, calls, streams', null, null, false),
  ('messaging', 'Messaging', 'Conversations, read state, screening of the care inbox', null, null, false),
  ('workflow', 'Workflow', 'Durable processes, loop orchestrator, people''s tasks', null, null, false)`;

export class BrandsFlagsServices extends Migration {
  override up(): void {
    const statements = [
      ...houseTables('platform'),
      BRANDS,
      FLAGS,
      SERVICES,
      SAFE_VIEWS,
      ...VIEWS.flatMap(view => grantSafeView('platform', view)),
      SEEDED_FLAGS,
      SEEDED_SERVICES,
    ];
    for (const statement of statements) this.addSql(statement);
  }
}
