import { Migration } from '@mikro-orm/migrations';

/** A product of the embedded storefront may be a draft: it has a status instead of being active or not. */
export class StorefrontStatus extends Migration {
  override up(): void {
    this.addSql(`update commerce.embedded_storefront_product
      set data = data - 'isActive' || jsonb_build_object('status', case when (data->>'isActive')::boolean then 'active' else 'archived' end) where data ? 'isActive'`);
  }
}
