import type { Context } from '../request/context.js';

/** The earliest `at` of a query, for a timer's `next`; null where nothing waits. @param waiting answers instants as `at`. */
export async function earliestOf(ctx: Context, waiting: string, params: readonly unknown[] = []): Promise<Date | null> {
  const text = `select (extract(epoch from min(at)) * 1000)::float8 as ms from (${waiting}) waiting`;
  const [row] = await ctx.sql<{ ms: number | null }>(text, params);
  return row?.ms == null ? null : new Date(Math.round(row.ms));
}
