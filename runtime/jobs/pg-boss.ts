import { PgBoss, type Db } from 'pg-boss';
import type { Sql } from '../../events/outbox.js';
import type { Claim, Enqueued, Failure, JobEngine, JobStatus, NewJob, Settlement, Success } from './engine.js';
import type { QueuePolicy, QueueSettings } from './queue.js';

/** pg-boss on somebody else's connection: it opens none of its own. */
const dbOf = (sql: Sql): Db => ({ executeSql: async (text, values) => ({ rows: await sql(text, values ?? []) }) });

const POLICIES = { standard: 'standard', singleton: 'singleton', exclusive: 'exclusive', key_fifo: 'key_strict_fifo' } as const;

const CLAIMED = `
update jobs.job_meta m set status = 'running', attempt = m.attempt + 1, claim = m.claim + 1, worker = $2, started_at = clock_timestamp(),
  next_attempt_at = null, progress_at = null
from jobs.queue_definition q where q.name = m.queue and m.id = any($1)
returning m.id, m.queue, m.claim::int, m.attempt, m.payload, m.user_id as "userId", q.timeout_seconds as "timeoutSeconds",
  q.heartbeat_seconds as "heartbeatSeconds"`;

/** Rows are locked in the order of their ids, as by heartbeats: the engine's rows are only touched by who holds these. */
const SUCCEEDED = `
with mine as materialized (
  select m.id, c.output from jobs.job_meta m join unnest($1::uuid[], $2::int[], $3::jsonb[]) as c(id, claim, output) on c.id = m.id and c.claim = m.claim
  where m.id = any($1) and m.status in ('running', 'cancelling') order by m.id for no key update of m)
update jobs.job_meta m set status = 'succeeded', output = mine.output, finished_at = clock_timestamp(), error_code = null, error_message = null
from mine where m.id = mine.id returning m.id, m.queue, m.schedule_key`;

/** Ids of jobs by their queue, queues in order. */
function byQueue(jobs: readonly { id: string; queue: string }[]): [string, string[]][] {
  const queues = [...new Set(jobs.map(one => one.queue))].sort((a, b) => (a < b ? -1 : 1));
  return queues.map(queue => [queue, jobs.filter(one => one.queue === queue).map(one => one.id)]);
}

/** Each once and in order: their locks are taken in it. */
export const schedulesOf = (jobs: readonly { schedule_key: string | null }[]): string[] =>
  [...new Set(jobs.flatMap(one => one.schedule_key ?? []))].sort((a, b) => (a < b ? -1 : 1));

/** pg-boss waits for half of the backed-off delay at least; the contract spreads the next attempt over all of it. Source: jobs 2. */
const FULL_JITTER = `
update pgboss.job set start_after = clock_timestamp() + random() * make_interval(secs => least(retry_delay_max, retry_delay * 2 ^ least(retry_count, 16)))
where name = $1 and id = $2 and state = 'retry' and retry_backoff`;

/** Only the holder of the newest claim, and only while the job runs. */
const MINE = `id = $1 and claim = $2 and status in ('running', 'cancelling')`;

/**
 * pg-boss chooses what runs next (priorities, policies, groups, order per key, retries with backoff); what a job is, and whose
 * claim counts, stands in `jobs.job_meta` and changes in the same transaction. Its own timers are off: ours obey the service's clock.
 */
export class PgBossEngine implements JobEngine {
  readonly #boss: PgBoss;

  /** `sql` runs what pg-boss asks on its own account: the definitions of queues. */
  constructor(sql: Sql) {
    this.#boss = new PgBoss({ db: dbOf(sql), schema: 'pgboss', migrate: false, supervise: false, schedule: false });
    this.#boss.on('error', () => undefined); // every call rejects by itself
  }

  async define(sql: Sql, name: string, policy: QueuePolicy, settings: QueueSettings): Promise<void> {
    const { retryLimit, retryDelaySeconds: retryDelay, retryBackoff, timeoutSeconds: expireInSeconds, heartbeatSeconds } = settings;
    const options = { retryLimit, retryDelay, retryBackoff, expireInSeconds, heartbeatSeconds };
    const [there] = await sql('select 1 from pgboss.queue where name = $1', [name]);
    if (!there) await this.#boss.createQueue(name, { ...options, policy: POLICIES[policy] });
    else
      await sql(
        'update pgboss.queue set retry_limit = $2, retry_delay = $3, retry_backoff = $4, expire_seconds = $5, heartbeat_seconds = $6 where name = $1',
        [name, retryLimit, retryDelay, retryBackoff, expireInSeconds, heartbeatSeconds],
      );
  }

  async enqueue(sql: Sql, jobs: readonly NewJob[], now: Date): Promise<Enqueued[]> {
    const rows = await sql<{ job_id: string; job_status: JobStatus; existing: boolean }>('select * from jobs.enqueue($1::json, $2)', [
      JSON.stringify(jobs),
      now.toISOString(),
    ]);
    return rows.map(row => ({ id: row.job_id, status: row.job_status, existing: row.existing }));
  }

  async claim(sql: Sql, queue: string, limit: number, perKey: number | null, worker: string): Promise<Claim[]> {
    const found = await this.#boss.fetch(queue, {
      batchSize: limit,
      ...(perKey !== null && { groupConcurrency: perKey }),
      db: dbOf(sql),
    });
    if (!found.length) return [];
    const order = found.map(job => job.id);
    const claims = await sql<Claim>(CLAIMED, [order, worker]);
    return claims.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  }

  async succeed(sql: Sql, ended: readonly Success[]): Promise<Set<string>> {
    const done = await sql<{ id: string; queue: string; schedule_key: string | null }>(SUCCEEDED, [
      ended.map(one => one.claim.id),
      ended.map(one => one.claim.claim),
      ended.map(one => one.output && JSON.stringify(one.output)),
    ]);
    for (const [queue, ids] of byQueue(done)) await this.#boss.complete(queue, ids, undefined, { db: dbOf(sql) });
    for (const key of schedulesOf(done)) await releaseHeld(sql, key);
    return new Set(done.map(one => one.id));
  }

  async fail(sql: Sql, { id, queue, claim }: Claim, { code, message, permanent }: Failure): Promise<Settlement> {
    const [job] = await sql<{ status: JobStatus; schedule_key: string | null }>(
      `select status, schedule_key from jobs.job_meta where ${MINE} for update`,
      [id, claim],
    );
    if (!job) return null;
    await sql('update jobs.job_meta set error_code = $2, error_message = $3 where id = $1', [id, code, message]);
    if (job.status === 'cancelling') return this.#cancelled(sql, queue, id, job.schedule_key);
    const status = await this.#failed(sql, queue, id, permanent);
    if (status !== 'retrying') await releaseHeld(sql, job.schedule_key);
    return status;
  }

  async #cancelled(sql: Sql, queue: string, id: string, scheduleKey: string | null): Promise<JobStatus> {
    await this.withdraw(sql, queue, [id]);
    await sql(`update jobs.job_meta set status = 'cancelled', finished_at = clock_timestamp() where id = $1`, [id]);
    await releaseHeld(sql, scheduleKey);
    return 'cancelled';
  }

  async #failed(sql: Sql, queue: string, id: string, permanent: boolean): Promise<JobStatus> {
    if (permanent) await sql('update pgboss.job set retry_limit = retry_count where name = $1 and id = $2', [queue, id]);
    await this.#boss.fail(queue, id, undefined, { db: dbOf(sql) });
    await sql(FULL_JITTER, [queue, id]);
    const [row] = await sql<{ status: JobStatus }>(
      `update jobs.job_meta m set status = case e.state when 'retry' then 'retrying' else 'dead' end, alarmed = false,
         next_attempt_at = case e.state when 'retry' then e.start_after end, finished_at = case e.state when 'retry' then null else clock_timestamp() end
       from pgboss.job e where e.name = $1 and e.id = $2 and m.id = e.id returning m.status`,
      [queue, id],
    );
    return row!.status;
  }

  async release(sql: Sql, { id, queue, claim }: Claim): Promise<Settlement> {
    const [job] = await sql<{ status: JobStatus; schedule_key: string | null }>(
      `select status, schedule_key from jobs.job_meta where ${MINE} for update`,
      [id, claim],
    );
    if (!job) return null;
    if (job.status === 'cancelling') return this.#cancelled(sql, queue, id, job.schedule_key);
    await sql(`update jobs.job_meta set status = 'queued', attempt = attempt - 1, claim = claim + 1 where id = $1`, [id]);
    await sql(
      `update pgboss.job set state = case when retry_count > 0 then 'retry' else 'created' end::pgboss.job_state, started_on = null,
         heartbeat_on = null, start_after = clock_timestamp() where name = $1 and id = $2 and state = 'active'`,
      [queue, id],
    );
    return 'queued';
  }

  async beat(sql: Sql, claims: readonly Claim[]): Promise<Set<string>> {
    const mine = await sql<{ id: string; queue: string }>(
      `select m.id, m.queue from jobs.job_meta m join unnest($1::uuid[], $2::int[]) as c(id, claim) on c.id = m.id and c.claim = m.claim
       where m.status = 'running' order by m.id for no key update of m`,
      [claims.map(one => one.id), claims.map(one => one.claim)],
    );
    for (const [queue, ids] of byQueue(mine)) await this.#boss.touch(queue, ids, { db: dbOf(sql) });
    return new Set(mine.map(one => one.id));
  }

  async supervise(sql: Sql): Promise<number> {
    const lost = await sql<Claim & { code: string }>(
      `select m.id, m.queue, m.claim::int, case when e.heartbeat_on + make_interval(secs => e.heartbeat_seconds) < clock_timestamp()
         then 'heartbeat_lost' else 'timed_out' end as code
       from pgboss.job e join jobs.job_meta m on m.id = e.id
       where e.state = 'active' and (e.heartbeat_on + make_interval(secs => e.heartbeat_seconds) < clock_timestamp()
         or e.started_on + make_interval(secs => e.expire_seconds) < clock_timestamp()
         or (m.status = 'cancelling' and m.cancel_requested_at < clock_timestamp() - interval '30 seconds'))
       order by m.id limit 100 for update of m skip locked`,
    );
    for (const { code, ...claim } of lost)
      await this.fail(sql, claim, { code, message: 'The worker did not end it in time', permanent: false });
    return lost.length;
  }

  async withdraw(sql: Sql, queue: string, ids: readonly string[]): Promise<void> {
    await this.#boss.cancel(queue, [...ids], { db: dbOf(sql) });
  }

  async redrive(sql: Sql, queue: string, ids: readonly string[]): Promise<void> {
    await sql(
      `update jobs.job_meta set status = 'queued', attempt = 0, finished_at = null, next_attempt_at = null, cancel_requested_at = null, held = false,
         progress_percent = null, progress_step = null, progress_message = null, queued_at = clock_timestamp() where id = any($1)`,
      [ids],
    );
    const back = await sql<{ id: string }>(
      `update pgboss.job set state = 'created', retry_count = 0, started_on = null, completed_on = null, heartbeat_on = null,
         start_after = clock_timestamp(), retry_limit = (select max_attempts - 1 from jobs.job_meta m where m.id = job.id)
       where name = $1 and id = any($2) and state in ('failed', 'cancelled') returning id`,
      [queue, ids],
    );
    const gone = ids.filter(id => !back.some(one => one.id === id));
    if (gone.length) await sql('select jobs.ready($1)', [gone]);
  }

  async forget(sql: Sql, ids: readonly string[]): Promise<void> {
    await sql(`delete from pgboss.job where id = any($1) and state <> 'active'`, [ids]);
    await sql(
      `update pgboss.job set group_id = null, singleton_key = case when singleton_key is not null then id::text end where id = any($1)`,
      [ids],
    );
  }
}

/** What is decided about one schedule is decided by one transaction at a time. */
export const lockSchedule = (sql: Sql, key: string): Promise<unknown> =>
  sql(`select pg_advisory_xact_lock(hashtextextended('schedule:' || $1, 23))`, [key]);

/** A job of a schedule ended: the next occurrence that waits behind it may go. Source: jobs 7.7. */
export async function releaseHeld(sql: Sql, scheduleKey: string | null): Promise<void> {
  if (scheduleKey === null) return;
  await lockSchedule(sql, scheduleKey);
  await sql(
    `select jobs.ready(array(select id from jobs.job_meta where schedule_key = $1 and held and status = 'scheduled' and not exists (
       select 1 from jobs.job_meta o where o.schedule_key = $1 and o.status in ('queued', 'running', 'retrying', 'cancelling'))
       order by occurrence_at limit 1))`,
    [scheduleKey],
  );
}
