import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

const SUBSCRIPTIONS = `
create table webhooks.webhook_configuration (only_row boolean primary key default true check (only_row), version bigint not null);
insert into webhooks.webhook_configuration (version) values (0);
create table webhooks.webhook_subscription (
  id uuid primary key,
  client_id text not null,
  name text not null check (char_length(name) between 1 and 100),
  description text check (char_length(description) <= 500),
  url text not null check (char_length(url) <= 2048),
  url_key text not null,
  event_types text[] not null check (cardinality(event_types) >= 1),
  status text not null check (status in ('active', 'paused', 'disabled')),
  disabled_reason text check (disabled_reason in ('failing', 'gone', 'client_inactive', 'scope_removed', 'admin')),
  disabled_note text,
  status_changed_at timestamptz(3) not null,
  timeout_ms int not null check (timeout_ms between 1000 and 30000),
  max_concurrency int not null check (max_concurrency between 1 and 64),
  rate_limit_per_second int check (rate_limit_per_second between 1 and 1000),
  spread int not null check (spread between 1 and 16),
  header_names text[] not null check (cardinality(header_names) <= 10),
  headers_sealed bytea,
  standard_headers boolean not null,
  deleted_at timestamptz(3),
  configuration_version bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version int not null default 1,
  check ((status = 'disabled') = (disabled_reason is not null))
);
create unique index webhook_subscription_url on webhooks.webhook_subscription (client_id, url_key) where deleted_at is null;
create index webhook_subscription_configuration on webhooks.webhook_subscription (configuration_version);
create index webhook_subscription_created on webhooks.webhook_subscription (created_at, id);
create table webhooks.webhook_secret (
  id uuid primary key,
  subscription_id uuid not null references webhooks.webhook_subscription deferrable initially deferred,
  value_sealed bytea not null,
  hint text not null,
  status text not null check (status in ('current', 'next', 'previous')),
  created_at timestamptz(3) not null,
  activates_at timestamptz(3),
  expires_at timestamptz(3)
);
create unique index webhook_secret_place on webhooks.webhook_secret (subscription_id, status);
create table webhooks.webhook_health (
  subscription_id uuid primary key,
  failing_since timestamptz(3),
  failed_attempts int not null default 0,
  last_success_at timestamptz(3),
  last_failure_at timestamptz(3),
  circuit_state text not null default 'closed' check (circuit_state in ('closed', 'open', 'half_open')),
  circuit_since timestamptz(3),
  firsts_held_until timestamptz(3),
  gone_at timestamptz(3)
) with (fillfactor = 50)`;

/** Partitioned by the event's UUIDv7, that is by week: the unique key of a delivery holds it, and a week is dropped as a whole. */
const DELIVERIES = `
create table webhooks.webhook_event (
  id uuid primary key,
  sequence bigint not null,
  type text not null,
  user_id uuid not null,
  occurred_at timestamptz(3) not null,
  data_sealed bytea
) partition by range (id);
create table webhooks.webhook_event_default partition of webhooks.webhook_event default;
create index webhook_event_user on webhooks.webhook_event (user_id);
create table webhooks.webhook_delivery (
  id uuid not null,
  event_id uuid not null,
  subscription_id uuid not null,
  client_id text not null,
  user_id uuid not null,
  event_type text not null,
  sequence bigint not null,
  replay_no int not null,
  replay_of_id uuid,
  status text not null check (status in ('pending', 'retrying', 'delivered', 'dead_lettered', 'cancelled')),
  attempt_count int not null default 0,
  next_attempt_at timestamptz(3),
  pending_trigger text check (pending_trigger in ('retry_now')),
  first_attempt_at timestamptz(3),
  delivered_at timestamptz(3),
  finished_at timestamptz(3),
  last_status_code int,
  last_error text check (last_error in ('dns_failure', 'blocked_address', 'connect_timeout', 'connect_refused', 'tls_error', 'timeout', 'connection_reset', 'redirect', 'http_status', 'protocol_error')),
  dead_letter_reason text check (dead_letter_reason in ('retries_exhausted', 'subscription_disabled', 'backlog_overflow')),
  cancel_reason text check (cancel_reason in ('grant_revoked', 'filter_changed', 'subscription_deleted', 'user_erased', 'client_removed', 'discarded')),
  resolved_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (id, event_id),
  unique (subscription_id, event_id, replay_no),
  check ((status = 'retrying') = (next_attempt_at is not null)),
  check ((status in ('pending', 'retrying')) = (finished_at is null))
) partition by range (event_id);
create table webhooks.webhook_delivery_default partition of webhooks.webhook_delivery default;
create index webhook_delivery_open on webhooks.webhook_delivery (subscription_id, user_id, sequence, replay_no) where status in ('pending', 'retrying');
create index webhook_delivery_subscription on webhooks.webhook_delivery (subscription_id, created_at, id);
create index webhook_delivery_created on webhooks.webhook_delivery (created_at, id);
create index webhook_delivery_user on webhooks.webhook_delivery (user_id);
create index webhook_delivery_dead on webhooks.webhook_delivery (finished_at, id) where status = 'dead_lettered';
create table webhooks.webhook_lane (
  subscription_id uuid not null,
  user_id uuid not null,
  shard smallint not null check (shard between 0 and 63),
  head_id uuid not null,
  head_event_id uuid not null,
  head_sequence bigint not null,
  head_replay_no int not null,
  next_attempt_at timestamptz(3),
  open_count int not null check (open_count > 0),
  primary key (subscription_id, user_id)
) with (fillfactor = 70);
create index webhook_lane_due on webhooks.webhook_lane (next_attempt_at, shard) where next_attempt_at is not null;
create index webhook_lane_user on webhooks.webhook_lane (user_id);
create table webhooks.webhook_attempt (
  id uuid not null,
  started_at timestamptz(3) not null,
  delivery_id uuid not null,
  subscription_id uuid not null,
  number int not null,
  finished_at timestamptz(3) not null,
  url text not null,
  resolved_ip text,
  status_code int,
  error text,
  timings jsonb not null,
  request_headers jsonb not null,
  response_headers jsonb,
  response_body_sealed bytea,
  response_truncated boolean not null,
  trigger text not null check (trigger in ('schedule', 'retry_now', 'replay', 'test')),
  primary key (id, started_at)
) partition by range (started_at);
create table webhooks.webhook_attempt_default partition of webhooks.webhook_attempt default;
create index webhook_attempt_delivery on webhooks.webhook_attempt (delivery_id, started_at)`;

const ENGINE = `
create table webhooks.grant_projection (
  user_id uuid not null,
  client_id text not null,
  grant_id uuid not null,
  version int not null,
  scopes jsonb not null,
  primary key (user_id, client_id)
);
create table webhooks.erased_user (user_digest bytea primary key, erased_at timestamptz(3) not null);
create table webhooks.webhook_shard (
  shard smallint primary key check (shard between 0 and 63),
  holder uuid,
  epoch bigint not null default 0,
  expires_at timestamptz(3) not null default '-infinity'
);
insert into webhooks.webhook_shard (shard) select generate_series(0, 63);
create table webhooks.webhook_worker (id uuid primary key, seen_at timestamptz(3) not null)`;

/**
 * Readers of the configuration and of a user's grants share two advisory locks; whoever changes a subscription or erases a user
 * has one of them alone. The function is volatile, so its last statement sees what committed before the locks were had.
 */
const ENTER = `
create function webhooks.configuration_lock() returns bigint language sql immutable as $lock$ select 2003133032::bigint $lock$;
create function webhooks.user_lock(of_user uuid) returns bigint language sql immutable as $lock$ select hashtextextended(of_user::text, 29) $lock$;
create function webhooks.enter_user(of_user uuid, digest bytea) returns table (version float8, erased boolean, grants json) language plpgsql as $enter$
begin
  perform pg_advisory_xact_lock_shared(webhooks.configuration_lock());
  perform pg_advisory_xact_lock_shared(webhooks.user_lock(of_user));
  return query select c.version::float8, exists (select from webhooks.erased_user e where e.user_digest = digest),
    (select coalesce(json_agg(json_build_object('client_id', g.client_id, 'grant_id', g.grant_id, 'version', g.version, 'scopes', g.scopes)), '[]')
     from webhooks.grant_projection g where g.user_id = of_user)
    from webhooks.webhook_configuration c;
end $enter$;
revoke all on function webhooks.configuration_lock(), webhooks.user_lock(uuid), webhooks.enter_user(uuid, bytea) from public;
grant execute on function webhooks.configuration_lock(), webhooks.user_lock(uuid), webhooks.enter_user(uuid, bytea) to platform_webhooks`;

/**
 * Makes the partitions of this and the next week (events, deliveries; by UUIDv7) and of this and the next day (attempts), and
 * drops what is older than `keep_days`. A range that the default partition already holds rows of stays there.
 */
const ROLL = `
create function webhooks.roll_deliveries(at timestamptz, keep_days int) returns void language plpgsql security definer set search_path = pg_catalog as $roll$
declare
  week bigint := 604800000; day bigint := 86400000;
  now_ms bigint := floor(extract(epoch from at) * 1000);
  parent text; part text; edge bigint; lower_id uuid; upper_id uuid; taken boolean;
begin
  foreach parent in array array['webhook_event', 'webhook_delivery'] loop
    for edge in now_ms / week .. now_ms / week + 1 loop
      part := parent || '_w' || edge;
      continue when to_regclass('webhooks.' || part) is not null;
      lower_id := (lpad(to_hex(edge * week), 12, '0') || repeat('0', 20))::uuid;
      upper_id := (lpad(to_hex((edge + 1) * week), 12, '0') || repeat('0', 20))::uuid;
      execute format('select exists (select 1 from webhooks.%I where %I >= $1 and %I < $2)', parent || '_default',
        case parent when 'webhook_event' then 'id' else 'event_id' end, case parent when 'webhook_event' then 'id' else 'event_id' end)
        into taken using lower_id, upper_id;
      continue when taken;
      execute format('create table webhooks.%I partition of webhooks.%I for values from (%L) to (%L)', part, parent, lower_id, upper_id);
    end loop;
    for part in select c.relname from pg_class c join pg_inherits i on i.inhrelid = c.oid
      where i.inhparent = ('webhooks.' || parent)::regclass and c.relname ~ '_w[0-9]+$' loop
      if (substring(part from '_w([0-9]+)$')::bigint + 1) * week < now_ms - keep_days::bigint * day then execute format('drop table webhooks.%I', part); end if;
    end loop;
  end loop;
  for edge in now_ms / day .. now_ms / day + 1 loop
    part := 'webhook_attempt_d' || edge;
    continue when to_regclass('webhooks.' || part) is not null;
    continue when exists (select 1 from webhooks.webhook_attempt_default
      where started_at >= to_timestamp(edge * day / 1000) and started_at < to_timestamp((edge + 1) * day / 1000));
    execute format('create table webhooks.%I partition of webhooks.webhook_attempt for values from (%L) to (%L)', part,
      to_timestamp(edge * day / 1000), to_timestamp((edge + 1) * day / 1000));
  end loop;
  for part in select c.relname from pg_class c join pg_inherits i on i.inhrelid = c.oid
    where i.inhparent = 'webhooks.webhook_attempt'::regclass and c.relname ~ '_d[0-9]+$' loop
    if (substring(part from '_d([0-9]+)$')::bigint + 1) * day < now_ms - keep_days::bigint * day then execute format('drop table webhooks.%I', part); end if;
  end loop;
end $roll$;
revoke all on function webhooks.roll_deliveries(timestamptz, int) from public;
grant execute on function webhooks.roll_deliveries(timestamptz, int) to platform_webhooks`;

/** What `platform_ro` may see: states and times; no user, no query of a URL, no bodies, headers or addresses. */
const VIEWS = `
create view webhooks.webhook_delivery_safe as
  select id, event_id, subscription_id, client_id, event_type, sequence, replay_no, replay_of_id, status, attempt_count, next_attempt_at, first_attempt_at,
    delivered_at, finished_at, last_status_code, last_error, dead_letter_reason, cancel_reason, resolved_at, created_at
  from webhooks.webhook_delivery;
create view webhooks.webhook_attempt_safe as
  select id, started_at, delivery_id, subscription_id, number, finished_at, split_part(url, '?', 1) as url, status_code, error, timings, response_truncated, trigger
  from webhooks.webhook_attempt`;

export class Delivery extends Migration {
  override up(): void {
    houseTables('webhooks').forEach(statement => this.addSql(statement));
    [SUBSCRIPTIONS, DELIVERIES, ENGINE, ENTER, ROLL, VIEWS].forEach(statement => this.addSql(statement));
    [...grantSafeView('webhooks', 'webhook_delivery_safe'), ...grantSafeView('webhooks', 'webhook_attempt_safe')].forEach(statement =>
      this.addSql(statement),
    );
    this.addSql('select webhooks.roll_deliveries(clock_timestamp(), 30)');
  }
}
