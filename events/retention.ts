import type pg from 'pg';
import { errorOf, type EventLog } from './log.js';
import type { Sql } from './outbox.js';
import { markPosition } from './log-position.js';

export interface RetentionOptions {
  /** Connections that act as `platform_events`. */
  pool: pg.Pool;
  log: EventLog;
  /** Days that the log is kept; setting `EVENTS_LOG_RETENTION_DAYS`, default 30. */
  logDays?: number;
}

const LOG_DAYS = 30;
/** Longer than the log, so that a replay from the log is always recognised. */
const INBOX_DAYS = 35;
const RESOLVED_DAYS = 90;
/** A discarded one lives as long as its event can be replayed: it says that it may not. */
const FORGET_LETTERS = `
delete from events.dead_letter d where d.status in ('resolved', 'discarded') and d.resolved_at < clock_timestamp() - $1 * interval '1 day'
  and (d.status = 'resolved' or not exists (select from events.outbox o where o.id = d.event_id))`;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Makes coming partitions and drops what is past its time; open dead letters stay until they are resolved. System time. */
export async function retain({ pool, logDays = LOG_DAYS }: RetentionOptions): Promise<void> {
  await pool.query('select events.roll_outbox($1)', [logDays]);
  await pool.query('select events.roll_partitions($1)', [INBOX_DAYS]);
  await pool.query(FORGET_LETTERS, [RESOLVED_DAYS]);
  await pool.query(`delete from events.position_mark where minute < clock_timestamp() - $1 * interval '1 day'`, [INBOX_DAYS]);
  await pool.query(`delete from events.suspect where started_at < clock_timestamp() - $1 * interval '1 day'`, [INBOX_DAYS]);
}

/** Calls `work` now and again after each pause. */
function repeat(work: () => Promise<void>, everyMs: number): () => Promise<void> {
  let running = work();
  const timer = setInterval(() => {
    running = running.then(work);
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Runs retention now and hourly, and notes every minute where the relay is. */
export function startRetention(options: RetentionOptions): { stop(): Promise<void> } {
  const { pool, log } = options;
  const sql: Sql = async <Row>(text: string, params: readonly unknown[] = []) => (await pool.query(text, [...params])).rows as Row[];
  const stops = [
    repeat(
      () => retain(options).catch(error => log.warn({ err: errorOf(error) }, 'retention of the log failed; it is tried again in an hour')),
      HOUR_MS,
    ),
    repeat(
      () =>
        markPosition(sql).catch(error => log.warn({ err: errorOf(error) }, 'the position of the relay was not noted; it is tried again')),
      MINUTE_MS,
    ),
  ];
  return { stop: async () => void (await Promise.all(stops.map(stop => stop()))) };
}
