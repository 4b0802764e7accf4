import { Migration } from '@mikro-orm/migrations';

/** When the processor is told to forget a customer who was erased. */
const FORGET = `
alter table payments.billing_customer add column forget_at timestamptz(3);
create index billing_customer_forget_at on payments.billing_customer (forget_at) where forget_at is not null`;

export class Erasure extends Migration {
  override up(): void {
    this.addSql(FORGET);
  }
}
