import { Migration } from '@mikro-orm/migrations';

/** What a tier gives of a feature. Tiers are membership's. */
const TIER_FEATURES = `
create table entitlements.tier_feature (
  tier_id uuid not null,
  feature_key text not null constraint tier_feature_feature_key_foreign references entitlements.feature (key),
  value jsonb,
  usage_limit bigint,
  soft_limit boolean not null,
  reset text not null constraint tier_feature_reset_check check (reset in ('never', 'day', 'calendar_month', 'membership_period')),
  keep_while_suspended boolean not null,
  constraint tier_feature_pkey primary key (tier_id, feature_key),
  constraint tier_feature_usage_limit_check check (usage_limit >= 0)
);
create index tier_feature_feature_key on entitlements.tier_feature (feature_key)`;

/** The memberships of a user as membership last told of them; their versions only grow, so an older answer never replaces a newer one. */
const MEMBERSHIPS = `
create table entitlements.membership_copy (
  user_id uuid primary key,
  memberships jsonb not null,
  versions bigint not null,
  asked_at timestamptz(3) not null
)`;

/** Raised whenever everybody's answer may differ. */
const EPOCH = `
create table entitlements.cache_epoch (only_row boolean primary key default true check (only_row), epoch bigint not null);
insert into entitlements.cache_epoch (epoch) values (1)`;

const PERIOD = `
alter table entitlements.feature drop constraint feature_usage_reset_check;
alter table entitlements.feature add constraint feature_usage_reset_check check (usage_reset in ('never', 'day', 'calendar_month', 'membership_period'))`;

/** Built in: the tier of whoever is an active member. Nobody changes or archives it. */
const TIER = `
insert into entitlements.feature (key, name, kind, product_ids, created_at)
values ('membership.tier', 'Tier of the membership', 'config', '{}', '2026-11-23T00:00:00Z') on conflict do nothing`;

export class Tiers extends Migration {
  override up(): void {
    for (const statement of [TIER_FEATURES, MEMBERSHIPS, EPOCH, PERIOD, TIER]) this.addSql(statement);
  }
}
