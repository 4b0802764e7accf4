import { Migration } from '@mikro-orm/migrations';

/** Prices of a brand in their order: a page by price walks along them where it read all prices of the market. */
export class PriceOrder extends Migration {
  override up(): void {
    this.addSql('create index variant_price_amount on commerce.variant_price (brand_id, currency, amount)');
  }
}
