import { after, DAY_MS } from '../../../runtime/time/durations.js';
import type { RankingPolicy } from '../entities/policy.js';
import type { RegistryVersion } from '../entities/registry.js';
import { IntelligenceStage, OffPolicyState, RegistryStatus } from '../entities/enums.js';
import { compareWeighed, weigher, type WeighedDecision } from '../rules/evaluation.js';
import { lookAt, type Look } from '../rules/sequential.js';
import { scopeOf, type Analysis, type Computed } from './analysis.js';
import { loggedPages } from './logged-decisions.js';
import { bundleOf } from './registry.js';
import { stageInForce } from './stage.js';

/** No decision waits longer for its outcome. */
const LONGEST_DAYS = 400;
/** A candidate is looked at once in so many days. Source: intelligence 7.2. */
const LOOK_DAYS = 28;

/** Nothing is learned of a candidate while the serving does not explore. */
const SILENT = [IntelligenceStage.S0, IntelligenceStage.S1];

/** A candidate and the champion, at a stage: what looks are looks at. */
interface Contest {
  policy: RankingPolicy;
  stage: IntelligenceStage;
  champion: RegistryVersion;
  candidate: RegistryVersion;
}

/** What is known of a contest from its last record. */
interface History {
  looks: readonly Look[];
  /** Null: no look yet. */
  lookedAt: Date | null;
  /** Where its decisions begin: the same for all looks, so that each adds to the one before. */
  from: Date;
}

interface StoredLooks {
  looks: Look[];
  looked_at: string | null;
  window_from: string;
}

const LAST = (schema: string): string => `
select details from ${schema}.meta_metric where metric = 'challenger_lift' and details->'scope'->>'registry_id' = $1
  and (details->>'champion_version')::int = $2 and details->>'stage' = $3 order by computed_at desc limit 1`;

/** A model is compared on decisions that it has not learned from. */
function firstWindow({ from }: Analysis, { trainingData }: RegistryVersion): Date {
  const oldest = after(from, -LONGEST_DAYS * DAY_MS);
  const unseen = trainingData ? after(new Date(trainingData.dataTo), 1) : oldest;
  return unseen > oldest ? unseen : oldest;
}

async function historyOf(analysis: Analysis, { candidate, champion, stage }: Contest): Promise<History> {
  const { ctx } = analysis;
  const [row] = await ctx.sql<{ details: StoredLooks }>(LAST(ctx.schema), [candidate.id, champion.number, stage]);
  if (!row) return { looks: [], lookedAt: null, from: firstWindow(analysis, candidate) };
  const { looks, looked_at, window_from } = row.details;
  return { looks, lookedAt: looked_at === null ? null : new Date(looked_at), from: new Date(window_from) };
}

const isDue = ({ now }: Analysis, { lookedAt }: History): boolean => lookedAt === null || after(lookedAt, LOOK_DAYS * DAY_MS) <= now;

/** Joined decisions past their maturity, from the same beginning at every look. */
async function weighedOf(
  analysis: Analysis,
  { policy, stage, champion, candidate }: Contest,
  { from }: History,
): Promise<WeighedDecision[]> {
  const { ctx, now } = analysis;
  const own = await bundleOf(ctx, candidate);
  if (!own) return [];
  const weigh = weigher(own, (await bundleOf(ctx, champion)) ?? {}, policy.contextSchema);
  const weighed: WeighedDecision[] = [];
  for await (const page of loggedPages(ctx, { policyId: policy.id, from, to: now, maturedBy: now, stage }))
    weighed.push(...page.map(weigh).filter(one => one !== null));
  return weighed;
}

async function metricOf(analysis: Analysis, contest: Contest): Promise<Computed[]> {
  const history = await historyOf(analysis, contest);
  if (!isDue(analysis, history)) return [];
  const weighed = await weighedOf(analysis, contest, history);
  const { lift, ess, maxWeight, n, supportViolations, state } = compareWeighed(weighed);
  if (!lift || state === OffPolicyState.UNSUPPORTED) return [];
  const isLook = state === OffPolicyState.CONCLUSIVE;
  const seen = isLook ? lookAt(lift, history.looks) : null;
  const details = {
    scope: scopeOf(contest.policy, contest.candidate),
    state: isLook ? 'healthy' : 'inconclusive',
    n,
    window_days: analysis.windowDays,
    window_from: history.from.toISOString(),
    ci_low: seen?.low ?? null,
    ci_high: seen?.high ?? null,
    ess,
    max_weight: maxWeight,
    support_violations: supportViolations,
    champion_version: contest.champion.number,
    stage: contest.stage,
    looks: seen ? [...history.looks, seen.look] : history.looks,
    looked_at: isLook ? analysis.now.toISOString() : null,
  };
  return [{ metric: 'challenger_lift', value: lift.value, details }];
}

const isCandidate = ({ status, artifactErasedAt }: RegistryVersion): boolean => status === RegistryStatus.CANDIDATE && !artifactErasedAt;

/** DR estimate of each candidate minus the champion, at the stage in force, each once in 28 days. Source: intelligence 7.1, 7.2. */
export async function challengerMetrics(analysis: Analysis): Promise<Computed[]> {
  const versions = [...analysis.versions.values()];
  const found: Computed[] = [];
  for (const candidate of versions.filter(isCandidate)) {
    const policy = analysis.policies.get(candidate.policyId)!;
    const stage = stageInForce(analysis.ctx, policy.brandId);
    if (SILENT.includes(stage)) continue;
    const champion = versions.find(one => one.policyId === policy.id && one.status === RegistryStatus.CHAMPION)!;
    found.push(...(await metricOf(analysis, { policy, stage, champion, candidate })));
  }
  return found;
}
