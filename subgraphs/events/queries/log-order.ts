import { BEGINNING, headsOfLog, type LogPosition } from '../../../events/log-position.js';
import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor } from '../../../runtime/request/paging.js';
import { Conditions } from './conditions.js';
import { tailOf } from './log-tail.js';

/** Where a row stands in the order of the relay. */
export interface LogRow {
  group: number;
  position: number;
  sequence: number;
}

export interface LogRead {
  /** Of `o`, with `sequence`. */
  columns: string;
  filter(conditions: Conditions): Conditions;
  /** Most rows. */
  first: number;
}

interface Page<Row> {
  rows: Row[];
  /** Where the next page begins. */
  next: LogPosition;
  /** There are rows that did not fit. */
  more: boolean;
}

const GROUPS = 8;

export const cursorOf = (position: LogPosition): string => Buffer.from(JSON.stringify(position)).toString('base64url');

/** A cursor: positions have no gaps and follow the commits, so nothing that commits late is skipped. `now` is the end, nothing the beginning. @throws Problem invalid_request for another list's cursor. */
export async function positionOf(ctx: Context, cursor: string | null | undefined): Promise<LogPosition> {
  if (!cursor) return BEGINNING;
  if (cursor === 'now') return headsOfLog(ctx.sql);
  const position = decodeCursor(cursor, GROUPS);
  if (!position.every(at => Number.isSafeInteger(at) && (at as number) >= 0)) decodeCursor('', GROUPS);
  return position as LogPosition;
}

/** One row per event, or per group without one; group heads and rows come from one snapshot. The position is the first parameter. */
const select = (columns: string, where: string, limit: number): string => `
select g.n as "group", l.position::float8 as head, r.* from generate_series(0, ${GROUPS - 1}) g(n) join events.lease l on l.name = 'relay:' || g.n
left join lateral (select o.position::float8 as position, ${columns} from events.outbox o
  where (o.slot >> 3) = g.n and o.position > ($1::bigint[])[g.n + 1] and ${where} order by o.position limit ${limit}) r on true
order by g.n, r.position`;

type Found<Row> = { [Key in keyof Row]: Row[Key] | null } & { group: number; head: number };

/** The next page after a position, per group in relay order. */
export async function readLog<Row extends LogRow>(
  ctx: Context,
  { columns, filter, first }: LogRead,
  from: LogPosition,
): Promise<Page<Row>> {
  const conditions = filter(new Conditions().add('?::bigint[] is not null', from));
  const found = await ctx.sql<Found<Row>>(select(columns, conditions.sql, first + 1), conditions.values);
  const groups = Array.from({ length: GROUPS }, (_, group) => found.filter(row => row.group === group));
  const left = groups.map(rows => rows.filter(({ position }) => position !== null) as unknown as Row[]);
  const rows = takeEarliest(left, first);
  const next = groups.map((all, group) => positionAfter(all[0]!.head, left[group]!, rows, group, from[group]!));
  return { rows, next, more: left.some(one => one.length > 0) };
}

/** Merges the groups by sequence; takes the first of each only, so that what is left follows what was taken. */
function takeEarliest<Row extends LogRow>(groups: Row[][], first: number): Row[] {
  const taken: Row[] = [];
  while (taken.length < first) {
    const waiting = groups.filter(rows => rows.length > 0);
    if (waiting.length === 0) break;
    taken.push(waiting.reduce((best, rows) => (rows[0]!.sequence < best[0]!.sequence ? rows : best)).shift()!);
  }
  return taken;
}

/** A group that was read to its end goes on from there, whatever the filter left out. */
function positionAfter<Row extends LogRow>(
  head: number,
  left: readonly Row[],
  taken: readonly Row[],
  group: number,
  before: number,
): number {
  if (left.length === 0) return Math.max(head, before);
  return taken.findLast(row => row.group === group)?.position ?? before;
}

/** The next page; where it is empty, waits at most `seconds` for one that is not. */
export async function followLog<Row extends LogRow>(ctx: Context, read: LogRead, from: LogPosition, seconds: number): Promise<Page<Row>> {
  const deadline = performance.now() + seconds * 1000;
  for (let page = await readLog<Row>(ctx, read, from); ; page = await readLog<Row>(ctx, read, page.next)) {
    const left = deadline - performance.now();
    if (page.rows.length > 0 || left <= 0 || !(await tailOf(ctx.host).grownBeyond(total(page.next), left))) return page;
  }
}

const total = (position: LogPosition): number => position.reduce((sum, at) => sum + at, 0);
