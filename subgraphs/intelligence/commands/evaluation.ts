import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { OffPolicyEvaluation } from '../entities/evaluation.js';
import { RankingPolicy } from '../entities/policy.js';
import { RegistryVersion } from '../entities/registry.js';
import type { EvaluateRegistryVersionInput } from '../inputs/policy.js';
import { loggedWindow } from '../queries/logged-decisions.js';
import { bundleOf, championOf, versionOf } from '../queries/registry.js';
import type { Bundle } from '../rules/bundle.js';
import { compare } from '../rules/evaluation.js';

/** An evaluation reads a year's decisions unless another window is given. */
const DEFAULT_DAYS = 365;

/** @throws Problem invalid_request for a window that ends before it begins. */
function windowOf(ctx: Context, { from, to }: EvaluateRegistryVersionInput): { from: Date; to: Date } {
  const end = to ?? ctx.now();
  const begin = from ?? after(end, -DEFAULT_DAYS * DAY_MS);
  if (begin > end) invalid('/input/to', 'is before from');
  return { from: begin, to: end };
}

const requireBundle = async (ctx: Context, version: RegistryVersion): Promise<Bundle> =>
  (await bundleOf(ctx, version)) ?? fail('conflict', 'The artefact of a version was erased', { reason: 'artifact_erased' });

/** What a version would have earned on logged decisions, beside the champion or another version. @throws Problem not_found, conflict. */
export async function evaluateVersion(ctx: Context, input: EvaluateRegistryVersionInput): Promise<OffPolicyEvaluation> {
  const version = await requireRow(ctx, RegistryVersion, { id: input.id });
  const { policyId } = version;
  const target = input.targetVersion == null ? await championOf(ctx, policyId) : await versionOf(ctx, policyId, input.targetVersion);
  const [own, other] = [await requireBundle(ctx, version), await requireBundle(ctx, target)];
  const asked = windowOf(ctx, input);
  const { contextSchema } = await ctx.em.findOneOrFail(RankingPolicy, { id: policyId });
  const { decisions, from: windowFrom, unjoined } = await loggedWindow(ctx, policyId, asked.from, asked.to);
  const found = compare(decisions, own, other, contextSchema);
  const numbers = { candidateVersion: version.number, targetVersion: target.number, unjoined };
  const evaluation = Object.assign(new OffPolicyEvaluation(), {
    policyId,
    ...numbers,
    ...found,
    windowFrom,
    windowTo: asked.to,
    createdAt: ctx.now(),
  });
  ctx.em.persist(evaluation);
  ctx.audit('registry_version.evaluated', version.id, { target: target.number, state: found.state });
  return evaluation;
}
