import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';
import { FREE_TEXT, PERSONAL } from '../../runtime/data/safe-views.js';

const PLANS = `
create table membership.membership_plan (
  id uuid primary key,
  key text not null,
  brand_id uuid not null,
  name text not null,
  description text,
  status text not null default 'draft' constraint membership_plan_status_check check (status in ('draft', 'published', 'retired')),
  grace_days int not null default 7,
  created_at timestamptz(3) not null,
  version int not null default 1,
  constraint membership_plan_key_check check (key ~ '^[a-z0-9][a-z0-9_-]{1,63}$'),
  constraint membership_plan_grace_days_check check (grace_days between 0 and 90),
  constraint membership_plan_brand_id_key_unique unique (brand_id, key)
);
create index membership_plan_created_at_id on membership.membership_plan (created_at, id);
create table membership.membership_tier (
  id uuid primary key,
  plan_id uuid not null constraint membership_tier_plan_id_foreign references membership.membership_plan (id),
  key text not null,
  name text not null,
  rank int not null,
  benefits jsonb not null,
  feature_keys text[] not null,
  constraint membership_tier_key_check check (key ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  constraint membership_tier_plan_id_key_unique unique (plan_id, key),
  constraint membership_tier_plan_id_rank_unique unique (plan_id, rank) deferrable initially deferred
)`;

/** The state of a member is what its facts say, in the order in which they occurred. */
const FACTS = `
create table membership.membership_fact (
  id uuid primary key,
  user_id uuid not null,
  brand_id uuid,
  kind text not null,
  subject_id text,
  occurred_at timestamptz(3) not null,
  seq bigint not null,
  recorded_at timestamptz(3) not null,
  data jsonb not null
);
create index membership_fact_user_id_kind on membership.membership_fact (user_id, kind)`;

/** One that has not lapsed for each user and brand; its periods leave no gap, and none overlaps another. */
const MEMBERSHIPS = `
create table membership.membership (
  id uuid primary key,
  user_id uuid not null,
  brand_id uuid not null,
  origin text not null,
  plan_id uuid not null constraint membership_plan_id_foreign references membership.membership_plan (id),
  tier_id uuid not null constraint membership_tier_id_foreign references membership.membership_tier (id),
  announced_tier_id uuid not null constraint membership_announced_tier_id_foreign references membership.membership_tier (id),
  status text not null constraint membership_status_check check (status in ('active', 'suspended', 'lapsed')),
  source text not null constraint membership_source_check check (source in ('subscription', 'gift', 'comp')),
  subscription_id uuid,
  suspension_reasons text[] not null,
  started_at timestamptz(3) not null,
  active_since timestamptz(3),
  current_period_start timestamptz(3),
  current_period_end timestamptz(3),
  suspended_at timestamptz(3),
  grace_until timestamptz(3),
  lapsed_at timestamptz(3),
  lapse_reason text,
  involuntary boolean not null default false,
  tenure_ms bigint not null,
  due_at timestamptz(3),
  created_at timestamptz(3) not null,
  version int not null default 1
);
create unique index membership_one_live on membership.membership (user_id, brand_id) where status <> 'lapsed';
create unique index membership_subscription_id on membership.membership (subscription_id);
create index membership_user_id_started_at on membership.membership (user_id, started_at);
create index membership_created_at_id on membership.membership (created_at, id);
create index membership_due_at on membership.membership (due_at) where due_at is not null;
create index membership_plan_id_tier_id on membership.membership (plan_id, tier_id);
create table membership.membership_period (
  id uuid primary key,
  membership_id uuid not null constraint membership_period_membership_id_foreign references membership.membership (id),
  user_id uuid not null,
  brand_id uuid not null,
  tier_id uuid not null constraint membership_period_tier_id_foreign references membership.membership_tier (id),
  status text not null constraint membership_period_status_check check (status in ('active', 'suspended', 'lapsed')),
  valid_from timestamptz(3) not null,
  valid_to timestamptz(3),
  constraint membership_period_valid_to_check check (valid_to > valid_from),
  constraint membership_period_no_overlap exclude using gist (user_id with =, brand_id with =, tstzrange(valid_from, valid_to) with &&)
);
create index membership_period_membership_id_valid_from on membership.membership_period (membership_id, valid_from);
create index membership_period_user_id_valid_from on membership.membership_period (user_id, valid_from);
create index membership_period_valid_from on membership.membership_period (valid_from);
create table membership.tier_change (
  id uuid primary key,
  membership_id uuid not null constraint tier_change_membership_id_foreign references membership.membership (id),
  from_tier_id uuid not null constraint tier_change_from_tier_id_foreign references membership.membership_tier (id),
  to_tier_id uuid not null constraint tier_change_to_tier_id_foreign references membership.membership_tier (id),
  direction text not null constraint tier_change_direction_check check (direction in ('up', 'down')),
  effective_at timestamptz(3) not null
);
create index tier_change_membership_id on membership.tier_change (membership_id, effective_at)`;

/** A bonus is granted once for each membership and period, a milestone once for each user and brand. */
const REWARDS = `
create table membership.bonus_rule (
  id uuid primary key,
  key text not null,
  brand_id uuid not null,
  trigger text not null constraint bonus_rule_trigger_check check (trigger in ('activated', 'tenure_days', 'tier_changed', 'reactivated')),
  threshold int,
  tier_keys text[] not null,
  cash_amount bigint not null,
  currency char(3) not null,
  expires_days int,
  revoke_on_lapse boolean not null,
  created_at timestamptz(3) not null,
  constraint bonus_rule_cash_amount_check check (cash_amount > 0),
  constraint bonus_rule_brand_id_key_unique unique (brand_id, key)
);
create table membership.bonus_grant (
  id uuid primary key,
  membership_id uuid not null constraint bonus_grant_membership_id_foreign references membership.membership (id),
  user_id uuid not null,
  brand_id uuid not null,
  bonus_key text not null,
  period_key text not null,
  granted_at timestamptz(3) not null,
  constraint bonus_grant_once unique (membership_id, bonus_key, period_key)
);
create index bonus_grant_user_id on membership.bonus_grant (user_id, brand_id);
create table membership.milestone_rule (
  id uuid primary key,
  key text not null,
  brand_id uuid not null,
  trigger text not null constraint milestone_rule_trigger_check check (trigger in ('tenure_days', 'orders_placed', 'reactivated')),
  threshold int not null,
  reward_key text,
  active boolean not null default true,
  created_at timestamptz(3) not null,
  constraint milestone_rule_threshold_check check (threshold > 0),
  constraint milestone_rule_brand_id_key_unique unique (brand_id, key)
);
create table membership.milestone_unlock (
  id uuid primary key,
  user_id uuid not null,
  brand_id uuid not null,
  milestone text not null,
  unlocked_at timestamptz(3) not null,
  reward_key text,
  constraint milestone_unlock_once unique (user_id, brand_id, milestone)
);
create table membership.win_back (
  id uuid primary key,
  membership_id uuid not null constraint win_back_membership_id_foreign references membership.membership (id),
  user_id uuid not null,
  brand_id uuid not null,
  offer_key text not null,
  status text not null constraint win_back_status_check check (status in ('open', 'converted', 'expired', 'opted_out')),
  started_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  constraint win_back_membership_id_unique unique (membership_id)
);
create index win_back_user_id on membership.win_back (user_id, brand_id)`;

const MARKS: Readonly<Record<string, string>> = {
  'membership.user_id': PERSONAL,
  'membership.origin': PERSONAL,
  'membership.subscription_id': PERSONAL,
  'membership.lapse_reason': FREE_TEXT,
};

/** Left out: whose it is, what leads there, and why it ended. Source: membership 2. */
const SAFE_VIEW = `
create view membership.membership_safe as
  select id, brand_id, plan_id, tier_id, status, source, suspension_reasons, started_at, active_since, current_period_start, current_period_end,
    suspended_at, grace_until, lapsed_at, involuntary, tenure_ms, created_at, version from membership.membership`;

export class PlansMembershipsRewards extends Migration {
  override up(): void {
    for (const statement of [...houseTables('membership'), PLANS, FACTS, MEMBERSHIPS, REWARDS, SAFE_VIEW]) this.addSql(statement);
    for (const [column, mark] of Object.entries(MARKS)) this.addSql(`comment on column membership.${column} is '${mark}'`);
    for (const statement of grantSafeView('membership', 'membership_safe')) this.addSql(statement);
  }
}
