import type { ServiceHost, Context } from '../../../runtime/request/context.js';
import type { IntelligenceStage } from '../entities/enums.js';
import type { StageGate, StageInfo } from '../entities/loop.js';
import { gateReasons, nextStage, stageOfFlag, type GateMetric } from '../rules/gate.js';
import { stallReasons } from '../rules/liveness.js';
import { loopFacts } from './loop-facts.js';
import { loopSettings, STAGE_FLAG } from './settings.js';

/** The stage in force. Unreadable, unknown or platform down: S0. Source: spec 1, Intelligence loop 7. */
export const stageInForce = (ctx: Context, brandId: string | null = null): IntelligenceStage =>
  stageOfFlag(ctx.flags.read(STAGE_FLAG, brandId === null ? {} : { brandId }));

const seen = new WeakMap<ServiceHost, { stage: IntelligenceStage; since: Date }>();

/** Since when this process has seen a stage in force. */
function sinceOf(ctx: Context, stage: IntelligenceStage): Date {
  const before = seen.get(ctx.host);
  if (before?.stage === stage) return before.since;
  const since = ctx.now();
  seen.set(ctx.host, { stage, since });
  return since;
}

interface Row {
  metric: string;
  state: string;
  ranker: string | null;
  policy: string;
  computed_ms: number;
}

/** Newest records of each policy that is not archived: of the champion where they are of a version, and of no version else. */
const NEWEST = (schema: string): string => `
select distinct on (m.metric, policy, ranker) m.metric, m.details->>'state' as state, m.details->>'ranker' as ranker,
  concat_ws('/', m.details->'scope'->>'policy_kind', m.details->'scope'->>'policy_key', m.details->'scope'->>'brand_id') as policy,
  (extract(epoch from m.computed_at) * 1000)::float8 as computed_ms
from ${schema}.meta_metric m left join ${schema}.registry_version v on v.id = (m.details->'scope'->>'registry_id')::uuid
join ${schema}.ranking_policy p on p.policy_kind = m.details->'scope'->>'policy_kind' and p.policy_key = m.details->'scope'->>'policy_key'
  and p.brand_id is not distinct from (m.details->'scope'->>'brand_id')::uuid and p.status = 'active'
where m.metric in ('join_completeness', 'realized_vs_predicted', 'calibration', 'lift_decay') and (v.id is null or v.status = 'champion')
order by m.metric, policy, ranker, m.computed_at desc`;

/** Whether the metrics allow a stage. Source: intelligence 7.1. */
export async function gateOf(ctx: Context, to: IntelligenceStage): Promise<StageGate> {
  const rows = await ctx.sql<Row>(NEWEST(ctx.schema));
  const metrics: GateMetric[] = rows.map(({ computed_ms, ...row }) => ({ ...row, computedAt: new Date(computed_ms) }));
  const stalled = stallReasons(await loopFacts(ctx), loopSettings(ctx)).length > 0;
  const reasons = gateReasons(to, metrics, stalled, ctx.now());
  return { to, met: reasons.length === 0, reasons };
}

/** The stage in force, and what stands against the next one. */
export async function stageInfo(ctx: Context): Promise<StageInfo> {
  const stage = stageInForce(ctx);
  const value = ctx.flags.read(STAGE_FLAG, {});
  const next = nextStage(stage);
  const flagValue = typeof value === 'string' ? value : null;
  return { stage, flagValue, since: sinceOf(ctx, stage), next: next && (await gateOf(ctx, next)) };
}

/** Gate of the next stage for the flag of the stages; null for every other flag, and at S5. */
export async function gateOfFlag(ctx: Context, key: string): Promise<StageGate | null> {
  const next = key === STAGE_FLAG ? nextStage(stageInForce(ctx)) : null;
  return next && gateOf(ctx, next);
}
