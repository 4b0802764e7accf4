import { proposalRaised } from '../../../events/catalogue/intelligence.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { newId } from '../../../runtime/data/ids.js';
import { LoopProposal, MetaMetric } from '../entities/loop.js';
import { RankingPolicy } from '../entities/policy.js';
import { RegistryVersion } from '../entities/registry.js';
import { LoopProposalKind, RegistryStatus } from '../entities/enums.js';
import { CALIBRATION_TRIPS, calibrationTrips, HONESTY_HEALTHY, honestyTrips } from '../rules/calibration.js';
import { LIFT_DECAY_TRIPS } from '../rules/lift.js';
import { JOIN_FLOOR, stallReasons } from '../rules/liveness.js';
import { MIN_ESS } from '../rules/off-policy.js';
import { closedOf, loopFacts } from '../queries/loop-facts.js';
import { loopSettings } from '../queries/settings.js';

/** A rejected advice is not repeated for a week. Source: intelligence 3. */
const QUIET_DAYS = 7;

/** A threshold that was crossed. */
interface Trip {
  policyId: string;
  registryId: string | null;
  kind: LoopProposalKind;
  metric: string;
  threshold: number;
  observed: number;
  evidence: Record<string, unknown>;
  suggestedVersion: number | null;
}

/** The champion before this one, if it can serve again. */
async function priorChampion(ctx: Context, { policyId, id }: RegistryVersion): Promise<number | null> {
  const where = { policyId, id: { $ne: id }, championedAt: { $ne: null }, artifactErasedAt: null, status: RegistryStatus.RETIRED };
  const [prior] = await ctx.em.find(RegistryVersion, where, { orderBy: { retiredAt: 'desc', number: 'desc' }, limit: 1 });
  return prior?.number ?? null;
}

type Details = Record<string, any>;

/** What a metric of a version asks for; shadow records and versions that no longer serve ask for nothing. */
async function tripOfVersion(
  ctx: Context,
  { metric, value, details }: MetaMetric,
  version: RegistryVersion,
): Promise<Omit<Trip, 'policyId' | 'registryId' | 'metric' | 'observed' | 'evidence'> | null> {
  const { n, ci_low, ci_high, shadow, trips, ess, noise } = details as Details;
  const serving = version.status === RegistryStatus.CHAMPION && shadow !== true;
  if (metric === 'realized_vs_predicted' && serving && ci_low !== null && honestyTrips(n, ci_low, ci_high)) {
    const prior = await priorChampion(ctx, version);
    return {
      kind: prior === null ? LoopProposalKind.RETRAIN : LoopProposalKind.ROLLBACK,
      threshold: HONESTY_HEALTHY,
      suggestedVersion: prior,
    };
  }
  if (metric === 'calibration' && serving && calibrationTrips(value, n, noise))
    return { kind: LoopProposalKind.RECALIBRATE, threshold: CALIBRATION_TRIPS, suggestedVersion: null };
  if (metric === 'lift_decay' && serving && trips === true)
    return { kind: LoopProposalKind.RETRAIN, threshold: LIFT_DECAY_TRIPS, suggestedVersion: null };
  if (metric === 'challenger_lift' && version.status === RegistryStatus.CANDIDATE && ci_low > 0 && ess >= MIN_ESS)
    return { kind: LoopProposalKind.PROMOTE, threshold: 0, suggestedVersion: version.number };
  return null;
}

async function tripOf(
  ctx: Context,
  record: MetaMetric,
  versions: readonly RegistryVersion[],
  policies: readonly RankingPolicy[],
): Promise<Trip | null> {
  const { scope, ...evidence } = record.details as Details;
  const common = { metric: record.metric, observed: record.value, evidence };
  const version = versions.find(({ id }) => id === scope.registry_id);
  if (version) {
    const trip = await tripOfVersion(ctx, record, version);
    return trip && { ...common, ...trip, policyId: version.policyId, registryId: version.id };
  }
  if (record.metric !== 'join_completeness' || record.value >= JOIN_FLOOR) return null;
  const policy = policies.find(
    one => one.policyKind === scope.policy_kind && one.policyKey === scope.policy_key && one.brandId === scope.brand_id,
  )!;
  return {
    ...common,
    policyId: policy.id,
    registryId: null,
    kind: LoopProposalKind.INVESTIGATE,
    threshold: JOIN_FLOOR,
    suggestedVersion: null,
  };
}

/** Policies whose joins have collapsed; the other two reasons of a stall are for operators, not for proposals. */
async function collapses(ctx: Context, policies: readonly RankingPolicy[]): Promise<Trip[]> {
  const facts = await loopFacts(ctx);
  const found: Trip[] = [];
  for (const { id } of policies) {
    const closed = await closedOf(ctx, id);
    if (!stallReasons({ ...facts, ...closed }, loopSettings(ctx)).includes('join_rate_collapse')) continue;
    const observed = closed.joined7 / closed.closed7 / (closed.joined28 / closed.closed28);
    found.push({
      policyId: id,
      registryId: null,
      kind: LoopProposalKind.INVESTIGATE,
      metric: 'loop_liveness',
      threshold: 0.5,
      observed,
      evidence: { ...closed },
      suggestedVersion: null,
    });
  }
  return found;
}

/** No open proposal of the same policy, metric and version, and no rejection of it in the last week. */
async function isQuiet(ctx: Context, { policyId, metric, registryId }: Trip): Promise<boolean> {
  const rows = await ctx.sql(
    `select 1 from ${ctx.schema}.loop_proposal where policy_id = $1 and metric = $2 and registry_id is not distinct from $3::uuid
     and (status in ('raised', 'approved') or (status = 'rejected' and reviewed_at > $4)) limit 1`,
    [policyId, metric, registryId, after(ctx.now(), -QUIET_DAYS * DAY_MS).toISOString()],
  );
  return rows.length > 0;
}

function raise(ctx: Context, trip: Trip, policy: RankingPolicy, tickId: string): void {
  const { policyKind, policyKey, brandId } = policy;
  const raisedAt = ctx.now();
  const proposal = Object.assign(new LoopProposal(), { id: newId(), ...trip, policyKind, policyKey, brandId, tickId, raisedAt });
  ctx.em.persist(proposal);
  const { metric, threshold, observed, registryId } = trip;
  ctx.emit(
    proposalRaised,
    {
      proposal_id: proposal.id,
      policy_kind: policyKind,
      policy_key: policyKey,
      metric,
      threshold,
      observed,
      registry_id: registryId,
      raised_at: raisedAt.toISOString(),
    },
    { subject: `ranking_policy:${policy.id}` },
  );
  ctx.audit('loop_proposal.raised', proposal.id, { metric, kind: trip.kind });
}

/** Raises a proposal for each metric of this tick that trips; nothing that is served changes. Source: spec 1, Intelligence loop 4 and 6. */
export async function propose(ctx: Context, tickId: string): Promise<Record<string, number>> {
  const records = await ctx.em.find(MetaMetric, { tickId }, { orderBy: { id: 'asc' } });
  const [versions, policies] = [await ctx.em.find(RegistryVersion, {}), await ctx.em.find(RankingPolicy, {})];
  const trips = await collapses(ctx, policies);
  for (const record of records) {
    const trip = await tripOf(ctx, record, versions, policies);
    if (trip) trips.push(trip);
  }
  let raised = 0;
  for (const trip of trips) {
    if (await isQuiet(ctx, trip)) continue;
    raise(
      ctx,
      trip,
      policies.find(({ id }) => id === trip.policyId)!,
      tickId,
    );
    raised++;
  }
  return { tripped: trips.length, raised };
}
