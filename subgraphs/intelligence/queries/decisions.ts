import type { FilterQuery } from '@mikro-orm/postgresql';
import { writeAudit } from '../../../runtime/data/audit.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { seesAll } from '../entities/access.js';
import { LoopDecision, type DecisionExplanation, type RankedCandidate } from '../entities/decision.js';
import { RegistryVersion } from '../entities/registry.js';
import type { LoopDecisionsArgs } from '../inputs/rank.js';
import { rank, rankedFrom, type RankAnswer } from '../rules/ranking.js';
import { seedNumber, uniformsOf } from '../rules/sampling.js';
import { questionOf, recordOf, type LedgerRecord } from './ledger-record.js';
import { bundleOf } from './registry.js';

/** Who read whose context; counts and ids of decisions, not of entities. Source: intelligence 7.3.19. */
async function auditReads(ctx: Context, decisions: readonly LoopDecision[]): Promise<void> {
  if (!seesAll(ctx) || decisions.length === 0) return;
  const rows = decisions.map(({ id }) => ({ action: 'decision.read', target: id, details: {} }));
  await writeAudit(ctx, rows);
}

function whereOf({ entityId, policyKind, policyKey, status, stage, from, to }: LoopDecisionsArgs): FilterQuery<LoopDecision> {
  const time = { ...(from && { $gte: from }), ...(to && { $lt: to }) };
  return {
    ...(entityId && { entity: entityId.toLowerCase() }),
    ...(policyKind && { policyKind }),
    ...(policyKey && { policyKey }),
    ...(status && { status }),
    ...(stage && { stage }),
    ...(Object.keys(time).length && { decidedAt: time }),
  } as FilterQuery<LoopDecision>;
}

/** The ledger, newest first. @throws Problem invalid_request for a window that ends before it begins. */
export async function decisionsPage(ctx: Context, args: LoopDecisionsArgs): Promise<Connection<LoopDecision>> {
  const found = await page(ctx.em, LoopDecision, whereOf(args), args, { time: 'decidedAt' });
  await auditReads(ctx, found.nodes);
  return found;
}

/** Decisions about a user, newest first. @throws Problem forbidden for other services. */
export function decisionsAbout(
  ctx: Context,
  entityId: string,
  paging: { first: number; after?: string | null },
): Promise<Connection<LoopDecision>> {
  if (!seesAll(ctx)) fail('forbidden', 'Whom a decision is about is not open to other services');
  return decisionsPage(ctx, { ...paging, first: paging.first, entityId });
}

export async function decisionOf(ctx: Context, id: string): Promise<LoopDecision | null> {
  const decision = await findRow(ctx, LoopDecision, { id });
  if (decision) await auditReads(ctx, [decision]);
  return decision;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function isReproduced(decision: LoopDecision, record: LedgerRecord, answer: RankAnswer): boolean {
  const served = record.safe[answer.served];
  return (
    served === decision.servedCandidateId &&
    answer.propensities[answer.served] === decision.propensity &&
    answer.predicted === decision.predictedOutcome &&
    same(rankedFrom(answer, record.safe, record.ranked.length), record.ranked) &&
    Object.entries(answer.shadow).every(([ranker, value]) => decision.shadowPredictions[ranker] === value)
  );
}

/** Works a decision out again, bit for bit. @throws Problem forbidden for other services, conflict where the artefact is erased. */
export async function explainDecision(ctx: Context, id: string): Promise<DecisionExplanation | null> {
  const decision = await findRow(ctx, LoopDecision, { id });
  if (!decision) return null;
  if (!seesAll(ctx)) fail('forbidden', 'The context of decisions is not open to other services');
  await auditReads(ctx, [decision]);
  const record = recordOf(ctx, decision);
  const bundle = await bundleOf(ctx, await ctx.em.findOneOrFail(RegistryVersion, { id: decision.registryId }, { refresh: true }));
  if (!bundle) return fail('conflict', 'The artefact of its version was erased', { reason: 'artifact_erased' });
  const { seed, ranker, servedCandidateId } = decision;
  const answer = record.safe.length ? rank(questionOf(record, decision, bundle), seed) : null;
  const reproduced = answer === null ? servedCandidateId === null : isReproduced(decision, record, answer);
  const ranked: RankedCandidate[] = answer ? rankedFrom(answer, record.safe) : [];
  const draw = uniformsOf(seedNumber(seed))();
  return { decisionId: id, ranker, seed, draw, ranked, servedCandidateId, context: record.context, reproduced };
}
