import type { Context } from '../../../runtime/request/context.js';
import type { BinSums, ClusterSums } from '../rules/calibration.js';
import type { AgreementSums } from '../rules/lift.js';

/** Closed decisions of a policy whose deadline lies in the window. */
export interface JoinCounts {
  policyId: string;
  joined: number;
  expired: number;
  late: number;
}

const JOINS = (schema: string): string => `
select policy_id as "policyId", count(*) filter (where status = 'joined')::float8 as joined, count(*) filter (where status = 'expired_unjoined')::float8 as expired,
  (select count(*) from ${schema}.late_outcome l join ${schema}.decision o on o.id = l.decision_id where o.policy_id = d.policy_id and l.received_at >= $1)::float8 as late
from ${schema}.decision d where status in ('joined', 'expired_unjoined') and matures_at >= $1 and matures_at < $2 group by policy_id order by policy_id`;

/** What a ranker of a version predicted, served or not, and what came of it; missing outcomes have no reward. */
const PREDICTIONS = (schema: string): string => `
with cohort as (
  select d.registry_id, d.entity_id, d.ranker, d.predicted_outcome, d.shadow_predictions, o.reward from ${schema}.decision d
  left join ${schema}.decision_outcome o on o.decision_id = d.id
  where d.status in ('joined', 'expired_unjoined') and d.matures_at >= $1 and d.matures_at < $2
), prediction as materialized (
  select registry_id, entity_id, ranker, false as shadow, predicted_outcome as p, reward as r from cohort where predicted_outcome is not null
  union all
  select registry_id, entity_id, s.key, true, s.value::float8, reward from cohort, jsonb_each_text(shadow_predictions) s
)`;

const KEYS = `registry_id as "registryId", ranker, shadow`;

/** The window is read once; the sums of all are one row. */
const SUMS = (schema: string): string => `${PREDICTIONS(schema)},
bins as (
  select ${KEYS}, least(9, floor(p * 10 + 1e-12))::int as bin, count(*)::float8 as n, sum(p) as predicted, sum(r) as reward, sum((p - r) ^ 2) as squared,
    sum(p * p) as "predictedSquared", sum(p * r) as product
  from prediction where r is not null group by 1, 2, 3, 4 order by 1, 2, 3, 4
), residuals as (
  select ${KEYS}, count(*)::float8 as groups, sum(n)::float8 as n, sum(s) as sum, sum(s * s) as "sumSquared", sum(s * n) as "sumTimesSize", sum(n * n)::float8 as "sizeSquared"
  from (select registry_id, ranker, shadow, entity_id, count(*)::float8 as n, sum(r - p) as s from prediction where r is not null group by 1, 2, 3, 4) entity
  group by 1, 2, 3 order by 1, 2, 3
), missing as (
  select ${KEYS}, count(*)::float8 as n, sum(p) as predicted from prediction where r is null group by 1, 2, 3
)
select ${['bins', 'residuals', 'missing'].map(list => `(select coalesce(json_agg(l), '[]') from ${list} l) as ${list}`).join(', ')}`;

interface Sums {
  bins: (BinSums & Key)[];
  residuals: (ClusterSums & Key)[];
  missing: (Key & { n: number; predicted: number })[];
}

interface Key {
  registryId: string;
  ranker: string;
  shadow: boolean;
}

/** One ranker of one version, in the window. */
export interface PredictionCohort extends Key {
  bins: BinSums[];
  residuals: ClusterSums;
  missing: { n: number; predicted: number };
}

const sameKey =
  (a: Key) =>
  (b: Key): boolean =>
    a.registryId === b.registryId && a.ranker === b.ranker && a.shadow === b.shadow;

export async function joinCounts(ctx: Context, from: Date, now: Date): Promise<JoinCounts[]> {
  return ctx.sql<JoinCounts>(JOINS(ctx.schema), [from.toISOString(), now.toISOString()]);
}

/** Sums of every ranker of every version with matured outcomes. */
export async function predictionCohorts(ctx: Context, from: Date, now: Date): Promise<PredictionCohort[]> {
  const window = [from.toISOString(), now.toISOString()];
  const [{ bins, residuals, missing }] = (await ctx.sql<Sums>(SUMS(ctx.schema), window)) as [Sums];
  return residuals.map(one => {
    const { registryId, ranker, shadow } = one;
    const none = { n: 0, predicted: 0 };
    return { registryId, ranker, shadow, residuals: one, bins: bins.filter(sameKey(one)), missing: missing.find(sameKey(one)) ?? none };
  });
}

const REWARDS = (schema: string): string => `
select arm, count(*)::float8 as groups, sum(n)::float8 as n, sum(s) as sum, sum(s * s) as "sumSquared", sum(s * n) as "sumTimesSize", sum(n * n)::float8 as "sizeSquared"
from (select d.arm, d.entity_id, count(*)::float8 as n, sum(o.reward) as s from ${schema}.decision d join ${schema}.decision_outcome o on o.decision_id = d.id
  where d.registry_id = $1 and d.status = 'joined' and d.matures_at >= $2 and d.matures_at < $3 group by 1, 2) entity group by 1`;

const AGREEMENT = (schema: string): string => `
select count(*)::float8 as n, sum(w) as w, sum(w * r) as wr, sum(w * w) as ww, sum(w * w * r) as wwr, sum(w * w * r * r) as wwrr
from (select 1 / d.propensity as w, o.reward as r from ${schema}.decision d join ${schema}.decision_outcome o on o.decision_id = d.id
  where d.registry_id = $1 and d.status = 'joined' and d.arm = 'treatment' and d.served_candidate_id = d.baseline_candidate_id
    and d.matures_at >= $2 and d.matures_at < $3) agreeing`;

export interface RewardSums {
  treatment: ClusterSums | null;
  control: ClusterSums | null;
  baseline: AgreementSums | null;
}

/** Rewards of both arms of a version between two deadlines, and where the treatment served what S1 would have. */
export async function rewardSums(ctx: Context, registryId: string, from: Date, to: Date): Promise<RewardSums> {
  const window = [registryId, from.toISOString(), to.toISOString()];
  const arms = await ctx.sql<ClusterSums & { arm: string }>(REWARDS(ctx.schema), window);
  const [agreement] = await ctx.sql<AgreementSums>(AGREEMENT(ctx.schema), window);
  const of = (arm: string): ClusterSums | null => arms.find(one => one.arm === arm) ?? null;
  return { treatment: of('treatment'), control: of('control'), baseline: agreement && agreement.n > 0 ? agreement : null };
}

/** Deadline of the first decision that a version made since an instant; null when none has matured. */
export async function firstDeadline(ctx: Context, registryId: string, since: Date, now: Date): Promise<Date | null> {
  const [row] = await ctx.sql<{ ms: number | null }>(
    `select (extract(epoch from min(matures_at)) * 1000)::float8 as ms from ${ctx.schema}.decision
     where registry_id = $1 and decided_at >= $2 and matures_at < $3 and status in ('joined', 'expired_unjoined')`,
    [registryId, since.toISOString(), now.toISOString()],
  );
  return row?.ms == null ? null : new Date(row.ms);
}
