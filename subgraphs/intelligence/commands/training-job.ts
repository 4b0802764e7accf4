import { z } from 'zod';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { jobQueue } from '../../../runtime/jobs/queue.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { TrainingRun } from '../entities/evaluation.js';
import { RankingPolicy } from '../entities/policy.js';
import { RegistryVersion, type StoredTraining } from '../entities/registry.js';
import { OffPolicyEstimatorName, type Ranker, RegistryStatus, TrainingRunStatus } from '../entities/enums.js';
import { MODELS, type Bundle } from '../rules/bundle.js';
import { compare, type LoggedDecision } from '../rules/evaluation.js';
import { scoreBy } from '../rules/scorers.js';
import { heldOut, MIN_OUTCOMES, offlineMetrics, train, type TrainingRow } from '../rules/training.js';
import { loggedPages, type ReadDecision } from '../queries/logged-decisions.js';
import { bundleOf, championOf } from '../queries/registry.js';
import { addVersion, lockPolicy } from './registry.js';

/** Changes with what training does, so that of each version it is known which code made it. */
const CODE_REVISION = 'intelligence-training-2';
/** Training reads joined decisions, newest first, up to here. */
const MOST_ROWS = 100_000;

const trainingRow = ({ question, servedId, reward }: LoggedDecision): TrainingRow => ({
  context: question.context,
  features: question.features,
  served: question.candidates.find(({ id }) => id === servedId)!,
  reward,
});

/** Erasures that the data of a training is free of. */
type Erasures = Pick<StoredTraining, 'erasuresHonouredUpTo' | 'erasures'>;

async function erasuresSoFar(ctx: Context): Promise<Erasures> {
  const [row] = await ctx.sql<Erasures>(
    `select to_char(max(erased_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "erasuresHonouredUpTo", count(*)::int as erasures from ${ctx.schema}.entity_tombstone`,
  );
  return row!;
}

const honours = (data: Erasures, now: Erasures): boolean =>
  data.erasures >= now.erasures && (data.erasuresHonouredUpTo ?? '') >= (now.erasuresHonouredUpTo ?? '');

/**
 * Wipes what older versions may have learned of entities that are erased since; their rows stay, so that decisions keep their version.
 * The champion is wiped at the first training after it retires. Source: spec 1, Personal health data; intelligence 7.3.22.
 */
async function eraseArtifacts(tx: Context, policyId: string): Promise<void> {
  const now = await erasuresSoFar(tx);
  const where = { policyId, status: { $in: [RegistryStatus.RETIRED, RegistryStatus.CANDIDATE] }, artifactErasedAt: null };
  for (const version of await tx.em.find(RegistryVersion, where)) {
    if (!version.trainingData || honours(version.trainingData, now)) continue;
    version.artifactErasedAt = tx.now();
    await tx.sql(`delete from ${tx.schema}.registry_artifact where registry_id = $1`, [version.id]);
    tx.audit('registry_version.artifact_erased', version.id, { version: version.number });
  }
}

/** What a training reads: the ledger as it is, and which erasures it is free of. */
interface Material {
  policy: RankingPolicy;
  champion: Bundle;
  /** Read before the decisions: an erasure between the two is owed, not forgotten. */
  erasures: Erasures;
  logged: readonly ReadDecision[];
  /** When it was read. */
  at: Date;
}

async function materialOf(ctx: Context, { policyId, dataFrom, dataTo }: TrainingRun): Promise<Material> {
  const policy = await ctx.em.findOneOrFail(RankingPolicy, { id: policyId });
  const erasures = await erasuresSoFar(ctx);
  const logged: ReadDecision[] = [];
  const query = { policyId, from: dataFrom, to: dataTo, maturedBy: null, most: MOST_ROWS };
  for await (const page of loggedPages(ctx, query)) logged.push(...page);
  return { policy, champion: (await bundleOf(ctx, await championOf(ctx, policyId))) ?? {}, erasures, logged, at: ctx.now() };
}

const settingOf = ({ segmentKeys, contextSchema, candidateSchema }: RankingPolicy, { rankers, seed }: TrainingRun) => ({
  rankers,
  segmentKeys,
  contextSchema,
  candidateSchema,
  seed,
});

/** Held-out ECE, Brier and log loss of each model part, and on what has matured the value by DR, of what the other rows alone would teach. */
function offlineOf({ policy, champion, logged, at }: Material, run: TrainingRun): Record<string, unknown> {
  const out = heldOut(logged.length, run.seed);
  const [kept, test] = [logged.filter((_, index) => !out[index]), logged.filter((_, index) => out[index])];
  const bundle = train(kept.map(trainingRow), settingOf(policy, run));
  const predicted = (ranker: Ranker, row: TrainingRow): number => scoreBy(ranker, bundle, policy.segmentKeys, row, row.served).prediction!;
  const rows = test.map(trainingRow);
  const parts = MODELS.filter(ranker => bundle[ranker] !== undefined).map(
    ranker => [ranker, offlineMetrics(rows.map(row => ({ predicted: predicted(ranker, row), reward: row.reward })))] as const,
  );
  const matured = test.filter(({ maturesAt }) => maturesAt < at);
  const { estimators, n, ess, state } = compare(matured, bundle, champion, policy.contextSchema);
  const dr = estimators.find(({ name }) => name === OffPolicyEstimatorName.DR);
  return { ...Object.fromEntries(parts), dr: dr ? { value: dr.value, ci_low: dr.ciLow, ci_high: dr.ciHigh, n, ess, state } : null };
}

type Result = Pick<TrainingRun, 'status' | 'reason' | 'registryId'>;

const failed = (reason: string): Result => ({ status: TrainingRunStatus.FAILED, reason, registryId: null });

interface Learned {
  parameters: Bundle;
  offline: Record<string, unknown>;
}

/** Registers what was learned as a candidate; artefacts that owe an erasure go in the same transaction. */
async function register(tx: Context, run: TrainingRun, { erasures, logged }: Material, learned: Learned | null): Promise<Result> {
  const policy = await lockPolicy(tx, run.policyId);
  await eraseArtifacts(tx, policy.id);
  if (!learned) return failed('not_enough_data');
  const { dataFrom, dataTo, seed } = run;
  const trainingData: StoredTraining = {
    dataFrom: dataFrom.toISOString(),
    dataTo: dataTo.toISOString(),
    decisions: logged.length,
    outcomes: logged.length,
    seed,
    codeRevision: CODE_REVISION,
    ...erasures,
  };
  const { number: parentVersion } = await championOf(tx, policy.id);
  const version = await addVersion(tx, policy, { ...learned, trainingData, parentVersion });
  tx.audit('registry_version.trained', version.id, { version: version.number, outcomes: logged.length });
  return { status: TrainingRunStatus.COMPLETED, reason: null, registryId: version.id };
}

/** Closes a run unless it is closed already: of two attempts of its job, one counts. */
async function close(tx: Context, run: TrainingRun, result: () => Promise<Result>): Promise<Result> {
  const open = await tx.sql(`select 1 from ${tx.schema}.training_run where id = $1 and status = 'running' for update`, [run.id]);
  if (open.length === 0) return run;
  const change = await result();
  await tx.em.nativeUpdate(TrainingRun, { id: run.id }, { ...change, finishedAt: tx.now() });
  return change;
}

function learn(material: Material, run: TrainingRun): Learned | null {
  if (material.logged.length < MIN_OUTCOMES) return null;
  const parameters = train(material.logged.map(trainingRow), settingOf(material.policy, run));
  return { parameters, offline: offlineOf(material, run) };
}

async function runTraining(host: ServiceHost, run: TrainingRun): Promise<Result> {
  try {
    const material = await host.read(ctx => materialOf(ctx, run));
    const learned = learn(material, run);
    return await host.transaction(tx => close(tx, run, () => register(tx, run, material, learned)));
  } catch (error) {
    host.log.error({ run: run.id, err: loggedError(error) }, 'a training failed');
    return host.transaction(tx => close(tx, run, () => Promise.resolve(failed('error'))));
  }
}

/** One training at a time in a process: it is the processor's work. Started by a governance caller only. Source: jobs 4.3. */
export const trainings = jobQueue('intelligence', {
  name: 'intelligence.training',
  title: 'Training of ranking models',
  payload: z.object({ training_run_id: z.uuid() }),
  concurrency: 1,
  retryLimit: 2,
  timeoutSeconds: 900,
  run: async ({ host, payload }) => {
    const run = await host.read(ctx => ctx.em.findOneOrFail(TrainingRun, { id: payload.training_run_id }));
    const { status, reason, registryId } = run.status === TrainingRunStatus.RUNNING ? await runTraining(host, run) : run;
    return { status, reason, registry_id: registryId };
  },
});
