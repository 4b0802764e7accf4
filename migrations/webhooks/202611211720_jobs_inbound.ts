import { Migration } from '@mikro-orm/migrations';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** Bulk replay and recovery: one open job per subscription. `claimed_until` is database time, `position` where the next step begins. */
const JOBS = `
create table webhooks.webhook_job (
  id uuid primary key,
  kind text not null check (kind in ('replay_dead_letters', 'recover')),
  subscription_id uuid not null references webhooks.webhook_subscription on delete cascade,
  client_id text not null,
  status text not null check (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
  matched int not null default 0,
  created int not null default 0,
  skipped int not null default 0,
  filter jsonb not null,
  position text,
  failures int not null default 0,
  requested_by text not null,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  claimed_until timestamptz(3) not null default '-infinity',
  check ((status in ('pending', 'running')) = (finished_at is null))
);
create unique index webhook_job_open on webhooks.webhook_job (subscription_id) where status in ('pending', 'running');
create index webhook_job_created on webhooks.webhook_job (created_at, id)`;

/** What vendors sent. Of the ids in a body only digests are kept, so that an erasure finds it. */
const INBOUND = `
create table webhooks.inbound_receipt (
  id uuid primary key,
  source text not null,
  topic text not null,
  vendor_event_id text not null,
  external_id text,
  status text not null check (status in ('accepted', 'replayed')),
  received_at timestamptz(3) not null,
  body_size int not null,
  body_sealed bytea,
  subject_digests bytea[] not null,
  emitted_event_id uuid not null,
  unique (source, vendor_event_id)
);
create index inbound_receipt_received on webhooks.inbound_receipt (received_at, id);
create table webhooks.inbound_source (name text primary key, last_received_at timestamptz(3));
create table webhooks.inbound_rejection (
  source text not null,
  hour timestamptz(3) not null,
  rejected int not null,
  primary key (source, hour)
);
create view webhooks.inbound_receipt_safe as
  select id, source, topic, vendor_event_id, external_id, status, received_at, body_size, emitted_event_id from webhooks.inbound_receipt`;

export class JobsInbound extends Migration {
  override up(): void {
    this.addSql(JOBS);
    this.addSql(INBOUND);
    grantSafeView('webhooks', 'inbound_receipt_safe').forEach(statement => this.addSql(statement));
  }
}
