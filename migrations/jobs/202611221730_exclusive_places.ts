import { Migration } from '@mikro-orm/migrations';

/**
 * As before, but a job of an exclusive queue whose place is taken stays scheduled until it is free: the engine takes no second one, and
 * its refusal would keep all others back that are due with it.
 */
const READY = `
create or replace function jobs.ready(p_ids uuid[]) returns void language sql security definer set search_path = pg_catalog as $$
  with asked as (
    select m.id, m.queue, m.group_key, q.policy, row_number() over (partition by m.queue, m.group_key order by m.run_at, m.id) as place
    from jobs.job_meta m join jobs.queue_definition q on q.name = m.queue where m.id = any(p_ids)
  ), fit as materialized (
    select a.id from asked a where a.policy <> 'exclusive' or (a.place = 1 and not exists (
      select from jobs.job_meta o where o.queue = a.queue and o.group_key is not distinct from a.group_key and o.id <> a.id
        and o.status in ('queued', 'running', 'retrying', 'cancelling')))
  ), handed as (
    insert into pgboss.job (id, name, priority, policy, singleton_key, group_id, retry_limit, retry_delay, retry_backoff, retry_delay_max,
        expire_seconds, heartbeat_seconds, start_after, created_on, keep_until)
      select m.id, m.queue, m.priority, e.policy,
        case q.policy when 'standard' then null when 'key_fifo' then coalesce(m.group_key, m.id::text) else m.group_key end,
        case when q.per_key_concurrency is not null then m.group_key end,
        m.max_attempts - 1, q.retry_delay_seconds, q.retry_backoff, 3600, q.timeout_seconds, q.heartbeat_seconds,
        clock_timestamp(), clock_timestamp(), 'infinity'
      from fit join jobs.job_meta m on m.id = fit.id join jobs.queue_definition q on q.name = m.queue join pgboss.queue e on e.name = m.queue
      order by m.id
  )
  update jobs.job_meta set status = 'queued', held = false, queued_at = clock_timestamp() where id in (select id from fit);
$$`;

/** Which run of the partner has said how it ended, and when: an older one says nothing any more. */
const LAST_RUN = 'alter table jobs.schedule add column last_sync_run uuid, add column last_sync_at timestamptz(3)';

export class ExclusivePlaces extends Migration {
  override up(): void {
    for (const statement of [READY, LAST_RUN]) this.addSql(statement);
  }
}
