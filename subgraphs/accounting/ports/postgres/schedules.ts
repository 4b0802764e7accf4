import { prepared } from '../../../../events/prepared.js';
import type { Context } from '../../../../runtime/request/context.js';
import type { Schedule } from '../../rules/recognition.js';

/** Columns of a schedule in the order of the statements below. */
const AMOUNTS = ['amount', 'recognised', 'drawn', 'owed', 'refundedGross', 'invoiceRefunded', 'invoiceTotal', 'baseRecognised'] as const;
const TIMES = ['startsAt', 'endsAt', 'baseAt', 'recognisedTo', 'nextAt'] as const;
const TEXTS = ['key', 'currency', 'userId', 'subscriptionId'] as const;
const PROPERTIES = [...TEXTS, ...AMOUNTS, ...TIMES] as const;

const columnOf = (property: string): string => property.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
const COLUMNS = PROPERTIES.map(columnOf);

type Row = Record<string, string | null>;
const instant = (text: string | null): Date | null => (text === null ? null : new Date(text));

function scheduleOf(row: Row): Schedule {
  const texts = TEXTS.map(name => [name, row[columnOf(name)]]);
  const amounts = AMOUNTS.map(name => [name, row[columnOf(name)] === null ? null : Number(row[columnOf(name)])]);
  const times = TIMES.map(name => [name, instant(row[columnOf(name)]!)]);
  return Object.fromEntries([...texts, ...amounts, ...times]) as Schedule;
}

const TIME_COLUMNS = TIMES.map(columnOf);
const SELECTED = COLUMNS.map(name =>
  TIME_COLUMNS.includes(name) ? `to_char(${name} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${name}` : name,
).join(', ');

const MADE = `
insert into accounting.recognition_schedule (key, currency) values ($1, $2) on conflict (key) do update set key = excluded.key
returning ${SELECTED}, (select to_char(ended_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from accounting.recognition_end where subscription_id = $3) as ended`;

/** A schedule, locked; made where there is none, so that two that come at once find the same one. With when its subscription ended, if it has. */
export async function lockOrMake(
  ctx: Context,
  key: string,
  currency: string,
  subscriptionId: string | null,
): Promise<{ schedule: Schedule; ended: Date | null }> {
  const [row] = await ctx.sql<Row>(prepared(MADE), [key, currency, subscriptionId]);
  return { schedule: scheduleOf(row!), ended: instant(row!.ended!) };
}

/** Locks schedules in the order of their keys; after the accounts, where those are locked too. */
export async function lockSchedules(ctx: Context, keys: readonly string[]): Promise<Map<string, Schedule>> {
  if (keys.length === 0) return new Map();
  const rows = await ctx.sql<Row>(
    `select ${SELECTED} from accounting.recognition_schedule where key = any($1::text[]) order by accounting.recognition_schedule.key for update`,
    [keys],
  );
  return new Map(rows.map(row => [row.key!, scheduleOf(row)]));
}

const TYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(TIMES.map(name => [name, 'timestamptz'])),
  ...Object.fromEntries(AMOUNTS.map(name => [name, 'bigint'])),
  userId: 'uuid',
  subscriptionId: 'uuid',
};
const UPSERT = `
insert into accounting.recognition_schedule (${COLUMNS.join(', ')})
select * from unnest(${PROPERTIES.map((name, at) => `$${at + 1}::${TYPES[name] ?? 'text'}[]`).join(', ')})
on conflict (key) do update set ${COLUMNS.slice(1)
  .map(name => `${name} = excluded.${name}`)
  .join(', ')}`;

const shown = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);

/** Sends a statement now, or as the last of its transaction. */
type Write = (text: string, params: readonly unknown[]) => Promise<unknown>;

export async function storeSchedules(write: Write, schedules: readonly Schedule[]): Promise<void> {
  if (schedules.length === 0) return;
  await write(
    UPSERT,
    PROPERTIES.map(name => schedules.map(one => shown(one[name]))),
  );
}
