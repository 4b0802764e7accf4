import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

/** A feature is archived, never deleted: its key is not used again. */
const FEATURES = `
create table entitlements.feature (
  key text primary key,
  name text not null,
  kind text not null constraint feature_kind_check check (kind in ('boolean', 'config', 'metered')),
  unit text,
  fail_mode text not null default 'closed' constraint feature_fail_mode_check check (fail_mode in ('closed', 'open')),
  default_value jsonb,
  usage_reset text not null default 'never' constraint feature_usage_reset_check check (usage_reset in ('never', 'day', 'calendar_month')),
  soft_limit boolean not null default false,
  product_ids text[] not null,
  archived_at timestamptz(3),
  created_at timestamptz(3) not null,
  version int not null default 1,
  constraint feature_key_check check (key ~ '^[a-z0-9_.-]{2,64}$')
);
create index feature_product_ids on entitlements.feature using gin (product_ids);
revoke delete, truncate on entitlements.feature from platform_entitlements`;

/** A purchase is made once for each reference and feature. */
const OVERRIDES = `
create table entitlements.entitlement_override (
  id uuid primary key,
  user_id uuid not null,
  feature_key text not null constraint entitlement_override_feature_key_foreign references entitlements.feature (key),
  allow boolean not null,
  value jsonb,
  usage_limit bigint,
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3),
  source text not null default 'override' constraint entitlement_override_source_check check (source in ('override', 'purchase')),
  reference text,
  reason text not null,
  created_by text not null,
  created_at timestamptz(3) not null,
  constraint entitlement_override_usage_limit_check check (usage_limit >= 0),
  constraint entitlement_override_ends_at_check check (ends_at >= starts_at)
);
create index entitlement_override_user_id_feature_key on entitlements.entitlement_override (user_id, feature_key);
create index entitlement_override_created_at_id on entitlements.entitlement_override (created_at, id);
create unique index entitlement_override_purchase on entitlements.entitlement_override (reference, feature_key) where source = 'purchase'`;

const USAGE = `
create table entitlements.usage_counter (
  user_id uuid not null,
  feature_key text not null constraint usage_counter_feature_key_foreign references entitlements.feature (key),
  period_start timestamptz(3) not null,
  used bigint not null,
  constraint usage_counter_pkey primary key (user_id, feature_key, period_start),
  constraint usage_counter_used_check check (used >= 0)
);

create table entitlements.usage_event (
  user_id uuid not null,
  feature_key text not null constraint usage_event_feature_key_foreign references entitlements.feature (key),
  period_start timestamptz(3) not null,
  idempotency_key text not null,
  amount bigint not null,
  at timestamptz(3) not null,
  returned_at timestamptz(3),
  constraint usage_event_pkey primary key (user_id, feature_key, period_start, idempotency_key),
  constraint usage_event_amount_check check (amount > 0)
);

create table entitlements.entitlement_snapshot (
  user_id uuid primary key,
  version bigint not null,
  features jsonb not null,
  computed_at timestamptz(3) not null,
  valid_until timestamptz(3)
)`;

/** Left out: who has it, why, by whom, and the order, which leads to the user. Source: entitlements 2. */
const SAFE_VIEWS = `
create view entitlements.entitlement_safe as
  select id, feature_key, allow, usage_limit, starts_at, ends_at, source, created_at from entitlements.entitlement_override;
create view entitlements.feature_safe as
  select key, kind, unit, fail_mode, usage_reset, soft_limit, product_ids, archived_at, created_at, version from entitlements.feature`;

export class FeaturesOverridesUsage extends Migration {
  override up(): void {
    const views = ['entitlement_safe', 'feature_safe'].flatMap(view => grantSafeView('entitlements', view));
    for (const statement of [...houseTables('entitlements'), FEATURES, OVERRIDES, USAGE, SAFE_VIEWS, ...views]) this.addSql(statement);
  }
}
