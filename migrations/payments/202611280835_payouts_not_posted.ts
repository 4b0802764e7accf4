import { Migration } from '@mikro-orm/migrations';

/** Payouts whose end was told before their reservation was written down were taken for settled: the books are asked for them. */
export class PayoutsNotPosted extends Migration {
  override up(): void {
    this.addSql(`update payments.payout set ledger_settled = false, next_look_at = now(), looks = 0
      where kind = 'disbursement' and status = 'paid' and ledger_settled and not ledger_posted and ledger_transaction_id is null`);
  }
}
