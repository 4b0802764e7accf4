import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

/** Codes are written in many ways: `BPC-157`, `bpc157` and `bpc 157` fold to one spelling. */
const FOLD = `
create function commerce.fold(text) returns text language sql immutable parallel safe strict set search_path = pg_catalog as
  $fold$ select regexp_replace(lower(normalize($1, NFKD)), '[^a-z0-9]+', '', 'g') $fold$`;

const PRODUCT = `
create table commerce.product (
  id uuid primary key,
  brand_id uuid not null,
  slug text not null constraint product_slug_check check (slug ~ '^[a-z0-9-]{1,80}$'),
  status text not null constraint product_status_check check (status in ('draft', 'active', 'archived')),
  title text not null constraint product_title_check check (length(title) between 1 and 160),
  subtitle text,
  description_html text,
  kind text not null constraint product_kind_check check (kind in ('physical', 'digital', 'service', 'bundle')),
  purchase_requirement text not null constraint product_requirement_check check (purchase_requirement in ('none', 'membership', 'prescription')),
  entitlement_key text,
  medication_code text,
  tax_category text not null default 'standard',
  categories text[] not null default '{}',
  tags text[] not null default '{}',
  options jsonb not null default '[]',
  images jsonb not null default '[]',
  offers jsonb not null default '[]',
  seo jsonb not null default '{}',
  search_text text not null default '',
  published_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version int not null default 1
);
create unique index product_slug on commerce.product (brand_id, slug);
create index product_newest on commerce.product (brand_id, status, created_at desc, id desc);
create index product_title_sort on commerce.product (brand_id, status, title collate "und-x-icu", id);
create index product_tags on commerce.product using gin (tags);
create index product_categories on commerce.product using gin (categories);
create index product_search on commerce.product using gin (search_text extensions.gin_trgm_ops);
create index product_folded on commerce.product using gin (commerce.fold(search_text) extensions.gin_trgm_ops);
comment on column commerce.product.medication_code is 'class: health'`;

const VARIANT = `
create table commerce.product_variant (
  id uuid primary key,
  product_id uuid not null constraint product_variant_product_id_foreign references commerce.product (id) deferrable initially deferred,
  sku text not null constraint product_variant_sku_check check (sku ~ '^[A-Za-z0-9._-]{1,64}$'),
  barcode text,
  title text not null,
  position int not null,
  option_values jsonb not null default '[]',
  track_inventory boolean not null default true,
  backorder text not null default 'deny' constraint product_variant_backorder_check check (backorder in ('deny', 'allow')),
  backorder_limit int not null default 0,
  max_per_order int not null default 99 constraint product_variant_max_check check (max_per_order between 1 and 999),
  weight_grams int,
  requires_shipping boolean not null default true,
  hs_code text,
  origin_country text,
  lot_tracked boolean not null default false,
  is_bundle boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index product_variant_sku on commerce.product_variant (sku);
create index product_variant_product_id on commerce.product_variant (product_id, position);

create table commerce.variant_component (
  variant_id uuid not null constraint variant_component_variant_id_foreign references commerce.product_variant (id) deferrable initially deferred,
  component_id uuid not null constraint variant_component_component_id_foreign references commerce.product_variant (id) deferrable initially deferred,
  quantity int not null constraint variant_component_quantity_check check (quantity between 1 and 999),
  primary key (variant_id, component_id)
);
create index variant_component_component_id on commerce.variant_component (component_id);

create table commerce.variant_price (
  id uuid primary key,
  variant_id uuid not null constraint variant_price_variant_id_foreign references commerce.product_variant (id) deferrable initially deferred,
  brand_id uuid not null,
  currency char(3) not null,
  country text not null default '',
  amount bigint not null constraint variant_price_amount_check check (amount >= 0),
  compare_at bigint,
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  tax_inclusive boolean not null default false,
  constraint variant_price_compare_at_check check (compare_at > amount),
  constraint variant_price_period_check check (ends_at > starts_at),
  constraint variant_price_no_overlap exclude using gist (variant_id with =, brand_id with =, currency with =, country with =, tstzrange(starts_at, ends_at) with &&)
);
create index variant_price_variant_id on commerce.variant_price (variant_id)`;

const STOCK = `
create table commerce.inventory_location (
  id uuid primary key,
  code text not null,
  name text not null,
  address jsonb not null default '{}',
  countries text[] not null default '{}',
  priority int not null default 0,
  active boolean not null default true
);
create unique index inventory_location_code on commerce.inventory_location (code);

create table commerce.inventory_level (
  id uuid primary key,
  variant_id uuid not null constraint inventory_level_variant_id_foreign references commerce.product_variant (id) deferrable initially deferred,
  location_id uuid not null constraint inventory_level_location_id_foreign references commerce.inventory_location (id) deferrable initially deferred,
  on_hand int not null default 0,
  allocated int not null default 0 constraint inventory_level_allocated_check check (allocated >= 0),
  safety_stock int not null default 0 constraint inventory_level_safety_stock_check check (safety_stock >= 0),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index inventory_level_place on commerce.inventory_level (variant_id, location_id);

create table commerce.inventory_lot (
  id uuid primary key,
  variant_id uuid not null constraint inventory_lot_variant_id_foreign references commerce.product_variant (id) deferrable initially deferred,
  location_id uuid not null constraint inventory_lot_location_id_foreign references commerce.inventory_location (id) deferrable initially deferred,
  lot_number text not null,
  expires_on date,
  on_hand int not null constraint inventory_lot_on_hand_check check (on_hand >= 0),
  allocated int not null default 0 constraint inventory_lot_allocated_check check (allocated between 0 and on_hand),
  status text not null constraint inventory_lot_status_check check (status in ('available', 'quarantined', 'recalled', 'depleted')),
  recall_id uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version int not null default 1
);
create unique index inventory_lot_number on commerce.inventory_lot (variant_id, location_id, lot_number);
create index inventory_lot_expires_on on commerce.inventory_lot (expires_on) where status = 'available';

create table commerce.stock_reservation (
  id uuid primary key,
  kind text not null constraint stock_reservation_kind_check check (kind in ('cart', 'checkout', 'subscription')),
  cart_id uuid,
  cart_item_id uuid,
  order_id uuid,
  scheduled_order_id uuid,
  variant_id uuid not null constraint stock_reservation_variant_id_foreign references commerce.product_variant (id) deferrable initially deferred,
  location_id uuid,
  quantity int not null constraint stock_reservation_quantity_check check (quantity > 0),
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null
);
create index stock_reservation_variant_id on commerce.stock_reservation (variant_id, expires_at);
create index stock_reservation_cart_item_id on commerce.stock_reservation (cart_item_id);
create index stock_reservation_cart_id on commerce.stock_reservation (cart_id);
create index stock_reservation_order_id on commerce.stock_reservation (order_id);
create index stock_reservation_expires_at on commerce.stock_reservation (expires_at);

create table commerce.stock_movement (
  id uuid primary key,
  variant_id uuid not null,
  location_id uuid not null,
  lot_number text,
  kind text not null constraint stock_movement_kind_check
    check (kind in ('receipt', 'adjustment', 'allocation', 'release', 'shipment', 'return', 'recall')),
  quantity int not null,
  reference text,
  actor text not null,
  created_at timestamptz(3) not null
);
create index stock_movement_created_at on commerce.stock_movement (created_at, id);
create index stock_movement_variant_id on commerce.stock_movement (variant_id, created_at, id);
revoke update, delete, truncate on commerce.stock_movement from ${roleOf('commerce')};

create table commerce.stock_notice (
  id uuid primary key,
  user_id uuid not null,
  variant_id uuid not null,
  created_at timestamptz(3) not null,
  notified_at timestamptz(3),
  closed_at timestamptz(3)
);
create unique index stock_notice_open on commerce.stock_notice (user_id, variant_id) where closed_at is null;
create index stock_notice_variant_id on commerce.stock_notice (variant_id) where closed_at is null;
comment on column commerce.stock_notice.user_id is 'class: personal'`;

/** Units of a plain variant that can be taken; a filter of lists: whoever reserves counts by `queries/stock.ts`. */
const TAKEABLE = `
create function commerce.takeable(variant uuid, today date, at timestamptz) returns bigint language sql stable set search_path = pg_catalog as $takeable$
  select case when not v.track_inventory then 1000000 else greatest(0,
    case when v.lot_tracked then coalesce((select sum(lot.on_hand - lot.allocated) from commerce.inventory_lot lot
      join commerce.inventory_location p on p.id = lot.location_id and p.active where lot.variant_id = v.id and lot.status = 'available'
      and (lot.expires_on is null or lot.expires_on > today + 14)), 0)
    else coalesce((select sum(l.on_hand - l.allocated) from commerce.inventory_level l
      join commerce.inventory_location p on p.id = l.location_id and p.active where l.variant_id = v.id), 0) end
    - coalesce((select sum(l.safety_stock) from commerce.inventory_level l join commerce.inventory_location p on p.id = l.location_id and p.active
      where l.variant_id = v.id), 0)
    - coalesce((select sum(r.quantity) from commerce.stock_reservation r where r.variant_id = v.id and r.expires_at > at), 0)
    + case when v.backorder = 'allow' then v.backorder_limit else 0 end) end
  from commerce.product_variant v where v.id = variant
$takeable$`;

const CART = `
create table commerce.cart (
  id uuid primary key,
  user_id uuid,
  brand_id uuid not null,
  currency char(3) not null,
  country text not null,
  locale text not null,
  status text not null constraint cart_status_check check (status in ('active', 'checking_out', 'completed', 'merged', 'abandoned', 'expired')),
  promo_code text,
  affiliate_code text,
  personal bytea,
  shipping_method_code text,
  guest_token_hash bytea,
  order_id uuid,
  notes jsonb not null default '[]',
  merge_counts jsonb,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  version int not null default 1
);
create unique index cart_active on commerce.cart (user_id, brand_id, currency) where status = 'active' and user_id is not null;
create index cart_user_id on commerce.cart (user_id, created_at);
create index cart_expires_at on commerce.cart (expires_at) where status = 'active';
comment on column commerce.cart.user_id is 'class: personal';
comment on column commerce.cart.personal is 'class: personal';
comment on column commerce.cart.guest_token_hash is 'class: secret';

create table commerce.cart_item (
  id uuid primary key,
  cart_id uuid not null constraint cart_item_cart_id_foreign references commerce.cart (id) deferrable initially deferred,
  variant_id uuid not null constraint cart_item_variant_id_foreign references commerce.product_variant (id) deferrable initially deferred,
  quantity int not null constraint cart_item_quantity_check check (quantity between 1 and 999),
  cadence text not null default '',
  unit_price_when_added bigint not null,
  reserved_since timestamptz(3),
  lost_cover boolean not null default false,
  created_at timestamptz(3) not null
);
create unique index cart_item_line on commerce.cart_item (cart_id, variant_id, cadence)`;

const ORDER = `
create table commerce.order_counter (
  brand_id uuid primary key,
  last int not null
);

create table commerce.shop_order (
  id uuid primary key,
  number text not null,
  user_id uuid,
  brand_id uuid not null,
  cart_id uuid,
  subscription_id uuid,
  scheduled_order_id uuid,
  source text not null constraint shop_order_source_check check (source in ('web', 'subscription', 'channel', 'staff')),
  channel text,
  external_id text,
  status text not null constraint shop_order_status_check
    check (status in ('pending_payment', 'placed', 'completed', 'payment_failed', 'expired', 'cancelled')),
  payment_status text not null constraint shop_order_payment_status_check
    check (payment_status in ('pending', 'paid', 'partially_refunded', 'refunded', 'failed', 'external')),
  fulfillment_status text not null default 'unfulfilled' constraint shop_order_fulfillment_status_check
    check (fulfillment_status in ('unfulfilled', 'partially_fulfilled', 'fulfilled', 'delivered', 'returned')),
  currency char(3) not null,
  subtotal bigint not null,
  discount bigint not null,
  shipping bigint not null,
  tax bigint not null,
  total bigint not null,
  tax_included boolean not null default false,
  refunded bigint not null default 0,
  settled bigint not null default 0,
  adjustments jsonb not null default '[]',
  tax_lines jsonb not null default '[]',
  personal bytea,
  country text,
  affiliate_code text,
  promo_code text,
  promo_id uuid,
  promo_held boolean not null default false,
  shipping_method_code text,
  checkout_session_id uuid,
  payment jsonb not null default '{}',
  fingerprint bytea,
  is_oversold boolean not null default false,
  is_erased boolean not null default false,
  expires_at timestamptz(3),
  placed_at timestamptz(3),
  cancelled_at timestamptz(3),
  cancel_reason text constraint shop_order_cancel_reason_check
    check (cancel_reason in ('customer', 'fraud', 'inventory', 'payment_expired', 'late_payment', 'recall', 'other')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version int not null default 1,
  constraint shop_order_total_check check (total = subtotal - discount + shipping + case when tax_included then 0 else tax end)
);
create unique index shop_order_number on commerce.shop_order (number);
create unique index shop_order_external on commerce.shop_order (channel, external_id);
create unique index shop_order_open_cart on commerce.shop_order (cart_id) where status = 'pending_payment';
create index shop_order_user_id on commerce.shop_order (user_id, created_at, id);
create index shop_order_created_at on commerce.shop_order (created_at, id);
create index shop_order_placed_at on commerce.shop_order (placed_at);
create index shop_order_expires_at on commerce.shop_order (expires_at) where status = 'pending_payment';
comment on column commerce.shop_order.user_id is 'class: personal';
comment on column commerce.shop_order.personal is 'class: personal';

create table commerce.order_item (
  id uuid primary key,
  order_id uuid not null constraint order_item_order_id_foreign references commerce.shop_order (id) on delete cascade deferrable initially deferred,
  position int not null,
  product_id uuid not null,
  variant_id uuid not null,
  sku text not null,
  title text not null,
  option_text text,
  requirement text not null,
  requires_shipping boolean not null,
  quantity int not null constraint order_item_quantity_check check (quantity > 0),
  unit_price bigint not null,
  subtotal bigint not null,
  discount bigint not null,
  tax bigint not null,
  total bigint not null,
  cadence text not null default '',
  demand jsonb not null,
  fulfilled int not null default 0,
  cancelled int not null default 0,
  returned int not null default 0,
  refunded int not null default 0,
  constraint order_item_counts_check check (least(fulfilled, cancelled, returned) >= 0 and fulfilled + cancelled <= quantity and returned <= fulfilled)
);
create index order_item_order_id on commerce.order_item (order_id, position);
create index order_item_sku on commerce.order_item (sku);
comment on column commerce.order_item.sku is 'class: health';
comment on column commerce.order_item.title is 'class: health';

create table commerce.order_item_lot (
  id uuid primary key,
  order_item_id uuid not null constraint order_item_lot_order_item_id_foreign references commerce.order_item (id) on delete cascade deferrable initially deferred,
  variant_id uuid not null,
  location_id uuid not null,
  lot_id uuid,
  lot_number text,
  expires_on date,
  quantity int not null constraint order_item_lot_quantity_check check (quantity > 0),
  shipped int not null default 0,
  returned int not null default 0,
  constraint order_item_lot_counts_check check (shipped between 0 and quantity and returned between 0 and shipped)
);
create index order_item_lot_order_item_id on commerce.order_item_lot (order_item_id);
create index order_item_lot_lot_id on commerce.order_item_lot (lot_id);

create table commerce.order_fulfillment (
  id uuid primary key,
  order_id uuid not null constraint order_fulfillment_order_id_foreign references commerce.shop_order (id) on delete cascade deferrable initially deferred,
  status text not null constraint order_fulfillment_status_check check (status in ('pending', 'shipped', 'delivered', 'failed', 'cancelled')),
  provider text not null constraint order_fulfillment_provider_check check (provider in ('own', 'partner')),
  carrier text,
  tracking_number text,
  tracking_url text,
  items jsonb not null default '[]',
  external_ref text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index order_fulfillment_order_id on commerce.order_fulfillment (order_id);
create unique index order_fulfillment_external_ref on commerce.order_fulfillment (external_ref);

create table commerce.payment_task (
  id uuid primary key,
  order_id uuid not null,
  kind text not null constraint payment_task_kind_check check (kind in ('refund', 'cancel', 'commit', 'release', 'submit')),
  key text not null,
  amount bigint,
  currency char(3),
  reason text,
  attempts int not null default 0,
  due_at timestamptz(3),
  done_at timestamptz(3),
  created_at timestamptz(3) not null
);
create unique index payment_task_key on commerce.payment_task (key);
create index payment_task_due_at on commerce.payment_task (due_at) where done_at is null;
create index payment_task_order_id on commerce.payment_task (order_id)`;

const SUBSCRIPTION = `
create table commerce.product_subscription (
  id uuid primary key,
  user_id uuid not null,
  brand_id uuid not null,
  currency char(3) not null,
  country text not null,
  status text not null constraint product_subscription_status_check check (status in ('active', 'paused', 'past_due', 'cancelled')),
  cadence_unit text not null constraint product_subscription_cadence_unit_check check (cadence_unit in ('week', 'month')),
  cadence_count int not null constraint product_subscription_cadence_count_check check (cadence_count between 1 and 26),
  anchor_day int,
  time_zone text not null,
  next_order_on date,
  cycle_index int not null default 0,
  payment_method_id uuid not null,
  personal bytea,
  shipping_method_code text,
  out_of_stock text not null default 'wait' constraint product_subscription_out_of_stock_check check (out_of_stock in ('wait', 'skip')),
  paused_until date,
  cancel_after_cycle int,
  cancel_reason text,
  cancel_comment bytea,
  past_due_since timestamptz(3),
  refill_suggested boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version int not null default 1
);
create index product_subscription_user_id on commerce.product_subscription (user_id, created_at, id);
create index product_subscription_paused_until on commerce.product_subscription (paused_until) where status = 'paused';
comment on column commerce.product_subscription.user_id is 'class: personal';
comment on column commerce.product_subscription.personal is 'class: personal';
comment on column commerce.product_subscription.cancel_reason is 'class: health';
comment on column commerce.product_subscription.cancel_comment is 'class: free_text';

create table commerce.product_subscription_item (
  id uuid primary key,
  subscription_id uuid not null constraint product_subscription_item_subscription_id_foreign references commerce.product_subscription (id) deferrable initially deferred,
  position int not null,
  variant_id uuid not null,
  quantity int not null constraint product_subscription_item_quantity_check check (quantity between 1 and 99),
  unit_price bigint not null,
  discount_bps int not null default 0,
  pending_amount bigint,
  pending_from date
);
create index product_subscription_item_subscription_id on commerce.product_subscription_item (subscription_id, position);

create table commerce.scheduled_order (
  id uuid primary key,
  subscription_id uuid not null constraint scheduled_order_subscription_id_foreign references commerce.product_subscription (id) deferrable initially deferred,
  cycle_index int not null,
  order_on date not null,
  due_at timestamptz(3) not null,
  status text not null constraint scheduled_order_status_check
    check (status in ('scheduled', 'skipped', 'processing', 'placed', 'failed', 'cancelled')),
  items jsonb,
  order_id uuid,
  attempts int not null default 0,
  next_attempt_at timestamptz(3),
  failure_code text,
  created_at timestamptz(3) not null
);
create unique index scheduled_order_cycle on commerce.scheduled_order (subscription_id, cycle_index);
create index scheduled_order_next_attempt_at on commerce.scheduled_order (next_attempt_at) where status in ('scheduled', 'processing');
create index scheduled_order_order_id on commerce.scheduled_order (order_id)`;

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

const view = (table: string, columns: string): string =>
  `create view commerce.${table.replace('shop_', '')}_safe as select ${columns} from commerce.${table}`;

/** Left out: whom it concerns, where they live, what tells of health, secrets and free texts. Source: commerce 2. */
const SAFE_VIEWS = [
  view(
    'cart',
    'id, brand_id, currency, country, locale, status, affiliate_code, shipping_method_code, order_id, created_at, updated_at, expires_at, version',
  ),
  view(
    'shop_order',
    `id, number, brand_id, cart_id, subscription_id, source, channel, status, payment_status, fulfillment_status, currency, subtotal, discount,
     shipping, tax, total, tax_included, refunded, country, affiliate_code, is_oversold, placed_at, cancelled_at, cancel_reason, created_at, updated_at, version`,
  ),
  view(
    'order_item',
    `id, order_id, position, case when requirement = 'prescription' then null else sku end as sku,
     case when requirement = 'prescription' then null else title end as title, quantity, unit_price, subtotal, discount, tax, total,
     fulfilled, cancelled, returned, refunded`,
  ),
  view(
    'product_subscription',
    `id, brand_id, currency, country, status, cadence_unit, cadence_count, anchor_day, time_zone, next_order_on, cycle_index, out_of_stock,
     paused_until, cancel_after_cycle, past_due_since, created_at, updated_at, version`,
  ),
];

export class Tables extends Migration {
  override up(): void {
    const tables = [
      FOLD,
      PRODUCT,
      VARIANT,
      STOCK,
      TAKEABLE,
      CART,
      ORDER,
      SUBSCRIPTION,
      RATES,
      SYNC,
      STOREFRONT_ERASURE,
      EMBEDDED,
      ...SAFE_VIEWS,
    ];
    const views = ['cart_safe', 'order_safe', 'order_item_safe', 'product_subscription_safe'];
    for (const statement of [...houseTables('commerce'), ...tables, ...views.flatMap(one => grantSafeView('commerce', one))])
      this.addSql(statement);
  }
}
