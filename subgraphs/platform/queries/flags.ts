import type { Context } from '../../../runtime/request/context.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import type { StaleFlag } from '../entities/explanation.js';
import { FeatureFlag, FlagRule } from '../entities/flag.js';
import type { FeatureFlagsArgs } from '../inputs/lists.js';
import { stateOf } from '../rules/flag-state.js';
import { ONE_RESULT_DAYS, stalenessOf } from '../rules/staleness.js';

export function flagsBy(ctx: Context, { archived, keys, owner, ...asked }: FeatureFlagsArgs): Promise<FeatureFlag[]> {
  const where = {
    ...(asked.protected != null && { protected: asked.protected }),
    ...(keys && { key: { $in: keys } }),
    ...(owner != null && { owner }),
  };
  return ctx.em.find(FeatureFlag, { ...where, archivedAt: archived ? { $ne: null } : null }, { orderBy: { key: 'asc' } });
}

/** Rules of each flag, in their order. */
export async function rulesOf(ctx: Context, keys: readonly string[]): Promise<FlagRule[][]> {
  const rows = await ctx.em.find(FlagRule, { flagKey: { $in: [...keys] } }, { orderBy: { position: 'asc' } });
  return keys.map(key => rows.filter(row => row.flagKey === key));
}

const USED = `
  select flag_key, count(distinct variant)::int as variants from platform.flag_usage where day > $1::date - ${ONE_RESULT_DAYS} group by flag_key`;

/** Flags past their end, or with one result for everybody for 30 days; permanent ones excepted. */
export async function staleFlags(ctx: Context): Promise<StaleFlag[]> {
  const flags = await ctx.em.find(FeatureFlag, { archivedAt: null, permanent: false }, { orderBy: { key: 'asc' } });
  const keys = flags.map(({ key }) => key);
  const rules = await rulesOf(ctx, keys);
  const today = ctx.now().toISOString().slice(0, 10);
  const usage = await ctx.sql<{ flag_key: string; variants: number }>(USED, [today]);
  const judged = flags.map((flag, index) => {
    const days = (ctx.now().getTime() - flag.changedAt.getTime()) / DAY_MS;
    const used = usage.find(row => row.flag_key === flag.key)?.variants ?? null;
    return { flag, reasons: stalenessOf(stateOf(flag, rules[index]!), { days, used, today }) };
  });
  return judged.filter(({ reasons }) => reasons.length > 0);
}
