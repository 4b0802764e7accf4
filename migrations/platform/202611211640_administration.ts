import { Migration } from '@mikro-orm/migrations';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** What an existing row was made for is not known any more; 0 is no revision, so nothing is applied by mistake. */
const FLAGS = `
alter table platform.flag add column changed_at timestamptz(3) not null default clock_timestamp();
alter table platform.flag alter column changed_at drop default;
alter table platform.flag_change add column expires_at timestamptz(3), add column base_revision int not null default 0;
create index flag_change_waiting on platform.flag_change (status) where status in ('pending', 'scheduled');
create table platform.flag_usage (
  flag_key text not null, variant text, reason text not null, brand_id uuid, day date not null, count bigint not null,
  constraint flag_usage_counter unique nulls not distinct (flag_key, day, variant, reason, brand_id))`;

/** Values are only added; who set one may be blotted out when that person is erased. */
const CONFIG = `
create table platform.config_key (
  key text primary key constraint config_key_key_check check (key ~ '^[a-z][a-z-]*(\\.[a-z0-9_-]+)+$'),
  description text not null,
  schema jsonb not null,
  scopes text[] not null,
  readers text[] not null,
  sensitive boolean not null default false,
  created_at timestamptz(3) not null,
  constraint config_key_scopes_check check (scopes <@ array['global', 'brand'] and cardinality(scopes) > 0));
create table platform.config_value (
  id uuid primary key,
  key text not null constraint config_value_key_foreign references platform.config_key (key),
  brand_id uuid constraint config_value_brand_id_foreign references platform.brand (id),
  value jsonb not null,
  version int not null constraint config_value_version_check check (version >= 1),
  set_by text not null,
  set_at timestamptz(3) not null,
  reason text not null,
  constraint config_value_version unique nulls not distinct (key, brand_id, version));
create index config_value_key_set_at on platform.config_value (key, set_at, id);
revoke update, delete, truncate on platform.config_value from platform_platform;
grant update (set_by) on platform.config_value to platform_platform;
revoke delete, truncate on platform.config_key from platform_platform`;

const HEALTH = `
alter table platform.service
  add column base_url text, add column openapi_url text, add column last_deployed_version text,
  add column health_status text not null default 'unknown'
    constraint service_health_status_check check (health_status in ('up', 'degraded', 'down', 'unknown')),
  add column health_since timestamptz(3), add column checked_at timestamptz(3), add column latency_ms int,
  add column consecutive_failures int not null default 0, add column recent_checks jsonb not null default '[]',
  add column checks jsonb not null default '[]', add column last_seen jsonb not null default '{}';
create table platform.health_sample (
  service text not null constraint health_sample_service_foreign references platform.service (slug),
  at timestamptz(3) not null,
  result text not null constraint health_sample_result_check check (result in ('ok', 'slow', 'failed')),
  latency_ms int,
  primary key (service, at));
create table platform.health_incident (
  id uuid primary key,
  service text not null constraint health_incident_service_foreign references platform.service (slug),
  cause text not null constraint health_incident_cause_check check (cause in ('health', 'canary')),
  started_at timestamptz(3) not null,
  ended_at timestamptz(3),
  worst text not null constraint health_incident_worst_check check (worst in ('up', 'degraded', 'down', 'unknown')),
  samples int not null);
create unique index health_incident_one_open on platform.health_incident (service) where ended_at is null;
create index health_incident_service_started_at on platform.health_incident (service, started_at, id);
create table platform.canary_probe (
  id uuid primary key,
  kind text not null constraint canary_probe_kind_check check (kind in ('bus', 'workflow')),
  origin text not null,
  sent_at timestamptz(3) not null,
  received_at timestamptz(3),
  latency_ms int,
  status text not null constraint canary_probe_status_check check (status in ('pending', 'ok', 'late', 'lost')));
create index canary_probe_kind_sent_at on platform.canary_probe (kind, sent_at, id);
create index canary_probe_pending on platform.canary_probe (sent_at) where status = 'pending';
create table platform.brand_user_count (
  brand_id uuid not null constraint brand_user_count_brand_id_foreign references platform.brand (id), day date not null, users int not null,
  primary key (brand_id, day));
create table platform.safe_view (
  schema text not null, view text not null, columns text[] not null, omitted jsonb not null, drift jsonb not null, checked_at timestamptz(3) not null,
  primary key (schema, view))`;

/** Why a safe view leaves a column out; what is not marked must be in it. Source: platform, rule 11. */
const MARKS: Record<string, 'personal' | 'secret' | 'free_text'> = {
  'brand.support_email': 'personal',
  'brand.support_url': 'free_text',
  'brand_domain.verification_record': 'secret',
  'flag.description': 'free_text',
  'flag_rule.conditions': 'personal',
  'flag_change.before': 'personal',
  'flag_change.after': 'personal',
  'flag_change.reason': 'free_text',
  'flag_change.requested_by': 'personal',
  'flag_change.approvals': 'personal',
  'config_key.description': 'free_text',
  'config_key.schema': 'free_text',
  'config_value.value': 'free_text',
  'config_value.set_by': 'personal',
  'config_value.reason': 'free_text',
};

const comments = Object.entries(MARKS).map(([column, mark]) => `comment on column platform.${column} is 'class: ${mark}'`);

const REPLACED = ['flag_safe', 'flag_change_safe', 'service_safe'];

const SAFE_VIEWS = `
create view platform.flag_safe as
  select key, kind, value_type, variants, off_variant, default_rule, prerequisites, enabled, killed, fail_closed, protected, guard, salt, permanent,
    expires_on, archived_at, owner, readers, revision, changed_at from platform.flag;
create view platform.flag_change_safe as
  select id, flag_key, status, apply_at, expires_at, base_revision, revision, created_at from platform.flag_change;
create view platform.flag_usage_safe as select flag_key, variant, reason, brand_id, day, count from platform.flag_usage;
create view platform.config_key_safe as select key, scopes, readers, sensitive, created_at from platform.config_key;
create view platform.config_value_safe as select id, key, brand_id, version, set_at from platform.config_value;
create view platform.service_safe as
  select slug, name, purpose, maturity, production_ready, critical, base_url, openapi_url, last_deployed_version, health_status, health_since,
    checked_at, latency_ms, consecutive_failures, recent_checks, checks, last_seen from platform.service;
create view platform.health_sample_safe as select service, at, result, latency_ms from platform.health_sample;
create view platform.health_incident_safe as select id, service, cause, started_at, ended_at, worst, samples from platform.health_incident;
create view platform.canary_probe_safe as select id, kind, origin, sent_at, received_at, latency_ms, status from platform.canary_probe;
create view platform.brand_user_count_safe as select brand_id, day, users from platform.brand_user_count;
create view platform.safe_view_safe as select schema, view, columns, omitted, drift, checked_at from platform.safe_view`;

const VIEWS = [
  ...REPLACED,
  'flag_usage_safe',
  'config_key_safe',
  'config_value_safe',
  'health_sample_safe',
  'health_incident_safe',
  'canary_probe_safe',
  'brand_user_count_safe',
  'safe_view_safe',
];

export class Administration extends Migration {
  override up(): void {
    const statements = [
      FLAGS,
      CONFIG,
      HEALTH,
      ...comments,
      ...REPLACED.map(view => `drop view platform.${view}`),
      SAFE_VIEWS,
      ...VIEWS.flatMap(view => grantSafeView('platform', view)),
    ];
    for (const statement of statements) this.addSql(statement);
  }
}
