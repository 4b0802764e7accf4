import type { Context } from '../../../runtime/request/context.js';

/** The instant that a statement's one column `at` holds, null for none; to the millisecond, which is what is stored. */
export async function earliest(ctx: Context, select: string, values: readonly unknown[] = []): Promise<Date | null> {
  const [row] = await ctx.sql<{ at: number | null }>(`select extract(epoch from at)::float8 * 1000 as at from (${select}) as due`, [
    ...values,
  ]);
  return row?.at == null ? null : new Date(Math.round(row.at));
}
