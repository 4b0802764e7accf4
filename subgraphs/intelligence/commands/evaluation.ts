import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { OffPolicyEvaluation } from '../entities/evaluation.js';
import { RankingPolicy } from '../entities/policy.js';
import { RegistryVersion } from '../entities/registry.js';
import type { EvaluateRegistryVersionInput } from '../inputs/policy.js';
import { loggedPages, MOST_DECISIONS, unjoinedOf, type LoggedQuery } from '../queries/logged-decisions.js';
import { bundleOf, championOf, versionOf } from '../queries/registry.js';
import type { Bundle } from '../rules/bundle.js';
import { interval95 } from '../rules/off-policy.js';
import { compareWeighed, weigher, type WeighedDecision } from '../rules/evaluation.js';

/** An evaluation reads no more than a year's decisions unless another window is given. */
const DEFAULT_DAYS = 365;

/** A year's decisions, of a trained version those that it has not learned from. */
function defaultFrom(end: Date, { trainingData }: RegistryVersion): Date {
  const year = after(end, -DEFAULT_DAYS * DAY_MS).getTime();
  const unseen = trainingData ? Date.parse(trainingData.dataTo) + 1 : year;
  return new Date(Math.min(end.getTime(), Math.max(year, unseen)));
}

/** @throws Problem invalid_request for a window that ends before it begins. */
function windowOf(ctx: Context, { from, to }: EvaluateRegistryVersionInput, version: RegistryVersion): { from: Date; to: Date } {
  const end = to ?? ctx.now();
  const begin = from ?? defaultFrom(end, version);
  if (begin > end) invalid('/input/to', 'is before from');
  return { from: begin, to: end };
}

const requireBundle = async (ctx: Context, version: RegistryVersion): Promise<Bundle> =>
  (await bundleOf(ctx, version)) ?? fail('conflict', 'The artefact of a version was erased', { reason: 'artifact_erased' });

interface LoggedWindow {
  /** Where the window really begins: later than asked for where it holds more decisions than are read. */
  from: Date;
  weighed: WeighedDecision[];
  unjoined: number;
}

/** Joined and unjoined decisions of one and the same window, past their maturity. Source: intelligence 7.2. */
async function readWindow(ctx: Context, query: LoggedQuery, weigh: ReturnType<typeof weigher>): Promise<LoggedWindow> {
  const weighed: WeighedDecision[] = [];
  let read = 0;
  let { from } = query;
  for await (const page of loggedPages(ctx, query)) {
    weighed.push(...page.map(weigh).filter(one => one !== null));
    read += page.length;
    if (read >= MOST_DECISIONS) from = page.at(-1)!.decidedAt;
  }
  return { from, weighed, unjoined: await unjoinedOf(ctx, { ...query, from }, query.maturedBy!) };
}

/** What a version would have earned on logged decisions, beside the champion or another version. @throws Problem not_found, conflict. */
export async function evaluateVersion(ctx: Context, input: EvaluateRegistryVersionInput): Promise<OffPolicyEvaluation> {
  const version = await requireRow(ctx, RegistryVersion, { id: input.id });
  const { policyId } = version;
  const target = input.targetVersion == null ? await championOf(ctx, policyId) : await versionOf(ctx, policyId, input.targetVersion);
  const [own, other] = [await requireBundle(ctx, version), await requireBundle(ctx, target)];
  const asked = windowOf(ctx, input, version);
  const { contextSchema } = await ctx.em.findOneOrFail(RankingPolicy, { id: policyId });
  const query = { policyId, ...asked, maturedBy: ctx.now() };
  const { from: windowFrom, weighed, unjoined } = await readWindow(ctx, query, weigher(own, other, contextSchema));
  const { lift, ...found } = compareWeighed(weighed);
  const numbers = { candidateVersion: version.number, targetVersion: target.number, unjoined };
  const evaluation = Object.assign(new OffPolicyEvaluation(), {
    policyId,
    ...numbers,
    ...found,
    liftOverTarget: lift && interval95(lift),
    windowFrom,
    windowTo: asked.to,
    createdAt: ctx.now(),
  });
  ctx.em.persist(evaluation);
  ctx.audit('registry_version.evaluated', version.id, { target: target.number, state: found.state });
  return evaluation;
}
