import type { EntityClass, FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../request/context.js';
import type { Timer } from './clock.js';
import { nextBy, type Waiting } from './due.js';
import { after } from './durations.js';

interface LeasedRows<Row> {
  name: string;
  everySeconds: number;
  entity: EntityClass<Row>;
  /** Property of the time at which a row is due; a claim moves it to the end of the lease. */
  due: keyof Row & string;
  /** Rows that are worked on, a condition in SQL. */
  waiting: string;
  /** Rows that are deleted when they are due, a condition in SQL; none where it is missing. */
  ended?: string;
  /** What a claim sets besides, for example `attempts = attempts + 1`. */
  sets?: string;
  /** Rows per claim. */
  most: number;
  /** A row that has not been worked on by then is taken over. */
  leaseMs: number;
  /** Works on one row, outside any transaction; must move its time on. */
  work(ctx: Context, row: Row): Promise<void>;
}

/** The timer does not care what its rows are; only its `work` does. */
type AnyRows = LeasedRows<any>;

/** Table and columns of the rows, as SQL names them. */
function namesOf(ctx: Context, rows: AnyRows): { table: string; id: string; due: string } {
  const { tableName, primaryKeys, properties } = ctx.em.getMetadata().get(rows.entity);
  const column = (property: string): string => properties[property]!.fieldNames[0]!;
  return { table: `${ctx.schema}.${tableName}`, id: column(primaryKeys[0]!), due: column(rows.due) };
}

function waiting(ctx: Context, rows: AnyRows): Waiting {
  const { table, due } = namesOf(ctx, rows);
  return { text: `select ${due} as at from ${table} where ${rows.ended ? 'true' : rows.waiting}`, params: [] };
}

/** Keys of the rows that it claims, which the worker takes: another process may have claimed rows of the same instant. */
async function claim(ctx: Context, rows: AnyRows, at: Date): Promise<unknown[]> {
  const { table, id, due } = namesOf(ctx, rows);
  const { waiting, ended, sets, most, leaseMs } = rows;
  if (ended) await ctx.sql(`delete from ${table} where ${ended} and ${due} <= $1`, [at.toISOString()]);
  const claimed = await ctx.sql<{ key: unknown }>(
    `with due as (select ${id} as key from ${table} where ${waiting} and ${due} <= $1 order by ${due} limit ${most} for update skip locked)
     update ${table} set ${due} = $2 ${sets ? `, ${sets}` : ''} from due where ${id} = due.key returning due.key`,
    [at.toISOString(), after(at, leaseMs).toISOString()],
  );
  return claimed.map(({ key }) => key);
}

/**
 * A timer over rows that a worker takes one by one, outside any transaction: the lease is the row's own due time, moved on by the claim,
 * so that what its process did not end is taken over when the lease is.
 */
export const leasedRows = <Row extends object>(rows: LeasedRows<Row>): Timer<Context> => ({
  name: rows.name,
  everySeconds: rows.everySeconds,
  next: nextBy(ctx => waiting(ctx, rows)),
  run: async (ctx, _at, claimed) => {
    const [key] = ctx.em.getMetadata().get(rows.entity).primaryKeys;
    const ours = { [key!]: { $in: claimed } } as FilterQuery<NoInfer<Row>>;
    for (const row of await ctx.em.find(rows.entity, ours)) await rows.work(ctx, row as Row);
  },
  claimed: { claim: (ctx, at) => claim(ctx, rows, at), keep: async () => undefined, finish: async () => undefined },
});
