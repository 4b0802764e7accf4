import { Migration } from '@mikro-orm/migrations';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** Erasure requests outlive the account: they are the proof. `reason` and `hold_reason` are free text and go with the account. */
const ERASURE = [
  `create table identity.erasure_request (
    id uuid primary key, user_id uuid not null references identity."user" (id), scope text not null, status text not null, origin text not null,
    reason text, hold_reason text, scheduled_for timestamptz(3) not null, due_by timestamptz(3) not null, created_at timestamptz(3) not null,
    started_at timestamptz(3), completed_at timestamptz(3), receipt text, receipt_token_hash bytea not null, version int not null default 1,
    constraint erasure_request_receipt_token_hash_unique unique (receipt_token_hash),
    constraint erasure_request_scope_check check (scope in ('full', 'health', 'marketing')),
    constraint erasure_request_origin_check check (origin in ('user', 'staff', 'service')),
    constraint erasure_request_status_check
      check (status in ('scheduled', 'on_hold', 'in_progress', 'partial', 'completed', 'cancelled', 'rejected')))`,
  `create unique index erasure_request_open on identity.erasure_request (user_id) where status in ('scheduled', 'on_hold', 'in_progress')`,
  `create index erasure_request_scheduled_for on identity.erasure_request (scheduled_for) where status = 'scheduled'`,
  `create index erasure_request_due_by on identity.erasure_request (due_by) where status = 'in_progress'`,
  `create table identity.erasure_task (
    id uuid primary key, request_id uuid not null references identity.erasure_request (id), service text not null, status text not null default 'pending',
    outcome text, retained_basis text, records int, attempts int not null default 1, asked_at timestamptz(3) not null, confirmed_at timestamptz(3),
    constraint erasure_task_service_unique unique (request_id, service),
    constraint erasure_task_status_check check (status in ('pending', 'confirmed', 'failed')),
    constraint erasure_task_outcome_check check (outcome in ('erased', 'anonymised', 'retained', 'nothing_held')),
    constraint erasure_task_retained_basis_check check (outcome <> 'retained' or retained_basis is not null))`,
  `create index erasure_task_asked_at on identity.erasure_task (asked_at) where status <> 'confirmed'`,
  `create view identity.erasure_request_safe as select id, user_id, scope, status, origin, scheduled_for, due_by, created_at, started_at, completed_at,
    version from identity.erasure_request`,
  ...grantSafeView('identity', 'erasure_request_safe'),
];

export class ErasureRequests extends Migration {
  override up(): void {
    for (const statement of ERASURE) this.addSql(statement);
  }
}
