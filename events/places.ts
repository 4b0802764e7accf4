import type { Sql } from './outbox.js';
import { GROUPS } from './relay-group.js';

/** A place in the log: a position in each of the eight relay groups. */
export type Places = readonly number[];

const NAMES = GROUPS.map(group => `relay:${group}`);

export const BEGINNING: Places = GROUPS.map(() => 0);

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
export async function markPlaces(sql: Sql): Promise<void> {
  await sql(
    `insert into events.position_mark (minute, taken_at, places)
     select date_trunc('minute', clock_timestamp()), clock_timestamp(), array(select position from events.lease where name = any($1) order by name)
     on conflict do nothing`,
    [NAMES],
  );
}

/** A place that surely lies before everything that was relayed at `at` or later: the last mark before it, else the beginning. */
export async function placesBefore(sql: Sql, at: Date): Promise<Places> {
  const [row] = await sql<{ places: number[] }>(
    'select places::float8[] as places from events.position_mark where taken_at <= $1::timestamptz order by minute desc limit 1',
    [at.toISOString()],
  );
  return row?.places ?? BEGINNING;
}

/** In each group the one that comes first. */
export const earlierOf = (one: Places, other: Places | null): Places =>
  other ? one.map((place, group) => Math.min(place, other[group]!)) : one;
