import { prepared } from '../../events/prepared.js';
import type { Context } from '../request/context.js';

/** The earliest `at` of a query, for a timer's `next`; null where nothing waits. @param waiting answers instants as `at`. */
export async function earliestOf(ctx: Context, waiting: string, params: readonly unknown[] = []): Promise<Date | null> {
  const text = `select (extract(epoch from min(at)) * 1000)::float8 as ms from (${waiting}) waiting`;
  const [row] = await ctx.sql<{ ms: number | null }>(text, params);
  return row?.ms == null ? null : new Date(Math.round(row.ms));
}

/** A query of the instants, as `at`, at which something is due. */
export interface Waiting {
  text: string;
  params: readonly unknown[];
}

/** A timer's `next` by a query, so that those of many timers can be asked together. */
export interface NextByQuery {
  (ctx: Context): Promise<Date | null>;
  waiting(ctx: Context): Waiting;
}

/** @param paramsOf what the query is asked with. */
export const earliest = (text: string, paramsOf: (ctx: Context) => readonly unknown[] = () => []): NextByQuery =>
  nextBy(ctx => ({ text, params: paramsOf(ctx) }));

export const nextBy = (waiting: (ctx: Context) => Waiting): NextByQuery =>
  Object.assign(
    (ctx: Context) => {
      const { text, params } = waiting(ctx);
      return earliestOf(ctx, text, params);
    },
    { waiting },
  );

const numberedFrom = (text: string, first: number): string => text.replaceAll(/\$(\d+)/g, (_, number) => `$${first + Number(number)}`);

/** The earliest `at` of each query, by one statement. */
export async function earliestOfEach(ctx: Context, queries: readonly Waiting[]): Promise<(Date | null)[]> {
  const params: unknown[] = [];
  const each = queries.map(one => {
    const text = numberedFrom(one.text, params.length);
    params.push(...one.params);
    return `(select (extract(epoch from min(at)) * 1000)::float8 from (${text}) waiting)`;
  });
  const [row] = await ctx.sql<{ ms: (number | null)[] }>(prepared(`select array[${each.join(', ')}] as ms`), params);
  return row!.ms.map(ms => (ms === null ? null : new Date(Math.round(ms))));
}
