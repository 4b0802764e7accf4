import type { Context } from '../../../runtime/request/context.js';
import type { FlagUsageReceipt } from '../entities/explanation.js';
import type { ReportFlagUsageInput } from '../inputs/evaluation.js';

const COUNT = `
  insert into platform.flag_usage (flag_key, variant, reason, brand_id, day, count)
  select r.flag, r.variant, r.reason, r.brand, $2::date, sum(r.count) from jsonb_to_recordset($1::jsonb) as r(flag text, variant text, reason text, brand uuid, count bigint)
  join platform.flag f on f.key = r.flag group by 1, 2, 3, 4
  on conflict on constraint flag_usage_counter do update set count = flag_usage.count + excluded.count returning 1`;

/** Adds to the counters of evaluations of the day; never users. */
export async function countUsage(ctx: Context, { counts }: ReportFlagUsageInput): Promise<FlagUsageReceipt> {
  const rows = counts.map(({ brandId: brand = null, variant = null, ...one }) => ({ ...one, variant, brand }));
  const accepted = (await ctx.sql(COUNT, [JSON.stringify(rows), ctx.now().toISOString().slice(0, 10)])).length;
  ctx.audit('feature_flag.usage_reported', null, { accepted });
  ctx.status(202);
  return { accepted };
}
