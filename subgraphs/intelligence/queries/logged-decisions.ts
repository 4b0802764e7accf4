import type { Context } from '../../../runtime/request/context.js';
import { DecisionArm, type IntelligenceStage } from '../entities/enums.js';
import type { LoggedDecision } from '../rules/evaluation.js';
import { openRecord, type LedgerRecord } from './ledger-record.js';

interface Row {
  id: string;
  record: Buffer;
  stage: IntelligenceStage;
  entity_id: string;
  served_candidate_id: string;
  propensity: number;
  reward: number;
  decided_ms: number;
}

/** More decisions than this tell little more, and each has to be opened: the newest are read. */
const MOST_DECISIONS = 5000;

const ROWS = (schema: string): string => `
select d.id, d.record, d.stage, d.entity_id, d.served_candidate_id, d.propensity, o.reward, (extract(epoch from d.decided_at) * 1000)::float8 as decided_ms
from ${schema}.decision d join ${schema}.decision_outcome o on o.decision_id = d.id
where d.policy_id = $1 and d.status = 'joined' and d.arm = 'treatment' and d.decided_at >= $2 and d.decided_at <= $3
order by d.decided_at desc, d.id desc limit $4`;

const withoutBundle = (record: LedgerRecord, stage: IntelligenceStage): LoggedDecision['question'] => ({
  stage,
  arm: DecisionArm.TREATMENT,
  epsilon: record.epsilon,
  segmentKeys: record.segmentKeys,
  context: record.context,
  features: record.features,
  candidates: record.safe.map(id => record.candidates.find(one => one.id === id)!),
});

/** A decision of the ledger as evaluations read it. */
export interface ReadDecision extends LoggedDecision {
  decidedAt: Date;
}

/** Joined decisions of the treatment with what they were decided on, newest first; `stage` is that at which versions are compared. */
export async function loggedDecisions(
  ctx: Context,
  policyId: string,
  from: Date,
  to: Date,
  stage: IntelligenceStage | null = null,
  most = MOST_DECISIONS,
): Promise<ReadDecision[]> {
  const rows = await ctx.sql<Row>(ROWS(ctx.schema), [policyId, from.toISOString(), to.toISOString(), most]);
  return rows.map(row => {
    const record = openRecord(ctx, row.id, row.record);
    const { served_candidate_id: servedId, propensity, reward, entity_id: entityId } = row;
    return {
      question: withoutBundle(record, stage ?? row.stage),
      servedId,
      propensity,
      propensities: record.propensities,
      reward,
      entityId,
      decidedAt: new Date(row.decided_ms),
    };
  });
}

const UNJOINED = (schema: string): string => `
select count(*)::int as n from ${schema}.decision
where policy_id = $1 and arm = 'treatment' and decided_at >= $2 and decided_at <= $3 and status in ('pending', 'expired_unjoined')`;

export interface LoggedWindow {
  /** Where the window really begins: later than asked for where it holds more decisions than are read. */
  from: Date;
  decisions: ReadDecision[];
  /** Decisions of the same window that no outcome has met. */
  unjoined: number;
}

/** What an evaluation is made of: joined and unjoined decisions of one and the same window. Source: intelligence 7.2. */
export async function loggedWindow(ctx: Context, policyId: string, asked: Date, to: Date): Promise<LoggedWindow> {
  const decisions = await loggedDecisions(ctx, policyId, asked, to);
  const from = decisions.length < MOST_DECISIONS ? asked : decisions.at(-1)!.decidedAt;
  const [row] = await ctx.sql<{ n: number }>(UNJOINED(ctx.schema), [policyId, from.toISOString(), to.toISOString()]);
  return { from, decisions, unjoined: row!.n };
}
