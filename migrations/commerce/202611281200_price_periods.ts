import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps the constraint's index away from look-ups of prices. `btree_gist` tells uuids apart by their first 53 bits, which variants made together
 * share, so that a look-up read 161 pages beside 10,000 products; the planner took it for as cheap as `variant_price_variant_id`. As text the
 * column answers the constraint alone.
 */
export class PricePeriods extends Migration {
  override up(): void {
    this.addSql(`alter table commerce.variant_price drop constraint variant_price_no_overlap, add constraint variant_price_no_overlap
      exclude using gist ((variant_id::text) with =, brand_id with =, currency with =, country with =, tstzrange(starts_at, ends_at) with &&)`);
  }
}
