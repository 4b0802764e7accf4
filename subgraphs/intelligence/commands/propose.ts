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
type Advice = Pick<Trip, 'kind' | 'threshold' | 'suggestedVersion'>;
type Advise = (
  record: { value: number; details: Details },
  version: RegistryVersion,
  ctx: Context,
) => Promise<Advice | null> | Advice | null;

const serves = ({ shadow }: Details, { status }: RegistryVersion): boolean => status === RegistryStatus.CHAMPION && shadow !== true;

/** What a metric of a version asks for; shadow records and versions that no longer serve ask for nothing. */
const ADVICE: Readonly<Record<string, Advise>> = {
  async realized_vs_predicted({ details }, version, ctx) {
    const { n, ci_low, ci_high } = details;
    if (!serves(details, version) || ci_low === null || !honestyTrips(n, ci_low, ci_high)) return null;
    const suggestedVersion = await priorChampion(ctx, version);
    const kind = suggestedVersion === null ? LoopProposalKind.RETRAIN : LoopProposalKind.ROLLBACK;
    return { kind, threshold: HONESTY_HEALTHY, suggestedVersion };
  },
  calibration: ({ value, details }, version) =>
    serves(details, version) && calibrationTrips(value, details.n, details.noise)
      ? { kind: LoopProposalKind.RECALIBRATE, threshold: CALIBRATION_TRIPS, suggestedVersion: null }
      : null,
  lift_decay: ({ details }, version) =>
    serves(details, version) && details.trips === true
      ? { kind: LoopProposalKind.RETRAIN, threshold: LIFT_DECAY_TRIPS, suggestedVersion: null }
      : null,
  challenger_lift: ({ details }, { status, number }) =>
    status === RegistryStatus.CANDIDATE && details.ci_low > 0 && details.ess >= MIN_ESS
      ? { kind: LoopProposalKind.PROMOTE, threshold: 0, suggestedVersion: number }
      : null,
};

const isOf = (scope: Details, one: RankingPolicy): boolean =>
  one.policyKind === scope.policy_kind && one.policyKey === scope.policy_key && one.brandId === scope.brand_id;

const investigation = (policyId: string): Pick<Trip, 'policyId' | 'registryId' | 'kind' | 'suggestedVersion'> => ({
  policyId,
  registryId: null,
  kind: LoopProposalKind.INVESTIGATE,
  suggestedVersion: null,
});

async function tripOf(
  ctx: Context,
  { metric, value, details }: MetaMetric,
  versions: readonly RegistryVersion[],
  policies: readonly RankingPolicy[],
): Promise<Trip | null> {
  const { scope, ...evidence } = details as Details;
  const common = { metric, observed: value, evidence };
  const version = versions.find(({ id }) => id === scope.registry_id);
  if (version) {
    const advice = await ADVICE[metric]?.({ value, details }, version, ctx);
    return advice ? { ...common, ...advice, policyId: version.policyId, registryId: version.id } : null;
  }
  if (metric !== 'join_completeness' || value >= JOIN_FLOOR) return null;
  const policy = policies.find(one => isOf(scope, one))!;
  return { ...common, ...investigation(policy.id), threshold: JOIN_FLOOR };
}

/** Policies whose joins have collapsed; the other two reasons of a stall are for operators, not for proposals. */
async function collapses(ctx: Context, policies: readonly RankingPolicy[]): Promise<Trip[]> {
  const facts = await loopFacts(ctx);
  const found: Trip[] = [];
  for (const { id } of policies) {
    const closed = await closedOf(ctx, id);
    if (!stallReasons({ ...facts, ...closed }, loopSettings(ctx)).includes('join_rate_collapse')) continue;
    const observed = closed.joined7 / closed.closed7 / (closed.joined28 / closed.closed28);
    found.push({ ...investigation(id), metric: 'loop_liveness', threshold: 0.5, observed, evidence: { ...closed } });
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
  const byId = new Map(policies.map(policy => [policy.id, policy]));
  let raised = 0;
  for (const trip of trips) {
    if (await isQuiet(ctx, trip)) continue;
    raise(ctx, trip, byId.get(trip.policyId)!, tickId);
    raised++;
  }
  return { tripped: trips.length, raised };
}
