import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { RankingPolicy } from '../entities/policy.js';
import { RegistryVersion } from '../entities/registry.js';
import { loopSettings } from './settings.js';

/** A metric before it is stored. */
export interface Computed {
  metric: string;
  value: number;
  details: Record<string, unknown>;
}

/** What every metric of a tick is computed from. */
export interface Analysis {
  ctx: Context;
  now: Date;
  from: Date;
  windowDays: number;
  policies: Map<string, RankingPolicy>;
  versions: Map<string, RegistryVersion>;
}

export const scopeOf = (policy: RankingPolicy, version: RegistryVersion | null = null): Record<string, unknown> => ({
  policy_kind: policy.policyKind,
  policy_key: policy.policyKey,
  brand_id: policy.brandId,
  policy_version: version?.number ?? null,
  registry_id: version?.id ?? null,
});

export async function analysisOf(ctx: Context): Promise<Analysis> {
  const { windowDays } = loopSettings(ctx);
  const policies = await ctx.em.find(RankingPolicy, {});
  const versions = await ctx.em.find(RegistryVersion, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });
  const now = ctx.now();
  return {
    ctx,
    now,
    windowDays,
    from: after(now, -windowDays * DAY_MS),
    policies: new Map(policies.map(one => [one.id, one])),
    versions: new Map(versions.map(one => [one.id, one])),
  };
}
