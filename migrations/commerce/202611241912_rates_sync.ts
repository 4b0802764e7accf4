import { Migration } from '@mikro-orm/migrations';
import { grantSafeView } from '../../runtime/data/house-tables.js';

const RATES = `
create table commerce.tax_rate (
  id uuid primary key,
  country text not null,
  region text not null default '',
  category text not null default '',
  name text not null,
  ppm int not null constraint tax_rate_ppm_check check (ppm between 0 and 1000000)
);
create unique index tax_rate_place on commerce.tax_rate (country, region, category);

create table commerce.shipping_zone (
  id uuid primary key,
  brand_id uuid not null,
  name text not null,
  countries text[] not null
);
create index shipping_zone_brand_id on commerce.shipping_zone (brand_id);

create table commerce.shipping_rate (
  id uuid primary key,
  zone_id uuid not null constraint shipping_rate_zone_id_foreign references commerce.shipping_zone (id) deferrable initially deferred,
  code text not null,
  name text not null,
  currency char(3) not null,
  amount bigint not null,
  min_grams int not null default 0,
  max_grams int,
  min_subtotal bigint not null default 0,
  max_subtotal bigint,
  min_days int not null,
  max_days int not null
);
create index shipping_rate_zone_id on commerce.shipping_rate (zone_id)`;

const SYNC = `
create table commerce.storefront_link (
  id uuid primary key,
  entity_type text not null,
  entity_id uuid not null,
  system text not null,
  external_id text not null,
  content_hash text not null,
  synced_at timestamptz(3) not null
);
create unique index storefront_link_external on commerce.storefront_link (system, entity_type, external_id);
create unique index storefront_link_entity on commerce.storefront_link (system, entity_type, entity_id);

create table commerce.commerce_sync_job (
  id uuid primary key,
  kind text not null,
  brand_id uuid not null,
  status text not null constraint commerce_sync_job_status_check
    check (status in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')),
  is_dry_run boolean not null default false,
  since timestamptz(3),
  most int,
  ids text[],
  "cursor" text,
  counts jsonb not null default '{}',
  due_at timestamptz(3),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  created_at timestamptz(3) not null
);
create unique index commerce_sync_job_running on commerce.commerce_sync_job (kind, brand_id) where status in ('queued', 'running');
create index commerce_sync_job_created_at on commerce.commerce_sync_job (created_at, id);
create index commerce_sync_job_due_at on commerce.commerce_sync_job (due_at) where status in ('queued', 'running');

create table commerce.commerce_sync_failure (
  id uuid primary key,
  job_id uuid not null constraint commerce_sync_failure_job_id_foreign references commerce.commerce_sync_job (id) deferrable initially deferred,
  external_id text,
  entity_id uuid,
  code text not null
);
create index commerce_sync_failure_job_id on commerce.commerce_sync_failure (job_id);

create table commerce.commerce_erasure (
  id uuid primary key,
  user_id uuid not null,
  erasure_request_id uuid,
  status text not null constraint commerce_erasure_status_check check (status in ('queued', 'running', 'completed', 'failed')),
  counts jsonb not null default '{}',
  created_at timestamptz(3) not null,
  completed_at timestamptz(3)
);
create unique index commerce_erasure_user_id on commerce.commerce_erasure (user_id);
comment on column commerce.commerce_erasure.user_id is 'class: personal'`;

/** Customers that the storefront has still to forget. */
const STOREFRONT_ERASURE = `
create table commerce.storefront_erasure (
  id uuid primary key,
  external_id text not null,
  due_at timestamptz(3),
  attempts int not null default 0,
  done_at timestamptz(3),
  created_at timestamptz(3) not null
);
create unique index storefront_erasure_external_id on commerce.storefront_erasure (external_id);
create index storefront_erasure_due_at on commerce.storefront_erasure (due_at) where done_at is null`;

/** What the embedded ports keep: a storefront, customers of it, grants of what may be bought, and the double of payments. */
const EMBEDDED = `
create table commerce.embedded_storefront_product (
  external_id text primary key,
  brand_id uuid not null,
  data jsonb not null,
  updated_at timestamptz(3) not null
);
create table commerce.embedded_storefront_customer (
  external_id text primary key,
  brand_id uuid not null,
  email_hash text,
  data jsonb not null,
  groups text[] not null default '{}',
  erased_at timestamptz(3)
);
create table commerce.embedded_storefront_order (
  external_id text primary key,
  brand_id uuid not null,
  data jsonb not null,
  updated_at timestamptz(3) not null
);
create table commerce.embedded_storefront_fault (
  point text primary key,
  times int not null
);
create table commerce.embedded_grant (
  user_id uuid not null,
  key text not null,
  primary key (user_id, key)
);
create table commerce.embedded_payment (
  order_id uuid primary key,
  session_id uuid not null,
  user_id uuid not null,
  amount bigint not null,
  currency char(3) not null,
  status text not null,
  attempts int not null default 0,
  refunded bigint not null default 0,
  refunds jsonb not null default '{}',
  keys jsonb not null default '{}'
);
create table commerce.embedded_promo (
  brand_id uuid not null,
  code text not null,
  id uuid not null,
  percent_bps int,
  amount_off bigint,
  currency char(3),
  max_redemptions int,
  primary key (brand_id, code)
);
create table commerce.embedded_promo_hold (
  order_id uuid primary key,
  brand_id uuid not null,
  code text not null,
  status text not null,
  discount bigint not null,
  allocations jsonb not null
)`;

export class RatesSync extends Migration {
  override up(): void {
    const erasures = `create view commerce.commerce_erasure_safe as select id, status, counts, created_at, completed_at from commerce.commerce_erasure`;
    for (const statement of [RATES, SYNC, STOREFRONT_ERASURE, EMBEDDED, erasures, ...grantSafeView('commerce', 'commerce_erasure_safe')])
      this.addSql(statement);
  }
}
