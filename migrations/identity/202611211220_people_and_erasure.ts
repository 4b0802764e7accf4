import { Migration } from '@mikro-orm/migrations';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** Address book: at most one default of a kind for each user. */
const ADDRESSES = [
  `create table identity.user_address (
    id uuid primary key, user_id uuid not null references identity."user" (id), label text, recipient text not null, phone text, line1 text not null,
    line2 text, city text not null, region text, postal_code text, country_code text not null, is_default_shipping boolean not null default false,
    is_default_billing boolean not null default false, validated text not null default 'unchecked', created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null, version int not null default 1,
    constraint user_address_validated_check check (validated in ('unchecked', 'valid', 'corrected', 'undeliverable')))`,
  `create index user_address_user_id on identity.user_address (user_id, created_at desc, id desc)`,
  `create unique index user_address_default_shipping on identity.user_address (user_id) where is_default_shipping`,
  `create unique index user_address_default_billing on identity.user_address (user_id) where is_default_billing`,
];

const PROFILES = [
  `alter table identity.user_profile add column handle_changed_at timestamptz(3)`,
  `create table identity.badge (
    key text primary key, name text not null, description text not null, icon_url text, tier text not null default 'none',
    constraint badge_tier_check check (tier in ('bronze', 'silver', 'gold', 'none')))`,
  `create table identity.user_badge (
    id uuid primary key, user_id uuid not null references identity."user" (id), badge_key text not null references identity.badge (key),
    awarded_at timestamptz(3) not null, source text not null, expires_at timestamptz(3),
    constraint user_badge_badge_unique unique (user_id, badge_key),
    constraint user_badge_source_check check (source in ('milestone', 'membership', 'staff', 'system')))`,
];

const SAFE_VIEWS = [
  `create view identity.user_badge_safe as select id, user_id, badge_key, awarded_at, source, expires_at from identity.user_badge`,
  ...['user_badge_safe'].flatMap(view => grantSafeView('identity', view)),
];

export class PeopleAndErasure extends Migration {
  override up(): void {
    for (const statement of [...ADDRESSES, ...PROFILES, ...SAFE_VIEWS]) this.addSql(statement);
  }
}
