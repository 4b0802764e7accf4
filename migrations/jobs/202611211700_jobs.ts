import { Migration } from '@mikro-orm/migrations';
import { getConstructionPlans } from 'pg-boss';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

/** The library's script is a transaction of its own; a migration is one already. */
const insideOurTransaction = (script: string): string => script.replace(/^\s*BEGIN;/, '').replace(/COMMIT;\s*$/, '');

/**
 * The engine's own tables (version 43 of its schema), made by the owner of the database: the service's role may use them and change
 * no table. A newer engine refuses to start on an older schema; its migration is then a file of its own (`getMigrationPlans`).
 */
const ENGINE = [
  'create schema if not exists pgboss',
  insideOurTransaction(getConstructionPlans('pgboss', { createSchema: false })),
  'grant usage on schema pgboss to platform_jobs',
  'grant select, insert, update, delete on all tables in schema pgboss to platform_jobs',
  'revoke all on all functions in schema pgboss from public',
  'grant execute on all functions in schema pgboss to platform_jobs',
];

const QUEUES = `
create table jobs.queue_definition (
  name text primary key constraint queue_definition_name_check check (name ~ '^[a-z_]+\\.[a-z0-9_.]+$'),
  service text not null,
  title text not null,
  policy text not null constraint queue_definition_policy_check check (policy in ('standard', 'singleton', 'exclusive', 'key_fifo')),
  retry_limit int not null constraint queue_definition_retry_limit_check check (retry_limit between 0 and 20),
  retry_delay_seconds int not null constraint queue_definition_retry_delay_seconds_check check (retry_delay_seconds between 0 and 3600),
  retry_backoff boolean not null,
  timeout_seconds int not null constraint queue_definition_timeout_seconds_check check (timeout_seconds between 1 and 86400),
  heartbeat_seconds int not null constraint queue_definition_heartbeat_seconds_check check (heartbeat_seconds between 10 and 3600),
  concurrency int not null constraint queue_definition_concurrency_check check (concurrency between 1 and 100),
  per_key_concurrency int constraint queue_definition_per_key_concurrency_check check (per_key_concurrency between 1 and 100),
  retention_days int not null constraint queue_definition_retention_days_check check (retention_days between 1 and 365),
  paused boolean not null default false,
  overridden text[] not null default '{}',
  payload_schema jsonb not null,
  last_alarm_at timestamptz(3),
  version int not null default 1
)`;

/** Whole life of a job; the engine holds only what waits or runs. `claim` grows with every claim and fences what a worker may still say. */
const JOBS = `
create table jobs.job_meta (
  id uuid primary key,
  queue text not null constraint job_meta_queue_foreign references jobs.queue_definition (name),
  status text not null constraint job_meta_status_check
    check (status in ('scheduled', 'queued', 'running', 'retrying', 'cancelling', 'succeeded', 'dead', 'cancelled', 'discarded')),
  payload jsonb,
  output jsonb,
  priority int not null default 0 constraint job_meta_priority_check check (priority between -10 and 10),
  attempt int not null default 0,
  max_attempts int not null,
  run_at timestamptz(3),
  created_at timestamptz(3) not null,
  queued_at timestamptz(3),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  next_attempt_at timestamptz(3),
  progress_percent int,
  progress_step text,
  progress_message text,
  progress_at timestamptz(3),
  error_code text,
  error_message text,
  dedupe_key text,
  dedupe_seconds int not null default 0,
  group_key text,
  user_id uuid,
  requested_by text not null,
  schedule_key text,
  occurrence_at timestamptz(3),
  parent_id uuid,
  cancel_requested_at timestamptz(3),
  held boolean not null default false,
  claim bigint not null default 0,
  worker text,
  alarmed boolean not null default false
);
create index job_meta_created_at_id on jobs.job_meta (created_at, id);
create index job_meta_queue_status on jobs.job_meta (queue, status, created_at);
create index job_meta_user_id on jobs.job_meta (user_id, created_at) where user_id is not null;
create index job_meta_schedule_key on jobs.job_meta (schedule_key, created_at) where schedule_key is not null;
create index job_meta_run_at on jobs.job_meta (run_at) where status = 'scheduled' and not held;
create index job_meta_dedupe_key on jobs.job_meta (queue, dedupe_key) where dedupe_key is not null;
create index job_meta_finished_at on jobs.job_meta (queue, finished_at) where finished_at is not null;
create index job_meta_unalarmed on jobs.job_meta (queue) where status = 'dead' and not alarmed;
revoke truncate on jobs.job_meta from platform_jobs;

create table jobs.job_log (
  id uuid primary key,
  job_id uuid not null constraint job_log_job_id_foreign references jobs.job_meta (id) on delete cascade,
  attempt int not null,
  at timestamptz(3) not null,
  level text not null constraint job_log_level_check check (level in ('info', 'warn', 'error')),
  message text not null
);
create index job_log_job_id_id on jobs.job_log (job_id, id)`;

const SCHEDULES = `
create table jobs.schedule (
  key text primary key constraint schedule_key_check check (key ~ '^[a-z_]+\\.[a-z0-9_.-]+$'),
  queue text not null constraint schedule_queue_foreign references jobs.queue_definition (name),
  cron text,
  every text,
  at timestamptz(3),
  time_zone text not null default 'UTC',
  payload jsonb not null,
  misfire text not null constraint schedule_misfire_check check (misfire in ('skip', 'once', 'all')),
  grace_seconds int not null constraint schedule_grace_seconds_check check (grace_seconds between 0 and 86400),
  overlap text not null constraint schedule_overlap_check check (overlap in ('allow', 'skip', 'queue')),
  status text not null constraint schedule_status_check check (status in ('active', 'paused', 'finished')),
  source text not null constraint schedule_source_check check (source in ('code', 'operator')),
  anchor timestamptz(3) not null,
  next_run_at timestamptz(3),
  last_run_at timestamptz(3),
  last_status text,
  jitter_seconds int not null default 0 constraint schedule_jitter_seconds_check check (jitter_seconds between 0 and 3600),
  created_at timestamptz(3) not null,
  version int not null default 1,
  constraint schedule_when_check check (num_nonnulls(cron, every, at) = 1)
);
create index schedule_next_run_at on jobs.schedule (next_run_at) where status = 'active';

create table jobs.schedule_occurrence (
  schedule_key text not null,
  due_at timestamptz(3) not null,
  state text not null constraint schedule_occurrence_state_check check (state in ('sent', 'skipped_overlap', 'misfired')),
  job_id uuid,
  noticed_at timestamptz(3) not null,
  constraint schedule_occurrence_pkey primary key (schedule_key, due_at)
);

create table jobs.worker_beat (
  service text not null,
  instance text not null,
  queues text[] not null,
  last_beat_at timestamptz(3) not null,
  running int not null,
  version text not null,
  constraint worker_beat_pkey primary key (service, instance)
)`;

/** The database role that calls, also inside a SECURITY DEFINER function: `role` stays the caller's. */
const CALLER = `(case current_setting('role') when 'none' then session_user::text else current_setting('role') end)`;

/**
 * Hands jobs that are due to the engine. A key that must be in order needs one: a job without a group key is a group of its own.
 * The order of ids is the order of enqueueing, which the engine follows inside one instant.
 */
const READY = `
create function jobs.ready(p_ids uuid[]) returns void language sql security definer set search_path = pg_catalog as $$
  insert into pgboss.job (id, name, priority, policy, singleton_key, group_id, retry_limit, retry_delay, retry_backoff, retry_delay_max,
      expire_seconds, heartbeat_seconds, start_after, created_on, keep_until)
    select m.id, m.queue, m.priority, e.policy,
      case q.policy when 'standard' then null when 'key_fifo' then coalesce(m.group_key, m.id::text) else m.group_key end,
      case when q.per_key_concurrency is not null then m.group_key end,
      m.max_attempts - 1, q.retry_delay_seconds, q.retry_backoff, 3600, q.timeout_seconds, q.heartbeat_seconds,
      clock_timestamp(), clock_timestamp(), 'infinity'
    from jobs.job_meta m join jobs.queue_definition q on q.name = m.queue join pgboss.queue e on e.name = m.queue
    where m.id = any(p_ids) order by m.id;
  update jobs.job_meta set status = 'queued', held = false, queued_at = clock_timestamp() where id = any(p_ids);
$$`;

/**
 * Enqueues jobs in the caller's transaction, so that a job and the change that asks for it commit together. Answers one row for each
 * job, in order; a deduplicated one answers the job that is there. A service enqueues on its own queues, jobs on all.
 */
const ENQUEUE = `
create function jobs.enqueue(p_jobs json, p_now timestamptz) returns table (job_id uuid, job_status text, existing boolean)
language plpgsql security definer set search_path = pg_catalog as $$
declare
  j record; q record; taken record; due boolean;
begin
  for j in select * from json_to_recordset(p_jobs) as r(id uuid, queue text, payload jsonb, priority int, run_at timestamptz, dedupe_key text,
      dedupe_seconds int, group_key text, user_id uuid, max_attempts int, requested_by text, schedule_key text, occurrence_at timestamptz,
      parent_id uuid, held boolean) loop
    select d.service, d.policy, d.retry_limit into q from jobs.queue_definition d where d.name = j.queue;
    if not found then raise exception 'queue % does not exist', j.queue using errcode = 'P0002'; end if;
    if ${CALLER} not in ('platform_jobs', 'platform_' || q.service) then
      raise exception 'queue % belongs to another service', j.queue using errcode = '42501';
    end if;
    taken := null;
    if j.dedupe_key is not null then
      perform pg_advisory_xact_lock(hashtextextended('job:' || j.queue || ':' || j.dedupe_key, 17));
      select m.id, m.status into taken from jobs.job_meta m where m.queue = j.queue and m.dedupe_key = j.dedupe_key
        and (m.status in ('scheduled', 'queued', 'running', 'retrying', 'cancelling') or m.finished_at + make_interval(secs => m.dedupe_seconds) > clock_timestamp())
        order by m.created_at desc limit 1;
    end if;
    if taken is null and q.policy = 'exclusive' then
      perform pg_advisory_xact_lock(hashtextextended('job:' || j.queue || ':' || coalesce(j.group_key, ''), 19));
      select m.id, m.status into taken from jobs.job_meta m where m.queue = j.queue and m.group_key is not distinct from j.group_key
        and m.status in ('queued', 'running', 'retrying', 'cancelling') limit 1;
    end if;
    if taken is null then select m.id, m.status into taken from jobs.job_meta m where m.id = j.id; end if;
    if taken is not null then
      job_id := taken.id; job_status := taken.status; existing := true;
      return next;
      continue;
    end if;
    due := coalesce(j.run_at <= p_now, true) and not coalesce(j.held, false);
    insert into jobs.job_meta (id, queue, status, payload, priority, max_attempts, run_at, created_at, dedupe_key, dedupe_seconds, group_key, user_id,
        requested_by, schedule_key, occurrence_at, parent_id, held)
      values (j.id, j.queue, 'scheduled', j.payload, coalesce(j.priority, 0), coalesce(j.max_attempts, q.retry_limit + 1), j.run_at, p_now,
        j.dedupe_key, coalesce(j.dedupe_seconds, 0), j.group_key, j.user_id, j.requested_by, j.schedule_key, j.occurrence_at, j.parent_id,
        coalesce(j.held, false));
    if due then perform jobs.ready(array[j.id]); end if;
    job_id := j.id; job_status := case when due then 'queued' else 'scheduled' end; existing := false;
    return next;
  end loop;
end $$`;

/** Every service may call it; the function itself looks whose queue it is. */
const RIGHTS = `
revoke all on function jobs.ready(uuid[]), jobs.enqueue(json, timestamptz) from public;
grant execute on function jobs.ready(uuid[]) to platform_jobs;
do $$ declare r text; begin
  for r in select rolname from pg_roles where rolname like 'platform\\_%' and rolname not in ('platform_ro', 'platform_views') loop
    execute format('grant usage on schema jobs to %I; grant execute on function jobs.enqueue(json, timestamptz) to %I', r, r);
  end loop;
end $$`;

/** Left out: what a job was told and said, and whose it is. Source: jobs 2. */
const SAFE_VIEW = `
create view jobs.job_safe as
  select id, queue, status, priority, attempt, max_attempts, run_at, created_at, started_at, finished_at, next_attempt_at, progress_percent,
    error_code, schedule_key, occurrence_at, parent_id, cancel_requested_at from jobs.job_meta`;

export class Jobs extends Migration {
  override up(): void {
    const own = [QUEUES, JOBS, SCHEDULES, READY, ENQUEUE, RIGHTS, SAFE_VIEW];
    for (const statement of [...houseTables('jobs'), ...ENGINE, ...own, ...grantSafeView('jobs', 'job_safe')]) this.addSql(statement);
  }
}
