import { Migration } from '@mikro-orm/migrations';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** When that of a user which a CRM may know has changed last; accounts that are there begin with their last change. */
const CRM_CHANGES = [
  `create table identity.crm_change (
    user_id uuid primary key references identity."user" (id), changed_at timestamptz(3) not null, created_at timestamptz(3), profile_at timestamptz(3),
    contact_at timestamptz(3), consent_at timestamptz(3), status_at timestamptz(3), erased_at timestamptz(3))`,
  `create index crm_change_changed_at on identity.crm_change (changed_at, user_id)`,
  `insert into identity.crm_change (user_id, changed_at, created_at, erased_at)
    select id, updated_at, created_at, erased_at from identity."user" where status <> 'pending'`,
  `create view identity.crm_change_safe as select * from identity.crm_change`,
  ...grantSafeView('identity', 'crm_change_safe'),
];

export class CrmChanges extends Migration {
  override up(): void {
    for (const statement of CRM_CHANGES) this.addSql(statement);
  }
}
