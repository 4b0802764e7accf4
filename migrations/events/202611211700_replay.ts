import { Migration } from '@mikro-orm/migrations';

/** Statuses that block a key at a consumer. */
const OPEN = `('dead', 'retrying', 'parked')`;

/**
 * How far a replay has come: it walks the eight relay groups one after the other in the order of their positions, up to where the log ended
 * when it was asked for. `at_place` is a position, or of a replay of one user's events a sequence.
 */
const REPLAY = `
alter table events.replay add column at_group smallint not null default 0;
alter table events.replay add column at_place bigint not null default 0;
alter table events.replay add column upto bigint[] not null default '{0,0,0,0,0,0,0,0}' check (cardinality(upto) = 8);
drop index events.replay_running;
create unique index replay_open on events.replay (consumer) where status in ('pending', 'running');
create index replay_created on events.replay (created_at desc, id desc)`;

/** What the log no longer has: the last position of each group, and the last sequence, that were dropped with their partitions. */
const FLOOR = `
create table events.log_floor (
  "group" smallint primary key check ("group" between 0 and 7),
  position bigint not null default 0,
  seq bigint not null default 0
);
insert into events.log_floor ("group") select generate_series(0, 7)`;

/** As before; notes what goes before it drops a partition. */
const ROLL = `
create or replace function events.roll_outbox(p_keep_days int) returns void
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
    update events.log_floor f set position = greatest(f.position, m.position), seq = greatest(f.seq, m.seq)
      from (select o.slot >> 3 as g, max(o.position) as position, max(o.seq) as seq from events.outbox o where o.id >= v_low and o.id < v_high group by 1) m
      where f."group" = m.g;
    execute format('drop table events.%I', v_part);
  end loop;
end $$`;

export class Replay extends Migration {
  override up(): void {
    [REPLAY, FLOOR, ROLL].forEach(statement => this.addSql(statement));
  }
}
