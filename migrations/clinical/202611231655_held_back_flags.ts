import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** A flag that a critical value raised is kept from the member as long as the value is. */
export class HeldBackFlags extends Migration {
  override up(): void {
    this.addSql('alter table clinical.red_flag add column hidden_until timestamptz(3)');
    this.addSql('drop view clinical.red_flag_safe');
    this
      .addSql(`create view clinical.red_flag_safe as select id, patient_id, rule_id, rule_key, severity, source, status, detected_at, hidden_until,
      acknowledged_by, acknowledged_at, resolved_at from clinical.red_flag`);
    this.addSql(`revoke insert, update, delete on clinical.red_flag_safe from ${roleOf('clinical')}`);
    for (const statement of grantSafeView('clinical', 'red_flag_safe')) this.addSql(statement);
  }
}
