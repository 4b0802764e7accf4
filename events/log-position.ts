import type { Sql } from './outbox.js';
import { GROUPS } from './relay-group.js';

/** A position in the log: one number for each of the eight relay groups. */
export type LogPosition = readonly number[];

const NAMES = GROUPS.map(group => `relay:${group}`);

export const BEGINNING: LogPosition = GROUPS.map(() => 0);

/** The end of the log: what each group has relayed. */
export async function headsOfLog(sql: Sql): Promise<number[]> {
  const [row] = await sql<{ heads: number[] }>(
    'select array(select position::float8 from events.lease where name = any($1) order by name) as heads',
    [NAMES],
  );
  return row!.heads;
}

/** The last position of each group that was dropped with its partition. */
export async function floorOfLog(sql: Sql): Promise<number[]> {
  const [row] = await sql<{ floor: number[] }>('select array(select position::float8 from events.log_floor order by "group") as floor');
  return row!.floor;
}

/** Notes where the relay is; once a minute is enough, and who comes second in a minute notes nothing. */
export async function markPosition(sql: Sql): Promise<void> {
  await sql(
    `insert into events.position_mark (minute, taken_at, places)
     select date_trunc('minute', clock_timestamp()), clock_timestamp(), array(select position from events.lease where name = any($1) order by name)
     on conflict do nothing`,
    [NAMES],
  );
}

/** A position that surely lies before everything that was relayed at `at` or later: the last mark before it, else the beginning. */
export async function positionBefore(sql: Sql, at: Date): Promise<LogPosition> {
  const [row] = await sql<{ position: number[] }>(
    'select places::float8[] as position from events.position_mark where taken_at <= $1::timestamptz order by minute desc limit 1',
    [at.toISOString()],
  );
  return row?.position ?? BEGINNING;
}

/** In each group the one that comes first. */
export const earlierOf = (one: LogPosition, other: LogPosition | null): LogPosition =>
  other ? one.map((position, group) => Math.min(position, other[group]!)) : one;
