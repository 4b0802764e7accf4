import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { houseTables } from '../../runtime/data/house-tables.js';

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

export class Catalogue extends Migration {
  override up(): void {
    for (const statement of [...houseTables('commerce'), FOLD, PRODUCT, VARIANT, STOCK, TAKEABLE]) this.addSql(statement);
  }
}
