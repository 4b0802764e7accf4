import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

const ROLE = roleOf('affiliates');

const PROGRAMS = `
create table affiliates.affiliate_program (
  id uuid primary key,
  key text not null,
  name text not null,
  brand_id uuid not null,
  model text not null constraint affiliate_program_model_check check (model in ('last_click', 'first_click')),
  window_days int not null constraint affiliate_program_window_days_check check (window_days between 1 and 90),
  binding_months int not null constraint affiliate_program_binding_months_check check (binding_months between 0 and 120),
  hold_days int not null constraint affiliate_program_hold_days_check check (hold_days between 0 and 365),
  minimum_payout bigint not null constraint affiliate_program_minimum_payout_check check (minimum_payout >= 0),
  currency char(3) not null,
  self_approval boolean not null,
  include_tax boolean not null,
  include_shipping boolean not null,
  include_cash boolean not null,
  subject_kinds text[] not null,
  renewal_months int not null constraint affiliate_program_renewal_months_check check (renewal_months between 0 and 120),
  consent_required boolean not null,
  active boolean not null,
  created_at timestamptz(3) not null,
  version int not null default 1
);
create unique index affiliate_program_key on affiliates.affiliate_program (key);

create table affiliates.commission_tier (
  id uuid primary key,
  program_id uuid not null constraint commission_tier_program_id_foreign references affiliates.affiliate_program (id) deferrable initially deferred,
  key text not null,
  rank int not null,
  kind text not null constraint commission_tier_kind_check check (kind in ('percent', 'flat')),
  rate_bps int,
  flat bigint,
  threshold bigint not null,
  constraint commission_tier_rate_check check ((kind = 'percent') = (rate_bps is not null) and (kind = 'flat') = (flat is not null)),
  constraint commission_tier_bounds_check check (rate_bps between 0 and 10000 and threshold >= 0 or flat >= 0 and threshold >= 0)
);
create unique index commission_tier_program_id_key on affiliates.commission_tier (program_id, key);
create unique index commission_tier_program_id_rank on affiliates.commission_tier (program_id, rank)`;

const AFFILIATES = `
create table affiliates.affiliate (
  id uuid primary key,
  program_id uuid not null constraint affiliate_program_id_foreign references affiliates.affiliate_program (id),
  user_id uuid not null,
  status text not null constraint affiliate_status_check check (status in ('applied', 'approved', 'suspended', 'rejected', 'closed')),
  tier_key text not null,
  code text not null,
  created_at timestamptz(3) not null,
  changed_at timestamptz(3) not null,
  checked_at timestamptz(3),
  version int not null default 1
);
create unique index affiliate_program_id_user_id on affiliates.affiliate (program_id, user_id);
create unique index affiliate_code on affiliates.affiliate (code);
create index affiliate_user_id on affiliates.affiliate (user_id);
create index affiliate_created_at_id on affiliates.affiliate (created_at, id);

create table affiliates.affiliate_link (
  id uuid primary key,
  affiliate_id uuid not null constraint affiliate_link_affiliate_id_foreign references affiliates.affiliate (id) deferrable initially deferred,
  slug text not null,
  target text not null,
  clicks int not null default 0,
  leads int not null default 0,
  customers int not null default 0,
  created_at timestamptz(3) not null,
  deleted_at timestamptz(3)
);
create unique index affiliate_link_slug on affiliates.affiliate_link (slug);
create index affiliate_link_affiliate_id on affiliates.affiliate_link (affiliate_id);

create table affiliates.click (
  id uuid primary key,
  affiliate_id uuid not null,
  link_id uuid,
  visitor_hash text,
  at timestamptz(3) not null
);
create index click_at on affiliates.click (at);
comment on column affiliates.click.visitor_hash is 'class: personal';
create view affiliates.click_safe as select id, affiliate_id, link_id, at from affiliates.click`;

const ATTRIBUTIONS = `
create table affiliates.attribution (
  id uuid primary key,
  program_id uuid not null,
  affiliate_id uuid not null constraint attribution_affiliate_id_foreign references affiliates.affiliate (id),
  customer_id uuid not null,
  customer_alias text not null,
  stage text not null constraint attribution_stage_check check (stage in ('visitor', 'lead', 'customer')),
  basis text not null constraint attribution_basis_check check (basis in ('code', 'link', 'binding', 'manual')),
  click_id uuid,
  link_id uuid,
  clicked_at timestamptz(3) not null,
  attributed_at timestamptz(3) not null,
  customer_since timestamptz(3),
  bound_until timestamptz(3),
  ended_at timestamptz(3)
);
create unique index attribution_live on affiliates.attribution (program_id, customer_id) where ended_at is null;
create index attribution_customer_id on affiliates.attribution (customer_id);
create index attribution_affiliate_id on affiliates.attribution (affiliate_id, attributed_at, id);
comment on column affiliates.attribution.customer_id is 'class: personal';
create view affiliates.attribution_safe as
  select id, program_id, affiliate_id, customer_alias, stage, basis, click_id, link_id, clicked_at, attributed_at, customer_since, bound_until, ended_at from affiliates.attribution;

create table affiliates.claim_window (
  user_id uuid primary key,
  opened_at timestamptz(3) not null
);
create index claim_window_opened_at on affiliates.claim_window (opened_at);

create table affiliates.attribution_claim (
  id uuid primary key,
  user_id uuid not null,
  affiliate_id uuid not null,
  basis text not null constraint attribution_claim_basis_check check (basis in ('code', 'link', 'binding', 'manual')),
  click_id uuid,
  link_id uuid,
  clicked_at timestamptz(3) not null,
  claimed_at timestamptz(3) not null
);
create index attribution_claim_user_id on affiliates.attribution_claim (user_id);
create index attribution_claim_claimed_at on affiliates.attribution_claim (claimed_at)`;

/** Nothing of a commission is ever changed: its status follows from its marks, reversals and payouts. */
const COMMISSIONS = `
create table affiliates.commission (
  id uuid primary key,
  program_id uuid not null,
  affiliate_id uuid not null constraint commission_affiliate_id_foreign references affiliates.affiliate (id),
  attribution_id uuid not null constraint commission_attribution_id_foreign references affiliates.attribution (id) deferrable initially deferred,
  base bigint not null constraint commission_base_check check (base >= 0),
  amount bigint not null constraint commission_amount_check check (amount > 0),
  currency char(3) not null,
  kind text not null constraint commission_kind_check check (kind in ('percent', 'flat')),
  rate_bps int,
  tier_key text not null,
  obligation_type text not null,
  obligation_id uuid not null,
  order_id uuid,
  subscription_id uuid,
  held_reason text,
  payable_at timestamptz(3) not null,
  created_at timestamptz(3) not null
);
create unique index commission_obligation on affiliates.commission (program_id, obligation_type, obligation_id);
create index commission_affiliate_id_created_at on affiliates.commission (affiliate_id, created_at, id);
create index commission_obligation_id on affiliates.commission (obligation_type, obligation_id);
create index commission_order_id on affiliates.commission (order_id);
create index commission_created_at_id on affiliates.commission (created_at, id);

create table affiliates.commission_reversal (
  id uuid primary key,
  commission_id uuid not null constraint commission_reversal_commission_id_foreign references affiliates.commission (id) deferrable initially deferred,
  amount bigint not null constraint commission_reversal_amount_check check (amount <> 0),
  cause text not null constraint commission_reversal_cause_check check (cause in ('refund', 'refund_failed', 'dispute', 'fraud', 'staff')),
  cause_id uuid not null,
  created_at timestamptz(3) not null,
  constraint commission_reversal_sign_check check ((amount < 0) = (cause = 'refund_failed'))
);
create unique index commission_reversal_cause on affiliates.commission_reversal (commission_id, cause, cause_id);

create table affiliates.commission_mark (
  commission_id uuid not null constraint commission_mark_commission_id_foreign references affiliates.commission (id) deferrable initially deferred,
  kind text not null constraint commission_mark_kind_check check (kind in ('released', 'posted')),
  run_id uuid,
  at timestamptz(3) not null,
  constraint commission_mark_pkey primary key (commission_id, kind)
);

create table affiliates.posting_run (
  id uuid primary key,
  kind text not null constraint posting_run_kind_check check (kind in ('posting', 'payout')),
  as_of timestamptz(3) not null,
  posted int not null default 0,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3)
);
create index posting_run_open on affiliates.posting_run (created_at) where finished_at is null;

create table affiliates.affiliate_payout (
  id uuid primary key,
  run_id uuid not null constraint affiliate_payout_run_id_foreign references affiliates.posting_run (id),
  affiliate_id uuid not null constraint affiliate_payout_affiliate_id_foreign references affiliates.affiliate (id),
  amount bigint not null constraint affiliate_payout_amount_check check (amount > 0),
  currency char(3) not null,
  status text not null constraint affiliate_payout_status_check check (status in ('requested', 'in_flight', 'paid', 'failed')),
  payout_id uuid,
  failure text,
  created_at timestamptz(3) not null,
  settled_at timestamptz(3)
);
create unique index affiliate_payout_run_id_affiliate_id on affiliates.affiliate_payout (run_id, affiliate_id, currency);
create index affiliate_payout_affiliate_id on affiliates.affiliate_payout (affiliate_id, created_at, id);
create index affiliate_payout_open on affiliates.affiliate_payout (created_at) where status in ('requested', 'in_flight');

create table affiliates.payout_commission (
  payout_id uuid not null constraint payout_commission_payout_id_foreign references affiliates.affiliate_payout (id) deferrable initially deferred,
  commission_id uuid not null constraint payout_commission_commission_id_foreign references affiliates.commission (id),
  constraint payout_commission_pkey primary key (payout_id, commission_id)
);
create index payout_commission_commission_id on affiliates.payout_commission (commission_id);
revoke update, delete, truncate on affiliates.commission, affiliates.commission_reversal, affiliates.commission_mark, affiliates.payout_commission from ${ROLE}`;

/** What is known of an obligation besides its payment, which may come later. */
const OBLIGATIONS = `
create table affiliates.obligation_refund (
  refund_id uuid primary key,
  obligation_type text not null,
  obligation_id uuid not null,
  amount bigint not null,
  refunded bigint not null,
  failed boolean not null,
  occurred_at timestamptz(3) not null,
  event_id uuid not null
);
create index obligation_refund_obligation_id on affiliates.obligation_refund (obligation_type, obligation_id);

create table affiliates.obligation_dispute (
  dispute_id uuid primary key,
  obligation_type text not null,
  obligation_id uuid not null,
  outcome text
);
create index obligation_dispute_obligation_id on affiliates.obligation_dispute (obligation_type, obligation_id)`;

const OTHERS = `
create table affiliates.win_back_claim (
  id uuid primary key,
  affiliate_id uuid not null constraint win_back_claim_affiliate_id_foreign references affiliates.affiliate (id),
  attribution_id uuid not null,
  membership_id uuid not null,
  status text not null constraint win_back_claim_status_check check (status in ('offered', 'sent', 'converted', 'expired')),
  offer_key text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null
);
create unique index win_back_claim_once on affiliates.win_back_claim (membership_id, offer_key, expires_at);
create index win_back_claim_affiliate_id on affiliates.win_back_claim (affiliate_id, created_at, id);

create table affiliates.fraud_signal (
  id uuid primary key,
  affiliate_id uuid not null constraint fraud_signal_affiliate_id_foreign references affiliates.affiliate (id),
  commission_id uuid,
  kind text not null constraint fraud_signal_kind_check check (kind in ('same_user', 'shared_payment_method')),
  created_at timestamptz(3) not null
);
create index fraud_signal_created_at_id on affiliates.fraud_signal (created_at, id)`;

export class Tables extends Migration {
  override up(): void {
    const tables = [PROGRAMS, AFFILIATES, ATTRIBUTIONS, COMMISSIONS, OBLIGATIONS, OTHERS];
    const views = ['click_safe', 'attribution_safe'].flatMap(view => grantSafeView('affiliates', view));
    for (const statement of [...houseTables('affiliates'), ...tables, ...views]) this.addSql(statement);
  }
}
