import { Migration } from '@mikro-orm/migrations';

const REVERSED = 'coalesce((select sum(r.amount) from affiliates.commission_reversal r where r.commission_id = c.id), 0)';
const MARKED = (kind: string): string =>
  `exists (select 1 from affiliates.commission_mark m where m.commission_id = c.id and m.kind = '${kind}')`;
/** Of a commission `c`: earned, neither posted nor held, with something left. */
const WAITS = `not ${MARKED('posted')} and (c.held_reason is null or ${MARKED('released')}) and c.amount > ${REVERSED}`;

/**
 * Commissions that wait for their instant stand in a table of their own: where one stands follows from rows beside it, which no index sees, so each
 * look for what is due next read all that was ever earned. Triggers keep it, as processes of the old code go on earning during an upgrade.
 */
export class WaitingCommissions extends Migration {
  override up(): void {
    this.addSql(`create table affiliates.commission_waiting (
      commission_id uuid primary key constraint commission_waiting_commission_id_foreign references affiliates.commission (id),
      payable_at timestamptz(3) not null
    )`);
    this.addSql('create index commission_waiting_payable_at on affiliates.commission_waiting (payable_at)');
    this.addSql(`create function affiliates.follow_commission() returns trigger language plpgsql set search_path = pg_catalog as $follow$
declare
  about constant uuid := to_jsonb(new) ->> tg_argv[0];
begin
  delete from affiliates.commission_waiting where commission_id = about;
  insert into affiliates.commission_waiting (commission_id, payable_at)
    select c.id, c.payable_at from affiliates.commission c where c.id = about and ${WAITS};
  return null;
end $follow$`);
    for (const [table, column] of [
      ['commission', 'id'],
      ['commission_mark', 'commission_id'],
      ['commission_reversal', 'commission_id'],
    ])
      this.addSql(`create trigger ${table}_followed after insert on affiliates.${table}
        for each row execute function affiliates.follow_commission('${column}')`);
    this.addSql(`insert into affiliates.commission_waiting (commission_id, payable_at)
      select c.id, c.payable_at from affiliates.commission c where ${WAITS}`);
    this.addSql(
      'create index affiliate_unchecked on affiliates.affiliate (changed_at) where checked_at is null or checked_at < changed_at',
    );
  }
}
