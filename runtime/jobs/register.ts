import { z } from 'zod';
import type { Sql } from '../../events/outbox.js';
import { schemaOf, type Slug } from '../../events/slugs.js';
import type { JobEngine } from './engine.js';
import { nextOf } from '../time/cron.js';
import { settingsOf, type JobQueueDefinition, type JobScheduleDefinition, type QueueSettings } from './queue.js';

/** Columns of a queue's settings; `overridden` names those that an operator has set. */
export const SETTING_COLUMNS: Readonly<Record<keyof QueueSettings, string>> = {
  retryLimit: 'retry_limit',
  retryDelaySeconds: 'retry_delay_seconds',
  retryBackoff: 'retry_backoff',
  timeoutSeconds: 'timeout_seconds',
  heartbeatSeconds: 'heartbeat_seconds',
  concurrency: 'concurrency',
  perKeyConcurrency: 'per_key_concurrency',
  retentionDays: 'retention_days',
};

/** A setting is the code's until an operator overrides it. */
const KEPT = Object.values(SETTING_COLUMNS)
  .map(column => `${column} = case when '${column}' = any(q.overridden) then q.${column} else excluded.${column} end`)
  .join(', ');

/** Brings the tables up to date with the queues that a service declares. */
export async function registerQueues(sql: Sql, engine: JobEngine, slug: Slug, queues: readonly JobQueueDefinition[]): Promise<void> {
  for (const queue of queues) {
    const settings = settingsOf(queue);
    const policy = queue.policy ?? 'standard';
    const values = Object.keys(SETTING_COLUMNS).map(key => settings[key as keyof QueueSettings]);
    const [row] = await sql<Record<string, never>>(
      `insert into jobs.queue_definition as q (name, service, title, policy, payload_schema, ${Object.values(SETTING_COLUMNS).join(', ')})
       values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, $12, $13)
       on conflict (name) do update set title = excluded.title, payload_schema = excluded.payload_schema, ${KEPT} returning *`,
      [queue.name, schemaOf(slug), queue.title, policy, JSON.stringify(z.toJSONSchema(queue.payload)), ...values],
    );
    const kept = Object.fromEntries(
      Object.entries(SETTING_COLUMNS).map(([key, column]) => [key, row![column]]),
    ) as unknown as QueueSettings;
    await engine.define(sql, queue.name, policy, kept);
  }
}

/** What of a schedule is the code's, by column. */
export const scheduleColumns = (one: JobScheduleDefinition) => ({
  queue: one.queue,
  cron: one.cron ?? null,
  every: one.every ?? null,
  time_zone: one.timeZone ?? 'UTC',
  payload: one.payload,
  misfire: one.misfire ?? 'skip',
  grace_seconds: one.graceSeconds ?? 300,
  overlap: one.overlap ?? 'skip',
});

/**
 * Brings the schedules that stand in code up to date. Whether one is paused is the operator's; a changed expression counts from now,
 * and one that code no longer has is gone. Source: jobs 7.6.
 */
export async function registerSchedules(sql: Sql, slug: Slug, schedules: readonly JobScheduleDefinition[], now: Date): Promise<void> {
  for (const one of schedules) {
    const { cron, every, time_zone: timeZone, ...rest } = scheduleColumns(one);
    const next = nextOf({ cron, every, at: null, timeZone, anchor: now }, now);
    if (!next) throw new Error(`the schedule ${one.key} is never due`);
    await sql(
      `insert into jobs.schedule as s (key, queue, cron, every, time_zone, payload, misfire, grace_seconds, overlap, status, source, anchor, next_run_at, created_at)
       values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, 'active', 'code', $10, $11, $10)
       on conflict (key) do update set queue = excluded.queue, payload = excluded.payload, misfire = excluded.misfire,
         grace_seconds = excluded.grace_seconds, overlap = excluded.overlap, cron = excluded.cron, every = excluded.every, time_zone = excluded.time_zone,
         next_run_at = case when (s.cron, s.every, s.time_zone) is not distinct from (excluded.cron, excluded.every, excluded.time_zone)
           then s.next_run_at else excluded.next_run_at end`,
      [
        one.key,
        rest.queue,
        cron,
        every,
        timeZone,
        JSON.stringify(rest.payload),
        rest.misfire,
        rest.grace_seconds,
        rest.overlap,
        now.toISOString(),
        next.toISOString(),
      ],
    );
  }
  await sql(`delete from jobs.schedule where source = 'code' and split_part(key, '.', 1) = $1 and not key = any($2)`, [
    schemaOf(slug),
    schedules.map(one => one.key),
  ]);
}
