import { Migration } from '@mikro-orm/migrations';
import { roleOf, SLUGS } from '../../events/slugs.js';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

const SERVICES = SLUGS.map(roleOf).join(', ');

/** Statuses that block a key at a consumer. */
const OPEN = `('dead', 'retrying', 'parked')`;

/** The log. Partitioned by UUIDv7, that is by day. `data` is `json`, not `jsonb`, so that its text is kept byte for byte. */
const OUTBOX = `
create table events.outbox (
  id uuid primary key,
  seq bigint not null,
  order_key text not null,
  slot smallint not null check (slot between 0 and 63),
  type text not null,
  schema_rev smallint not null,
  user_id uuid,
  subject text check (char_length(subject) <= 128),
  brand_id uuid,
  source text not null,
  occurred_at timestamptz(3) not null,
  data json not null check (octet_length(data::text) <= 65536),
  request_id text,
  causation_id text,
  actor text not null,
  traceparent text,
  published_at timestamptz(3),
  position bigint,
  attempts smallint not null default 0,
  last_error text,
  erased_at timestamptz(3),
  check (order_key = case when user_id is null then 's:' || subject else 'u:' || user_id end)
) partition by range (id);
create table events.outbox_default partition of events.outbox default;
create sequence events.outbox_seq as bigint cache 1;
create index outbox_unpublished on events.outbox ((slot >> 3), seq) where published_at is null;
create index outbox_position on events.outbox ((slot >> 3), position);
create index outbox_user on events.outbox (user_id, seq);
create index outbox_type on events.outbox (type, seq)`;

const REGISTRY = `
create table events.event_type (
  name text primary key,
  owner text not null,
  emitters text[] not null,
  description text not null,
  user_rule text not null check (user_rule in ('required', 'optional', 'none')),
  scope text,
  sensitive boolean not null,
  revision smallint not null,
  json_schema jsonb not null,
  example jsonb not null,
  deprecated_at timestamptz(3),
  sunset_at timestamptz(3),
  replaced_by text,
  updated_at timestamptz(3) not null default clock_timestamp()
);
create table events.consumer (
  name text primary key check (name ~ '^[a-z-]+\\.[a-z_]+$'),
  service text not null check (service = split_part(name, '.', 1)),
  types text[] not null,
  partitions smallint not null check (partitions in (1, 2, 4, 8, 16, 32, 64)),
  generation int not null,
  on_replay text not null default 'dedupe' check (on_replay in ('dedupe', 'rerun')),
  status text not null default 'active' check (status in ('active', 'paused', 'detached')),
  paused_reason text,
  created_at timestamptz(3) not null default clock_timestamp(),
  last_seen_at timestamptz(3) not null default clock_timestamp(),
  version int not null default 1
);
create table events.consumer_partition (
  consumer text not null references events.consumer on delete cascade,
  generation int not null,
  partition smallint not null,
  state text not null default 'live' check (state in ('live', 'draining')),
  primary key (consumer, generation, partition)
)`;

/** `queue` is the embedded transport's; `deliveries` counts hand-outs that a crash cut short, `suspect` notes the start of an event with many. */
const DELIVERY = `
create table events.lease (
  name text primary key,
  holder text,
  epoch bigint not null default 0,
  expires_at timestamptz not null default '-infinity',
  position bigint not null default 0
);
insert into events.lease (name) select 'relay:' || n from generate_series(0, 7) n;
create table events.queue (
  consumer text not null,
  slot smallint not null,
  seq bigint not null,
  event_id uuid not null,
  replay_id uuid not null default '00000000-0000-0000-0000-000000000000',
  deliveries smallint not null default 0,
  primary key (consumer, slot, seq, replay_id)
);
create index queue_order on events.queue (consumer, seq);
create table events.suspect (
  consumer text not null,
  event_id uuid not null,
  replay_id uuid not null,
  starts smallint not null default 1,
  started_at timestamptz(3) not null default clock_timestamp(),
  primary key (consumer, event_id, replay_id)
);
create table events.dead_letter (
  id uuid primary key,
  consumer text not null,
  event_id uuid not null,
  replay_id uuid not null default '00000000-0000-0000-0000-000000000000',
  order_key text not null,
  seq bigint not null,
  type text not null,
  status text not null check (status in ('dead', 'retrying', 'parked', 'resolved', 'discarded')),
  reason text not null check (reason in ('schema_invalid', 'handler_error', 'permanent', 'crash_loop', 'too_old', 'unknown_type', 'behind_another')),
  error_class text,
  error_message text check (char_length(error_message) <= 500),
  attempts smallint not null default 0,
  next_attempt_at timestamptz(3) check ((next_attempt_at is not null) = (status = 'retrying')),
  first_failed_at timestamptz(3) not null,
  last_failed_at timestamptz(3) not null,
  resolved_by text,
  resolved_at timestamptz(3)
);
create unique index dead_letter_open on events.dead_letter (consumer, event_id, replay_id) where status in ${OPEN};
create index dead_letter_key on events.dead_letter (consumer, order_key, seq) where status in ${OPEN};
create index dead_letter_user on events.dead_letter (order_key, seq);
create index dead_letter_event on events.dead_letter (event_id);
create index dead_letter_resolved on events.dead_letter (resolved_at) where status in ('resolved', 'discarded');
create table events.replay (
  id uuid primary key,
  consumer text not null references events.consumer on delete cascade,
  mode text not null check (mode in ('dedupe', 'rerun')),
  filter jsonb not null,
  status text not null check (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
  total int not null default 0,
  sent int not null default 0,
  skipped int not null default 0,
  requested_by text not null,
  reason text not null check (char_length(reason) between 3 and 500),
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  error text
);
create unique index replay_running on events.replay (consumer) where status = 'running'`;

/** The database role that calls, also inside a SECURITY DEFINER function: `role` stays the caller's. Spelled out, because it runs per event. */
const CALLER = `(case current_setting('role') when 'none' then session_user::text else current_setting('role') end)`;

/** A service works on its own consumers only. */
const CHECK_CONSUMER = `
  if ${CALLER} not in ('platform_events', 'platform_' || replace(split_part(p_consumer, '.', 1), '-', '_')) then
    raise exception 'consumer % belongs to another service', p_consumer using errcode = '42501';
  end if;`;

/**
 * The only way into the log. Locks last and in ascending order, so there is no deadlock; `occurred_at` and `seq` after the locks, so
 * along a key they follow the order of the commits. The events service may append in the name of any emitter (POST /v1/events).
 */
const APPEND = `
create function events.append(p_rows json, p_now timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog set lock_timeout = '3s' as $$
declare
  v_caller text := ${CALLER};
  v_count int; v_keys bigint[]; v_bad text; v_key bigint; v_now timestamptz;
begin
  select count(*), array_agg(distinct hashtextextended(coalesce('u:' || r.user_id, 's:' || r.subject), 7)),
    min(r.type) filter (where t.name is null or not (r.source = t.owner or r.source = any (t.emitters))
      or v_caller not in ('platform_events', 'platform_' || replace(r.source, '-', '_'))
      or (t.user_rule = 'required' and r.user_id is null) or (t.user_rule = 'none' and r.user_id is not null))
  into v_count, v_keys, v_bad
  from json_to_recordset(p_rows) as r(type text, source text, user_id uuid, subject text) left join events.event_type t on t.name = r.type;
  if v_bad is not null then
    raise exception 'event type % may not be appended so by %', v_bad, v_caller using errcode = '42501';
  end if;
  if v_count > 2000 or cardinality(v_keys) > 1000 then
    raise exception 'a transaction emits at most 2000 events for 1000 users, not % for %', v_count, cardinality(v_keys) using errcode = '54000';
  end if;
  for v_key in select k from unnest(v_keys) k order by k loop
    perform pg_advisory_xact_lock(v_key);
  end loop;
  v_now := coalesce(p_now, clock_timestamp());
  insert into events.outbox (id, seq, order_key, slot, type, schema_rev, user_id, subject, brand_id, source, occurred_at, data,
    request_id, causation_id, actor, traceparent)
  select r.id, nextval('events.outbox_seq'), r.order_key, (hashtextextended(r.order_key, 0) & 63)::smallint, r.type, r.schema_rev, r.user_id, r.subject,
    r.brand_id, r.source, v_now, r.data::json, r.request_id, r.causation_id, r.actor, r.traceparent
  from (
    select x.*, coalesce('u:' || x.user_id, 's:' || x.subject) as order_key
    from rows from (json_to_recordset(p_rows) as (id uuid, type text, schema_rev smallint, user_id uuid, subject text, brand_id uuid, source text,
      data text, request_id text, causation_id text, actor text, traceparent text)) with ordinality as
      x(id, type, schema_rev, user_id, subject, brand_id, source, data, request_id, causation_id, actor, traceparent, place)
    order by x.place
  ) r;
end $$`;

/** Takes or renews leases by the database's clock. `crashed`: the former holder let it run out instead of giving it back. */
const LEASE = `
create function events.lease(p_names text[], p_holder text, p_ttl_ms int)
returns table (name text, epoch bigint, "position" bigint, crashed boolean)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare v_name text; v_old events.lease; v_crashed boolean;
begin
  insert into events.lease (name) select n from unnest(p_names) n order by n on conflict do nothing;
  for v_name in select n from unnest(p_names) n order by n loop
    select * into v_old from events.lease l where l.name = v_name;
    if v_old.holder = p_holder then
      select * into v_old from events.lease l where l.name = v_name for update;
    else
      select * into v_old from events.lease l where l.name = v_name for update skip locked;
    end if;
    continue when not found or (v_old.holder <> p_holder and v_old.expires_at > clock_timestamp());
    v_crashed := v_old.holder <> p_holder;
    return query update events.lease l set holder = p_holder, expires_at = clock_timestamp() + p_ttl_ms * interval '1 ms',
      epoch = l.epoch + (l.holder is distinct from p_holder)::int
      where l.name = v_name returning l.name, l.epoch, l.position, coalesce(v_crashed, false);
  end loop;
end $$`;

/**
 * Marks a batch as published, in the order of its ids, and gives it the next positions of its group. Under the lease row's lock and
 * only with the epoch of its holder, so positions are gap-free and a stale relay stops here. With `p_enqueue` (embedded transport) the
 * rows for the bound consumers are written in the same transaction; answers the consumers that got some.
 */
const MARK = `
create function events.mark_published(p_group int, p_epoch bigint, p_ids uuid[], p_enqueue boolean) returns text[]
language plpgsql set search_path = pg_catalog set enable_seqscan = off as $$
declare v_position bigint; v_marked uuid[]; v_names text[] := '{}'; v_first uuid := (select i from unnest(p_ids) i order by i limit 1);
begin
  select l.position into v_position from events.lease l
    where l.name = 'relay:' || p_group and (p_epoch is null or l.epoch = p_epoch) for update;
  if not found then
    raise exception 'the lease of relay group % has another holder', p_group using errcode = 'EV001';
  end if;
  with batch as (
    select o.id, row_number() over (order by b.place) as place
    from unnest(p_ids) with ordinality as b(id, place) join events.outbox o on o.id = b.id
    where o.published_at is null and o.id >= v_first
  ), marked as (
    update events.outbox o set published_at = clock_timestamp(), position = v_position + batch.place
    from batch where o.id = batch.id and o.id >= v_first returning o.id
  ) select array_agg(id) into v_marked from marked;
  update events.lease l set position = v_position + cardinality(v_marked) where l.name = 'relay:' || p_group and v_marked is not null;
  if p_enqueue and v_marked is not null then
    with queued as (
      insert into events.queue (consumer, slot, seq, event_id)
      select c.name, o.slot, o.seq, o.id from events.outbox o join events.consumer c on o.type = any (c.types) and c.status <> 'detached'
      where o.id = any (v_marked) and o.id >= v_first on conflict do nothing returning consumer
    ) select coalesce(array_agg(distinct consumer), '{}') into v_names from queued;
  end if;
  return v_names;
end $$`;

/** What a consumer does inside its own transaction. `is_blocked` takes the lock that makes handlers of one key at one consumer serial. */
const CONSUME = `
create function events.is_blocked(p_consumer text, p_order_key text) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin${CHECK_CONSUMER}
  perform pg_advisory_xact_lock(hashtextextended(p_consumer || ' ' || p_order_key, 11));
  return exists (select from events.dead_letter d where d.consumer = p_consumer and d.order_key = p_order_key and d.status in ${OPEN});
end $$;
create function events.take(p_consumer text, p_slot int, p_seq bigint, p_replay_id uuid) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin${CHECK_CONSUMER}
  delete from events.queue q where q.consumer = p_consumer and q.slot = p_slot and q.seq = p_seq and q.replay_id = p_replay_id;
  return found;
end $$;
create function events.park(p_consumer text, p_letter json, p_now timestamptz) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin${CHECK_CONSUMER}
  insert into events.dead_letter (id, consumer, event_id, replay_id, order_key, seq, type, status, reason, error_class, error_message, attempts,
    next_attempt_at, first_failed_at, last_failed_at)
  select l.id, p_consumer, l.event_id, l.replay_id, l.order_key, l.seq, l.type, l.status, l.reason, l.error_class, left(l.error_message, 500),
    (l.status <> 'parked')::int, l.next_attempt_at, p_now, p_now
  from json_to_record(p_letter) as l(id uuid, event_id uuid, replay_id uuid, order_key text, seq bigint, type text, status text, reason text,
    error_class text, error_message text, next_attempt_at timestamptz)
  where not exists (select from events.outbox o where o.id = l.event_id and o.erased_at is not null)
  on conflict (consumer, event_id, replay_id) where status in ${OPEN} do nothing;
  return found;
end $$;
create function events.settle(p_id uuid, p_consumer text, p_attempts int, p_change json, p_now timestamptz) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
declare v_letter events.dead_letter;
begin${CHECK_CONSUMER}
  select * into v_letter from events.dead_letter d
    where d.id = p_id and d.consumer = p_consumer and d.status in ('retrying', 'parked') and d.attempts = p_attempts for update;
  if not found or exists (select from events.dead_letter f where f.consumer = p_consumer and f.order_key = v_letter.order_key
    and f.status in ${OPEN} and (f.seq, f.id) < (v_letter.seq, v_letter.id)) then
    return false;
  end if;
  update events.dead_letter d set status = c.status, reason = coalesce(c.reason, d.reason), error_class = coalesce(c.error_class, d.error_class),
    error_message = coalesce(left(c.error_message, 500), d.error_message), next_attempt_at = c.next_attempt_at,
    attempts = d.attempts + (c.status in ('retrying', 'dead'))::int, last_failed_at = case when c.status in ('retrying', 'dead') then p_now else d.last_failed_at end,
    resolved_by = c.resolved_by, resolved_at = case when c.status in ('resolved', 'discarded') then p_now end
  from json_to_record(p_change) as c(status text, reason text, error_class text, error_message text, next_attempt_at timestamptz, resolved_by text)
  where d.id = p_id;
  return true;
end $$`;

/**
 * Empties the user's earlier payloads. Letters about them are discarded: their handlers can never run again, and the erasure request
 * itself would wait behind them for ever at their consumers. Ids, types, times and order stay.
 */
const ERASE = `
create function events.erase_user(p_user_id uuid, p_before_seq bigint, p_by text, p_now timestamptz) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare v_erased int;
begin
  update events.outbox o set data = '{}', erased_at = clock_timestamp()
    where o.user_id = p_user_id and o.seq < p_before_seq and o.published_at is not null and o.erased_at is null;
  get diagnostics v_erased = row_count;
  update events.dead_letter d set status = 'discarded', next_attempt_at = null, error_message = null, resolved_by = p_by, resolved_at = p_now
    where d.order_key = 'u:' || p_user_id and d.seq < p_before_seq and d.status in ${OPEN};
  return v_erased;
end $$`;

/**
 * Makes the partitions of today and the next three days, and drops those older than `p_keep_days` in which nothing waits any more.
 * Attached, not created in place, because that would lock the whole log. System time: ids are.
 */
const ROLL = `
create function events.roll_outbox(p_keep_days int) returns void
language plpgsql security definer set search_path = pg_catalog set lock_timeout = '3s' as $$
declare v_day date; v_part text; v_low uuid; v_high uuid;
begin
  for v_day in select generate_series(timezone('utc', clock_timestamp())::date, timezone('utc', clock_timestamp())::date + 3, interval '1 day') loop
    v_part := 'outbox_p' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('events.' || v_part) is not null;
    v_low := events.first_id(v_day);
    v_high := events.first_id(v_day + 1);
    execute format('create table events.%I (like events.outbox including all)', v_part);
    execute format('revoke all on events.%I from platform_events', v_part);
    lock table events.outbox_default in access exclusive mode;
    execute format('with moved as (delete from events.outbox_default where id >= %L and id < %L returning *) insert into events.%I select * from moved',
      v_low, v_high, v_part);
    execute format('alter table events.outbox attach partition events.%I for values from (%L) to (%L)', v_part, v_low, v_high);
  end loop;
  for v_part in select c.relname from pg_class c join pg_inherits i on i.inhrelid = c.oid
    where i.inhparent = 'events.outbox'::regclass and c.relname ~ '^outbox_p[0-9]{8}$' order by 1 loop
    v_day := to_date(substring(v_part from 9), 'YYYYMMDD');
    exit when v_day >= timezone('utc', clock_timestamp())::date - p_keep_days;
    v_low := events.first_id(v_day);
    v_high := events.first_id(v_day + 1);
    continue when exists (select from events.outbox where id >= v_low and id < v_high and published_at is null)
      or exists (select from events.queue where event_id >= v_low and event_id < v_high)
      or exists (select from events.dead_letter where event_id >= v_low and event_id < v_high and status in ${OPEN});
    execute format('drop table events.%I', v_part);
  end loop;
end $$`;

/** The smallest UUIDv7 of a UTC day: 48 bits of Unix milliseconds first (RFC 9562). */
const FIRST_ID = `
create function events.first_id(p_day date) returns uuid language sql immutable set search_path = pg_catalog as $$
  select (lpad(to_hex((extract(epoch from p_day::timestamp) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$`;

const VIEWS = `
create view events.outbox_safe as select id, type, source, occurred_at, published_at, slot from events.outbox;
create view events.dead_letter_safe as select id, consumer, event_id, replay_id, seq, type, status, reason, error_class, attempts, next_attempt_at,
  first_failed_at, last_failed_at, resolved_at from events.dead_letter`;

/** A log row is never changed but for its relaying, and never deleted: not even by the service that owns it. */
const GRANTS = `
revoke all on all functions in schema events from public;
grant usage on schema events to ${SERVICES};
grant execute on function events.append(json, timestamptz), events.lease(text[], text, int), events.is_blocked(text, text),
  events.park(text, json, timestamptz), events.settle(uuid, text, int, json, timestamptz), events.take(text, int, bigint, uuid) to ${SERVICES};
grant execute on function events.mark_published(int, bigint, uuid[], boolean), events.erase_user(uuid, bigint, text, timestamptz),
  events.roll_outbox(int), events.roll_partitions(int) to platform_events;
revoke all on events.outbox, events.outbox_default from platform_events;
grant select, update (published_at, position, attempts, last_error) on events.outbox to platform_events`;

export class Outbox extends Migration {
  override up(): void {
    houseTables('events').forEach(statement => this.addSql(statement));
    [OUTBOX, REGISTRY, DELIVERY, APPEND, LEASE, MARK, CONSUME, ERASE, FIRST_ID, ROLL, VIEWS].forEach(statement => this.addSql(statement));
    [...grantSafeView('events', 'outbox_safe'), ...grantSafeView('events', 'dead_letter_safe')].forEach(statement =>
      this.addSql(statement),
    );
    this.addSql(GRANTS);
    this.addSql(`select events.roll_outbox(30)`);
  }
}
