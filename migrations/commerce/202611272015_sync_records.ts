import { Migration } from '@mikro-orm/migrations';

/** What a run has seen counts once, also where the storefront shows it on two pages or the run goes on after a crash. */
export class SyncRecords extends Migration {
  override up(): void {
    this.addSql(`create table commerce.commerce_sync_record (
      job_id uuid not null constraint commerce_sync_record_job_id_foreign references commerce.commerce_sync_job (id) deferrable initially deferred,
      key text not null,
      primary key (job_id, key)
    )`);
    this.addSql('alter table commerce.commerce_sync_job add column attempts int not null default 0');
  }
}
