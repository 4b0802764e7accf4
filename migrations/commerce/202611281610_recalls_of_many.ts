import { Migration } from '@mikro-orm/migrations';

/** A recall of many orders is settled, and its buyers are warned, in pieces: what is left of it. */
export class RecallsOfMany extends Migration {
  override up(): void {
    this.addSql('alter table commerce.inventory_lot add column settle_at timestamptz(3)');
    this.addSql('create index inventory_lot_settle on commerce.inventory_lot (settle_at, id) where settle_at is not null');
    this.addSql(`create table commerce.recall_warning (
      recall_id uuid not null,
      order_id uuid not null constraint recall_warning_order_id_foreign references commerce.shop_order (id) on delete cascade deferrable initially deferred,
      told_at timestamptz(3),
      primary key (recall_id, order_id))`);
    this.addSql('create index recall_warning_order on commerce.recall_warning (order_id)');
    this.addSql('create index recall_warning_waiting on commerce.recall_warning (recall_id) where told_at is null');
  }
}
