import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';
import { PERSONAL, SECRET } from '../../runtime/data/safe-views.js';

/** Topics and templates, requests and messages, the inbox, choices, addresses that want nothing, devices, and what providers said. */
const TABLES = `
create table comms.captured_message (
  id uuid not null,
  message_id uuid not null,
  user_id uuid null,
  channel text not null,
  sealed bytea not null,
  created_at timestamptz(3) not null,
  primary key (id)
);
create index captured_message_user_id on comms.captured_message (user_id);
create index captured_message_created_at on comms.captured_message (created_at, id);
alter table comms.captured_message add constraint captured_message_channel_check check (channel in ('email', 'sms', 'push', 'in_app'));
create table comms.message (
  id uuid not null,
  request_id uuid null,
  user_id uuid null,
  recipient_type text not null,
  recipient_key text not null,
  brand_id uuid null,
  channel text not null,
  topic text not null,
  template text not null,
  template_version int null,
  locale text null,
  category text not null,
  status text not null default 'pending',
  status_reason text null,
  recipient_masked text null,
  address_hash text null,
  entity_type text null,
  entity_id text null,
  lane int not null,
  is_auth boolean not null default false,
  scheduled_for timestamptz(3) null,
  next_at timestamptz(3) not null,
  lease_until timestamptz(3) null,
  attempt_count int not null default 0,
  retaken boolean not null default false,
  expires_at timestamptz(3) null,
  sent_at timestamptz(3) null,
  delivered_at timestamptz(3) null,
  provider_ref text null,
  digest_id uuid null,
  content_sealed bytea null,
  checks jsonb not null,
  created_at timestamptz(3) not null,
  version int not null default 1,
  primary key (id)
);
create index message_content on comms.message (created_at) where content_sealed is not null;
create index message_address_hash on comms.message (address_hash, created_at) where address_hash is not null;
create index message_provider_ref on comms.message (provider_ref) where provider_ref is not null;
create index message_created_at_id on comms.message (created_at, id);
create index message_entity on comms.message (entity_type, entity_id) where entity_id is not null;
create index message_user_id_created_at on comms.message (user_id, created_at, id);
create index message_sending on comms.message (lane) where status = 'sending';
create index message_due on comms.message (lane, next_at, id) where status in ('pending', 'scheduled', 'queued');
alter table comms.message add constraint message_once unique (request_id, channel, recipient_key);
alter table comms.message add constraint message_channel_check check (channel in ('email', 'sms', 'push', 'in_app'));
alter table comms.message add constraint message_category_check check (category in ('transactional', 'clinical', 'marketing'));
alter table comms.message add constraint message_status_check check (status in ('pending', 'scheduled', 'queued', 'sending', 'sent', 'delivered', 'bounced', 'failed', 'complained', 'skipped', 'cancelled'));
create table comms.send_request (
  id uuid not null,
  source text not null,
  dedupe_key text not null,
  body_hash bytea not null,
  template text not null,
  user_id uuid null,
  recipient_type text not null,
  recipient_id text null,
  brand_id uuid null,
  channels text[] not null,
  category text not null,
  entity_type text null,
  entity_id text null,
  group_key text null,
  send_after timestamptz(3) null,
  expires_at timestamptz(3) null,
  params_sealed bytea null,
  digest_id uuid null,
  status text not null,
  reject_reason text null,
  cursor text null,
  next_at timestamptz(3) not null,
  lease_until timestamptz(3) null,
  created_at timestamptz(3) not null,
  primary key (id)
);
create index send_request_digest_id on comms.send_request (digest_id) where digest_id is not null;
create index send_request_user_id on comms.send_request (user_id);
create index send_request_waiting on comms.send_request (next_at) where status = 'accepted';
alter table comms.send_request add constraint send_request_once unique (source, dedupe_key);
alter table comms.send_request add constraint send_request_category_check check (category in ('transactional', 'clinical', 'marketing'));
alter table comms.send_request add constraint send_request_status_check check (status in ('accepted', 'expanded', 'rejected'));
create table comms.suppression (
  id uuid not null,
  channel text not null,
  address_hash text not null,
  reason text not null,
  scope text not null,
  source text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) null,
  primary key (id)
);
create index suppression_created_at_id on comms.suppression (created_at, id);
alter table comms.suppression add constraint suppression_once unique (channel, address_hash, scope);
alter table comms.suppression add constraint suppression_channel_check check (channel in ('email', 'sms', 'push', 'in_app'));
alter table comms.suppression add constraint suppression_reason_check check (reason in ('hard_bounce', 'complaint', 'stop', 'unsubscribe', 'manual', 'invalid'));
create table comms.template (
  id uuid not null,
  key text not null,
  brand_id uuid null,
  topic text not null,
  variables jsonb not null,
  example jsonb not null,
  audience text not null,
  archived_at timestamptz(3) null,
  created_at timestamptz(3) not null,
  version int not null default 1,
  primary key (id)
);
create index template_created_at_id on comms.template (created_at, id);
alter table comms.template add constraint template_key_brand_id unique (key, brand_id);
alter table comms.template add constraint template_audience_check check (audience in ('user', 'staff', 'client_owner'));
create table comms.template_version (
  id uuid not null,
  template_id uuid not null,
  channel text not null,
  locale text not null,
  number int not null,
  status text not null default 'draft',
  subject text null,
  preheader text null,
  mjml text null,
  html text null,
  text text null,
  title text null,
  body text null,
  deep_link text null,
  lock_screen_body text null,
  why text null,
  created_by text not null,
  created_at timestamptz(3) not null,
  published_at timestamptz(3) null,
  primary key (id)
);
create index template_version_published on comms.template_version (template_id, channel, locale) where status = 'published';
alter table comms.template_version add constraint template_version_number unique (template_id, channel, locale, number);
alter table comms.template_version add constraint template_version_channel_check check (channel in ('email', 'sms', 'push', 'in_app'));
alter table comms.template_version add constraint template_version_status_check check (status in ('draft', 'published'));
create table comms.topic (
  key text not null,
  names jsonb not null,
  descriptions jsonb not null,
  category text not null,
  default_channels text[] not null,
  allowed_channels text[] not null,
  mandatory boolean not null,
  digestible boolean not null,
  urgent boolean not null,
  primary key (key)
);
alter table comms.topic add constraint topic_category_check check (category in ('transactional', 'clinical', 'marketing'));
create table comms.digest (
  id uuid not null,
  user_id uuid not null,
  kind text not null,
  window_start timestamptz(3) not null,
  window_end timestamptz(3) not null,
  status text not null default 'collecting',
  primary key (id)
);
create index digest_user_id_kind on comms.digest (user_id, kind, window_end);
alter table comms.digest add constraint digest_status_check check (status in ('collecting', 'sent', 'empty', 'cancelled'));
create table comms.digest_item (
  id uuid not null,
  digest_id uuid not null,
  event_id uuid not null,
  ref_sealed bytea not null,
  primary key (id)
);
alter table comms.digest_item add constraint digest_item_once unique (digest_id, event_id);
create table comms.inbound_receipt (
  id text not null,
  at timestamptz(3) not null,
  primary key (id)
);
create table comms.mail_token (
  token_hash bytea not null,
  user_id uuid null,
  address_hash text not null,
  masked text not null,
  topic text not null,
  expires_at timestamptz(3) not null,
  primary key (token_hash)
);
create index mail_token_expires_at on comms.mail_token (expires_at);
create table comms.message_attempt (
  id uuid not null,
  message_id uuid not null,
  number int not null,
  at timestamptz(3) not null,
  outcome text null,
  provider_code text null,
  primary key (id)
);
alter table comms.message_attempt add constraint message_attempt_number unique (message_id, number);
create table comms.preference (
  user_id uuid not null,
  choices jsonb not null,
  updated_at timestamptz(3) not null,
  version int not null default 1,
  primary key (user_id)
);
create table comms.provider_state (
  key text not null,
  at timestamptz(3) not null,
  detail text null,
  primary key (key)
);
create table comms.push_subscription (
  id uuid not null,
  user_id uuid not null,
  platform text not null,
  endpoint_hash text not null,
  target_sealed bytea not null,
  label text null,
  created_at timestamptz(3) not null,
  last_success_at timestamptz(3) null,
  failing_since timestamptz(3) null,
  failures int not null default 0,
  status text not null default 'active',
  primary key (id)
);
create index push_subscription_user_id on comms.push_subscription (user_id);
alter table comms.push_subscription add constraint push_subscription_endpoint unique (endpoint_hash);
alter table comms.push_subscription add constraint push_subscription_platform_check check (platform in ('web', 'ios', 'android'));
alter table comms.push_subscription add constraint push_subscription_status_check check (status in ('active', 'gone'));
create table comms.quiet_hours (
  user_id uuid not null,
  enabled boolean not null,
  from_time text not null,
  to_time text not null,
  primary key (user_id)
);
create table comms.zone_hint (
  user_id uuid not null,
  time_zone text not null,
  at timestamptz(3) not null,
  primary key (user_id)
)`;

const MARKS: Readonly<Record<string, string>> = {
  'inbox_item.user_id': PERSONAL,
  'inbox_item.text_sealed': SECRET,
  'captured_message.user_id': PERSONAL,
  'captured_message.sealed': SECRET,
  'message.user_id': PERSONAL,
  'message.recipient_masked': PERSONAL,
  'message.address_hash': PERSONAL,
  'message.content_sealed': SECRET,
  'send_request.user_id': PERSONAL,
  'send_request.params_sealed': SECRET,
  'suppression.address_hash': PERSONAL,
  'digest.user_id': PERSONAL,
  'digest_item.ref_sealed': SECRET,
  'mail_token.user_id': PERSONAL,
  'mail_token.address_hash': PERSONAL,
  'mail_token.masked': PERSONAL,
  'push_subscription.user_id': PERSONAL,
  'push_subscription.endpoint_hash': SECRET,
  'push_subscription.target_sealed': SECRET,
  'push_subscription.label': PERSONAL,
  'zone_hint.time_zone': PERSONAL,
};

/** Compared by nobody, because its name begins as that of the house table. */
const INBOX = `
create table comms.inbox_item (
  id uuid primary key,
  user_id uuid not null,
  message_id uuid not null,
  kind text not null,
  topic text not null,
  is_clinical boolean not null,
  text_sealed bytea not null,
  link text,
  entity_type text,
  entity_id text,
  group_key text,
  count int not null default 1,
  status text not null constraint inbox_item_status_check check (status in ('unseen', 'seen', 'read', 'archived')),
  priority text not null constraint inbox_item_priority_check check (priority in ('normal', 'high')),
  created_at timestamptz(3) not null,
  seen_at timestamptz(3),
  read_at timestamptz(3),
  archived_at timestamptz(3),
  expires_at timestamptz(3)
);
create index inbox_item_user_id_created_at on comms.inbox_item (user_id, created_at, id);
create index inbox_item_message_id on comms.inbox_item (message_id);
create index inbox_item_group on comms.inbox_item (user_id, group_key, created_at) where group_key is not null;
create index inbox_item_entity on comms.inbox_item (entity_type, entity_id) where entity_id is not null;
create index inbox_item_expires_at on comms.inbox_item (expires_at)`;

/** Left out: whose a message is, its address, words and what the checks saw. Source: comms 2. */
const SAFE_VIEWS = `
create view comms.message_safe as
  select id, request_id, brand_id, channel, topic, template, template_version, locale, category, status, status_reason, lane, is_auth, scheduled_for, next_at, attempt_count,
    expires_at, sent_at, delivered_at, created_at, version from comms.message;
create view comms.inbox_item_safe as
  select id, kind, topic, is_clinical, count, status, priority, created_at, seen_at, read_at, archived_at, expires_at from comms.inbox_item;
create view comms.captured_message_safe as select id, message_id, channel, created_at from comms.captured_message;
create view comms.digest_item_safe as select id, digest_id, event_id from comms.digest_item;
create view comms.digest_safe as select id, kind, window_start, window_end, status from comms.digest;
create view comms.mail_token_safe as select token_hash, topic, expires_at from comms.mail_token;
create view comms.push_subscription_safe as select id, platform, created_at, last_success_at, failing_since, failures, status from comms.push_subscription;
create view comms.send_request_safe as select id, source, dedupe_key, body_hash, template, recipient_type, recipient_id, brand_id, channels, category, entity_type, entity_id, group_key, send_after, expires_at, digest_id, status, reject_reason, cursor, next_at, lease_until, created_at from comms.send_request;
create view comms.suppression_safe as select id, channel, reason, scope, source, created_at, expires_at from comms.suppression;
create view comms.zone_hint_safe as select at from comms.zone_hint`;

const SAFE = [
  'message_safe',
  'inbox_item_safe',
  'captured_message_safe',
  'digest_item_safe',
  'digest_safe',
  'mail_token_safe',
  'push_subscription_safe',
  'send_request_safe',
  'suppression_safe',
  'zone_hint_safe',
];

export class MessagesTemplatesInbox extends Migration {
  override up(): void {
    for (const statement of [...houseTables('comms'), TABLES, INBOX, SAFE_VIEWS]) this.addSql(statement);
    for (const [column, mark] of Object.entries(MARKS)) this.addSql(`comment on column comms.${column} is '${mark}'`);
    for (const view of SAFE) for (const statement of grantSafeView('comms', view)) this.addSql(statement);
  }
}
