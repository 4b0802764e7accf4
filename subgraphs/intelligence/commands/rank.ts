import { createHash } from 'node:crypto';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { LoopDecision } from '../entities/decision.js';
import { RankingPolicyStatus } from '../entities/enums.js';
import type { RankInput } from '../inputs/rank.js';
import { rankFacts, type RankFacts, type RankPolicy } from '../queries/rank-facts.js';
import { canonicalJson } from '../rules/bundle.js';
import { valueViolations } from '../rules/schemas.js';
import { insertDecision } from './ledger.js';
import { openOutcomeWindow } from './outcome-window.js';
import { alarmIfBlocked, decisionOf, rankingOf, rankSafely } from './ranking.js';

/** Everything that is wrong with what the caller wants ranked. */
function inputViolations(policy: RankPolicy, input: RankInput): Violation[] {
  const { candidates } = input;
  const repeated = candidates.flatMap(({ id }, index) =>
    candidates.findIndex(one => one.id === id) < index ? [{ pointer: `/input/candidates/${index}/id`, message: 'is there already' }] : [],
  );
  const features = candidates.flatMap(({ features: values }, index) =>
    valueViolations(policy.candidateSchema, values ?? {}, `/input/candidates/${index}/features`),
  );
  const { metric } = input.outcome ?? {};
  const foreign =
    metric == null || metric === policy.outcomeMetric
      ? []
      : [{ pointer: '/input/outcome/metric', message: `must be ${policy.outcomeMetric}, which the policy waits for` }];
  return [...repeated, ...foreign, ...valueViolations(policy.contextSchema, input.context ?? {}, '/input/context'), ...features];
}

const hashOf = (input: RankInput): Buffer => createHash('sha256').update(canonicalJson(input)).digest();

/** What was answered under the key before; parallel equal calls have one decision and one answer. Source: intelligence 7.3.12. */
async function madeBefore(ctx: Context, policyId: string, input: RankInput): Promise<LoopDecision | null> {
  const before = await ctx.em.findOne(LoopDecision, { policyId, decisionKey: input.decisionKey });
  if (!before) return null;
  if (!Buffer.from(before.requestHash).equals(hashOf(input))) fail('idempotency_mismatch', 'This decision_key was used with another body');
  ctx.status(200);
  return Object.assign(before, { answered: true });
}

/** Works a ranking out and writes it; null: an equal call was faster, or the entity was erased meanwhile. */
async function decide(ctx: Context, input: RankInput, entityId: string, known: RankFacts): Promise<LoopDecision | null> {
  const ranking = await rankingOf(ctx, input, entityId, known);
  const outcome = rankSafely(ranking);
  const decision = decisionOf(ranking, outcome, hashOf(input));
  if (!(await insertDecision(ctx, decision))) return null;
  await openOutcomeWindow(ctx, decision);
  alarmIfBlocked(ranking, outcome.violations);
  ctx.audit('decision.made', decision.id, { stage: decision.stage, ranker: decision.ranker, policy_version: decision.policyVersion });
  return decision;
}

/** Ranks candidates and logs the decision; the same decision key again answers the same. @throws Problem not_found, invalid_request, idempotency_mismatch. */
export async function makeDecision(ctx: Context, input: RankInput): Promise<LoopDecision> {
  const entityId = input.entity.id.toLowerCase();
  const known = await rankFacts(ctx, input, entityId);
  if (known?.policy.status !== RankingPolicyStatus.ACTIVE) return fail('not_found', 'There is no such policy');
  const before = known.madeBefore && (await madeBefore(ctx, known.policy.id, input));
  if (before) return before;
  if (known.erased) fail('not_found', 'Not found');
  requireValid(inputViolations(known.policy, input));
  const made = await decide(ctx, input, entityId, known);
  return made ?? (await madeBefore(ctx, known.policy.id, input)) ?? fail('not_found', 'Not found');
}
