import { Migration } from '@mikro-orm/migrations';

/** Finds what the books hold of a payment. */
export class PaymentIndex extends Migration {
  override up(): void {
    this.addSql(`create index ledger_transaction_payment_id on accounting.ledger_transaction ((metadata->>'payment_id'))
      where metadata->>'payment_id' is not null`);
  }
}
