import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { MetaMetric } from '../entities/loop.js';
import type { MetaMetricsArgs } from '../inputs/governance.js';
import { liveness } from '../rules/liveness.js';
import { loopFacts } from './loop-facts.js';
import { loopSettings } from './settings.js';

/** Stands before every stored record of its instant. */
const LIVE_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Liveness as it is at the moment of reading: a dead orchestrator cannot report itself alive. Source: intelligence 4.1. */
async function liveRecord(ctx: Context): Promise<MetaMetric> {
  const { value, details } = liveness(await loopFacts(ctx), loopSettings(ctx));
  return Object.assign(new MetaMetric(), { id: LIVE_ID, metric: 'loop_liveness', value, details, computedAt: ctx.now() });
}

/** One record per metric and scope, the newest; liveness comes fresh. */
const NEWEST = (schema: string): string => `
select distinct on (metric, details->'scope', details->>'ranker', details->>'shadow') * from ${schema}.meta_metric where metric <> 'loop_liveness'
order by metric, details->'scope', details->>'ranker', details->>'shadow', computed_at desc, id desc`;

interface Row {
  id: string;
  metric: string;
  value: number;
  details: Record<string, unknown>;
  ms: number;
}

function beyond(after: string | null | undefined): [string | null, string | null] {
  if (!after) return [null, null];
  const [at, id] = decodeCursor(after, 2);
  const valid = typeof at === 'string' && !Number.isNaN(Date.parse(at)) && typeof id === 'string' && /^[0-9a-f-]{36}$/.test(id);
  if (!valid) decodeCursor('', 2);
  return [at as string, id as string];
}

async function storedRecords(ctx: Context, args: MetaMetricsArgs, limit: number): Promise<MetaMetric[]> {
  const source = args.history ? `${ctx.schema}.meta_metric` : `(${NEWEST(ctx.schema)})`;
  const rows = await ctx.sql<Row>(
    `select id, metric, value, details, (extract(epoch from computed_at) * 1000)::float8 as ms from ${source} m
     where ($1::text is null or metric = $1) and ($2::text is null or details->'scope'->>'policy_kind' = $2) and ($3::text is null or details->'scope'->>'policy_key' = $3)
       and ($4::text is null or details->'scope'->>'brand_id' = $4) and ($5::int is null or (details->'scope'->>'policy_version')::int = $5)
       and ($6::timestamptz is null or computed_at >= $6) and ($7::timestamptz is null or computed_at < $7)
       and ($8::timestamptz is null or (computed_at, id) < ($8::timestamptz, $9::uuid))
     order by computed_at desc, id desc limit $10`,
    [
      args.metric ?? null,
      args.policyKind ?? null,
      args.policyKey ?? null,
      args.brandId?.toLowerCase() ?? null,
      args.policyVersion ?? null,
      args.from?.toISOString() ?? null,
      args.to?.toISOString() ?? null,
      ...beyond(args.after),
      limit,
    ],
  );
  return rows.map(({ ms, ...row }) => Object.assign(new MetaMetric(), row, { computedAt: new Date(ms) }));
}

/** Liveness belongs to the loop, not to a policy, and is that of the moment of reading. */
const asksLiveness = ({ metric, history, after, policyKind, policyKey, brandId, policyVersion, to }: MetaMetricsArgs): boolean =>
  !history &&
  !after &&
  (metric ?? 'loop_liveness') === 'loop_liveness' &&
  [policyKind, policyKey, brandId, policyVersion, to].every(one => one == null);

/** The newest per metric and scope, or all with `history`. @throws Problem invalid_request. */
export async function metricsPage(ctx: Context, args: MetaMetricsArgs): Promise<Connection<MetaMetric>> {
  const live = asksLiveness(args) ? [await liveRecord(ctx)] : [];
  const stored = await storedRecords(ctx, args, args.first + 1 - live.length);
  return toConnection([...live, ...stored], args.first, row => [row.computedAt.toISOString(), row.id]);
}
