import type { Context } from '../../../runtime/request/context.js';
import type { RankedCandidate, LoopDecision } from '../entities/decision.js';
import type { Bundle } from '../rules/bundle.js';
import type { GuardedCandidate } from '../rules/guardrails.js';
import type { RankQuestion } from '../rules/ranking.js';
import type { Values } from '../rules/values.js';

/** What the ranker saw and answered; sealed as one, because it is always needed whole. */
export interface LedgerRecord {
  context: Values;
  features: Values;
  /** Feature set to its version and instant. */
  featureVersions: Record<string, { version: number; as_of: string }>;
  candidates: GuardedCandidate[];
  /** Ids of the safe set, in the caller's order. */
  safe: string[];
  epsilon: number;
  segmentKeys: string[];
  ranked: RankedCandidate[];
  /** Of every candidate of the safe set. */
  propensities: Record<string, number>;
}

const sealedAs = (id: string): string => `decision.record:${id}`;
const opened = new WeakMap<LoopDecision, LedgerRecord>();

export const sealRecord = (ctx: Context, decisionId: string, record: LedgerRecord): Buffer =>
  ctx.host.sealer.seal(JSON.stringify(record), sealedAs(decisionId));

/** Opens the record of a decision, once per loaded row. */
export function recordOf(ctx: Context, decision: LoopDecision): LedgerRecord {
  let record = opened.get(decision);
  if (!record) opened.set(decision, (record = openRecord(ctx, decision.id, decision.record)));
  return record;
}

export const openRecord = (ctx: Context, decisionId: string, sealed: Buffer): LedgerRecord =>
  JSON.parse(ctx.host.sealer.open(Buffer.from(sealed), sealedAs(decisionId))) as LedgerRecord;

/** The question that led to a decision, asked of some bundle. */
export const questionOf = (record: LedgerRecord, decision: Pick<LoopDecision, 'stage' | 'arm'>, bundle: Bundle): RankQuestion => ({
  stage: decision.stage,
  arm: decision.arm,
  bundle,
  epsilon: record.epsilon,
  segmentKeys: record.segmentKeys,
  context: record.context,
  features: record.features,
  candidates: record.safe.map(id => record.candidates.find(one => one.id === id)!),
});
