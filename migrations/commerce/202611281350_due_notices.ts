import { Migration } from '@mikro-orm/migrations';

/** Of many who wait for a variant that is there again, one transaction tells some, and the timer the others. */
export class DueNotices extends Migration {
  override up(): void {
    this.addSql('alter table commerce.stock_notice add column due_at timestamptz(3)');
    this.addSql('create index stock_notice_due on commerce.stock_notice (due_at, id) where due_at is not null');
  }
}
