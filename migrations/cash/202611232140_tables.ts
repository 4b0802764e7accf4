import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

/** The lock of a user's balance in one currency, and its running totals. */
const ACCOUNT = `
create table cash.cash_account (
  user_id uuid not null,
  currency char(3) not null,
  granted bigint not null default 0,
  spent bigint not null default 0,
  expired bigint not null default 0,
  revoked bigint not null default 0,
  reserved bigint not null default 0,
  version int not null default 0,
  checked_version int not null default 0,
  created_at timestamptz(3) not null,
  changed_at timestamptz(3) not null,
  constraint cash_account_pkey primary key (user_id, currency),
  constraint cash_account_totals_check check (least(granted, spent, expired, revoked, reserved) >= 0 and reserved <= granted - spent - expired - revoked)
);
create index cash_account_unchecked on cash.cash_account (changed_at) where version <> checked_version`;

const SOURCES = `('promotion', 'bonus', 'gift', 'refund', 'referral', 'staff')`;

const GRANT = `
create table cash.cash_grant (
  id uuid primary key,
  user_id uuid not null,
  currency char(3) not null,
  source text not null constraint cash_grant_source_check check (source in ${SOURCES}),
  amount bigint not null,
  remaining bigint not null,
  reserved bigint not null default 0,
  status text not null constraint cash_grant_status_check check (status in ('scheduled', 'active', 'exhausted', 'expired', 'revoked')),
  reference_type text not null,
  reference_id uuid not null,
  reference_key text not null default '',
  reason text,
  activates_at timestamptz(3) not null,
  expires_at timestamptz(3),
  min_subtotal bigint,
  subject_kinds text[] not null default '{}',
  max_share_bps int not null default 10000,
  revoke_on_lapse boolean not null default false,
  revoked_by_type text,
  revoked_by_id uuid,
  created_at timestamptz(3) not null,
  constraint cash_grant_amount_check check (amount between 1 and 10000000),
  constraint cash_grant_left_check check (remaining >= 0 and reserved >= 0 and remaining + reserved <= amount),
  constraint cash_grant_expires_at_check check (expires_at > activates_at and expires_at <= activates_at + interval '10 years'),
  constraint cash_grant_endless_check check (expires_at is not null or source in ('refund', 'gift')),
  constraint cash_grant_min_subtotal_check check (min_subtotal >= 0),
  constraint cash_grant_max_share_bps_check check (max_share_bps between 1 and 10000)
);
create unique index cash_grant_reference on cash.cash_grant (user_id, currency, source, reference_type, reference_id, reference_key);
create index cash_grant_by_reference on cash.cash_grant (reference_type, reference_id);
create index cash_grant_user_id_expires_at on cash.cash_grant (user_id, expires_at, created_at, id);
create index cash_grant_user_id_live on cash.cash_grant (user_id, currency) where status in ('scheduled', 'active') or remaining + reserved > 0;
create index cash_grant_starting on cash.cash_grant (activates_at) where status = 'scheduled';
create index cash_grant_ending on cash.cash_grant (expires_at) where status = 'active';
revoke delete, truncate on cash.cash_grant from ${roleOf('cash')};
comment on column cash.cash_grant.user_id is 'class: personal';
comment on column cash.cash_grant.reason is 'class: free_text'`;

const SPEND = `
create table cash.cash_spend (
  id uuid primary key,
  user_id uuid not null,
  currency char(3) not null,
  amount bigint not null,
  returned bigint not null default 0,
  reference_type text not null,
  reference_id uuid not null,
  created_at timestamptz(3) not null,
  constraint cash_spend_amount_check check (amount > 0),
  constraint cash_spend_returned_check check (returned between 0 and amount)
);
create unique index cash_spend_reference on cash.cash_spend (reference_type, reference_id);
create index cash_spend_user_id_created_at on cash.cash_spend (user_id, created_at, id);

create table cash.cash_spend_lot (
  id uuid primary key,
  spend_id uuid not null constraint cash_spend_lot_spend_id_foreign references cash.cash_spend (id) deferrable initially deferred,
  grant_id uuid not null constraint cash_spend_lot_grant_id_foreign references cash.cash_grant (id) deferrable initially deferred,
  position int not null,
  amount bigint not null,
  returned bigint not null default 0,
  constraint cash_spend_lot_amount_check check (amount > 0),
  constraint cash_spend_lot_returned_check check (returned between 0 and amount)
);
create unique index cash_spend_lot_position on cash.cash_spend_lot (spend_id, position);
create index cash_spend_lot_grant_id on cash.cash_spend_lot (grant_id);
revoke delete, truncate on cash.cash_spend, cash.cash_spend_lot from ${roleOf('cash')}`;

const RESERVATION = `
create table cash.cash_reservation (
  id uuid primary key,
  user_id uuid not null,
  currency char(3) not null,
  asked bigint not null,
  amount bigint not null,
  status text not null constraint cash_reservation_status_check check (status in ('held', 'committed', 'released', 'expired')),
  reference_type text not null,
  reference_id uuid not null,
  spend_id uuid constraint cash_reservation_spend_id_foreign references cash.cash_spend (id) deferrable initially deferred,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint cash_reservation_amount_check check (amount between 0 and asked),
  constraint cash_reservation_expires_at_check check (expires_at > created_at and expires_at <= created_at + interval '8 days')
);
create unique index cash_reservation_live on cash.cash_reservation (reference_type, reference_id) where status = 'held';
create index cash_reservation_held_user_id on cash.cash_reservation (user_id, currency) where status = 'held';
create index cash_reservation_ending on cash.cash_reservation (expires_at) where status = 'held';

create table cash.cash_reservation_lot (
  id uuid primary key,
  reservation_id uuid not null constraint cash_reservation_lot_reservation_id_foreign references cash.cash_reservation (id) deferrable initially deferred,
  grant_id uuid not null constraint cash_reservation_lot_grant_id_foreign references cash.cash_grant (id) deferrable initially deferred,
  position int not null,
  amount bigint not null,
  constraint cash_reservation_lot_amount_check check (amount > 0)
);
create unique index cash_reservation_lot_position on cash.cash_reservation_lot (reservation_id, position);
create index cash_reservation_lot_grant_id on cash.cash_reservation_lot (grant_id);
revoke delete, truncate on cash.cash_reservation, cash.cash_reservation_lot from ${roleOf('cash')}`;

/** What has changed a balance, in order; never changed itself. */
const MOVEMENT = `
create table cash.cash_movement (
  id uuid primary key,
  user_id uuid not null,
  currency char(3) not null,
  kind text not null constraint cash_movement_kind_check check (kind in ('granted', 'spent', 'expired', 'revoked', 'returned')),
  amount bigint not null,
  balance_after bigint not null,
  reference_type text not null,
  reference_id uuid not null,
  reference_key text not null default '',
  at timestamptz(3) not null,
  constraint cash_movement_amount_check check (amount > 0 and balance_after >= 0)
);
create index cash_movement_user_id_at on cash.cash_movement (user_id, at, id);
revoke update, delete, truncate on cash.cash_movement from ${roleOf('cash')}`;

/** A campaign's grants, each user's with its outcome, so that a run goes on where it was left. */
const BULK = `
create table cash.bulk_grant (
  id uuid primary key,
  source text not null constraint bulk_grant_source_check check (source in ${SOURCES}),
  amount bigint not null,
  currency char(3) not null,
  reason text not null,
  activates_at timestamptz(3) not null,
  expires_at timestamptz(3),
  min_subtotal bigint,
  subject_kinds text[] not null default '{}',
  max_share_bps int not null default 10000,
  created_at timestamptz(3) not null
);
create table cash.bulk_grant_user (
  id uuid primary key,
  bulk_grant_id uuid not null constraint bulk_grant_user_bulk_grant_id_foreign references cash.bulk_grant (id) deferrable initially deferred,
  user_id uuid not null,
  status text not null constraint bulk_grant_user_status_check check (status in ('pending', 'granted', 'existing', 'refused')),
  grant_id uuid,
  created_at timestamptz(3) not null
);
create unique index bulk_grant_user_once on cash.bulk_grant_user (bulk_grant_id, user_id);
create index bulk_grant_user_pending on cash.bulk_grant_user (bulk_grant_id, user_id) where status = 'pending'`;

/** Left out: whose it is, and why staff gave it. Source: cash 2. */
const SAFE_VIEW = `
create view cash.cash_grant_safe as
  select id, currency, source, amount, remaining, reserved, status, reference_type, activates_at, expires_at, min_subtotal, subject_kinds, max_share_bps, created_at
  from cash.cash_grant`;

export class Tables extends Migration {
  override up(): void {
    const tables = [ACCOUNT, GRANT, SPEND, RESERVATION, MOVEMENT, BULK, SAFE_VIEW];
    for (const statement of [...houseTables('cash'), ...tables, ...grantSafeView('cash', 'cash_grant_safe')]) this.addSql(statement);
  }
}
