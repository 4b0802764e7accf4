import { Migration } from '@mikro-orm/migrations';

/**
 * Prices of a market by variant. The planner took the index of the exclusion instead, of which one look reads 160 pages with 20,000 prices: products
 * by price took 28 s.
 */
export class PriceMarket extends Migration {
  override up(): void {
    this.addSql(
      'create index variant_price_market on commerce.variant_price (variant_id, currency, country) include (amount, starts_at, ends_at)',
    );
    this.addSql('drop index commerce.variant_price_variant_id');
  }
}
