import { stored } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';
import { brandSettings, type RetestSettings, retestSettings } from '../rules/retest-cycle.js';

/** Key of platform's configuration: `{"reprompt_days": 1..90, "max_prompts": 1..10}`, for all brands or for one. Source: clinical 7.1.3. */
const KEY = 'clinical.retest';
const ASK = stored(
  'query ClinicalRetestConfig($brandId: ID!, $prefix: String) { effectiveConfig(brandId: $brandId, prefix: $prefix) { key value } }',
);

interface Answer {
  effectiveConfig: { key: string; value: unknown }[];
}

async function ofBrand(ctx: Context, brandId: string, base: RetestSettings): Promise<RetestSettings> {
  try {
    const { effectiveConfig } = await ctx.federation.run<Answer>(ASK, { brandId, prefix: KEY });
    return brandSettings(base, effectiveConfig.find(one => one.key === KEY)?.value);
  } catch (error) {
    ctx.log.warn({ err: (error as Error).name, brand: brandId }, 'the re-test settings of a brand could not be read; those of all apply');
    return base;
  }
}

/** Settings of the environment. @throws Error for a value out of range. */
export const settingsOf = (ctx: Context): RetestSettings => retestSettings(name => ctx.host.config.setting(name));

/** Settings by brand, for the brands that have open cycles; asked of platform once per sweep. @param base those of the environment. */
export async function settingsOfBrands(ctx: Context, base: RetestSettings): Promise<(brandId: string) => RetestSettings> {
  const rows = await ctx.sql<{ id: string }>(
    `select distinct brand_id as id from ${ctx.schema}.retest_cycle where status in ('baseline_set', 'prompted')`,
  );
  const known = await Promise.all(rows.map(async ({ id }) => [id, await ofBrand(ctx, id, base)] as const));
  const settings = new Map(known);
  return brandId => settings.get(brandId) ?? base;
}
