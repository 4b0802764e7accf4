import { Migration } from '@mikro-orm/migrations';

/** What renewal and dunning claim and wait for, changes that wait for their payment, and the visit that a fee is for. */
export class Billing extends Migration {
  override up(): void {
    this
      .addSql(`alter table payments.invoice add column give_up_at timestamptz(3), add column leased_until timestamptz(3), add column dunning jsonb,
      add column kept_credit bigint default 0 not null, add column kept_credit_due_at timestamptz(3), add column reference_type text,
      add column reference_id uuid`);
    this.addSql('create unique index invoice_reference on payments.invoice (reference_type, reference_id) where reference_id is not null');
    this.addSql('create index invoice_give_up_at on payments.invoice (give_up_at) where give_up_at is not null');
    this.addSql('create index invoice_kept_credit_due_at on payments.invoice (kept_credit_due_at) where kept_credit_due_at is not null');
    this.addSql('create index invoice_subscription_id on payments.invoice (subscription_id, period_start)');
    this.addSql('alter table payments.billing_subscription add column leased_until timestamptz(3)');
    this
      .addSql(`alter table payments.subscription_change add column from_quantity int default 1 not null, add column restarts boolean default false not null,
      add column invoice_id uuid`);
    this.addSql('alter table payments.subscription_change drop constraint subscription_change_status_check');
    this.addSql(`alter table payments.subscription_change add constraint subscription_change_status_check
      check (status in ('pending', 'awaiting_payment', 'applied', 'dropped'))`);
    this.addSql(
      `create unique index subscription_change_awaiting on payments.subscription_change (subscription_id) where status = 'awaiting_payment'`,
    );
    this.addSql('create index subscription_change_invoice_id on payments.subscription_change (invoice_id) where invoice_id is not null');
  }
}
