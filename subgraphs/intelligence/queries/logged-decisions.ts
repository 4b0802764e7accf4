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
  matures_ms: number;
}

/** An evaluation reads the newest so many: more tell little more, and each has to be opened. */
export const MOST_DECISIONS = 20_000;
/** Opened at once; between pages others get their turn. */
const PAGE = 500;

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

const ROWS = (schema: string): string => `
select d.id, d.record, d.stage, d.entity_id, d.served_candidate_id, d.propensity, o.reward, ${ms('d.decided_at')} as decided_ms, ${ms('d.matures_at')} as matures_ms
from ${schema}.decision d join ${schema}.decision_outcome o on o.decision_id = d.id
where d.policy_id = $1 and d.status = 'joined' and d.arm = 'treatment' and d.decided_at >= $2 and d.decided_at <= $3 and ($4::timestamptz is null or d.matures_at < $4)
  and ($5::timestamptz is null or (d.decided_at, d.id) < ($5, $6::uuid))
order by d.decided_at desc, d.id desc limit $7`;

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
  maturesAt: Date;
}

export interface LoggedQuery {
  policyId: string;
  /** When it was decided, both included. */
  from: Date;
  to: Date;
  /** Deadlines before this; null: of all that joined. Early joins would count for more than what joins late. */
  maturedBy: Date | null;
  /** The stage at which versions are compared; by default that of each decision. */
  stage?: IntelligenceStage;
  most?: number;
}

function decisionOf(ctx: Context, row: Row, stage: IntelligenceStage | undefined): ReadDecision {
  const record = openRecord(ctx, row.id, row.record);
  const { served_candidate_id: servedId, propensity, reward, entity_id: entityId, decided_ms, matures_ms } = row;
  return {
    question: withoutBundle(record, stage ?? row.stage),
    servedId,
    propensity,
    propensities: record.propensities,
    reward,
    entityId,
    decidedAt: new Date(decided_ms),
    maturesAt: new Date(matures_ms),
  };
}

/** Joined decisions of the treatment with what they were decided on, newest first, in pages: they are great, and many. */
export async function* loggedPages(ctx: Context, query: LoggedQuery): AsyncGenerator<ReadDecision[]> {
  const { policyId, from, to, maturedBy, stage, most = MOST_DECISIONS } = query;
  const window = [policyId, from.toISOString(), to.toISOString(), maturedBy?.toISOString() ?? null];
  let last: Row | undefined;
  for (let left = most; left > 0; left -= PAGE) {
    const before = last ? [new Date(last.decided_ms).toISOString(), last.id] : [null, null];
    const rows: Row[] = await ctx.sql<Row>(ROWS(ctx.schema), [...window, ...before, Math.min(left, PAGE)]);
    if (rows.length) yield rows.map(row => decisionOf(ctx, row, stage));
    if (rows.length < PAGE) return;
    last = rows.at(-1);
  }
}

const UNJOINED = (schema: string): string => `
select count(*)::int as n from ${schema}.decision
where policy_id = $1 and arm = 'treatment' and decided_at >= $2 and decided_at <= $3 and matures_at < $4 and status in ('pending', 'expired_unjoined')`;

/** Decisions past their maturity that no outcome has met; reported beside, never imputed. Source: intelligence 7.2. */
export async function unjoinedOf(ctx: Context, { policyId, from, to }: LoggedQuery, maturedBy: Date): Promise<number> {
  const values = [policyId, from.toISOString(), to.toISOString(), maturedBy.toISOString()];
  const [row] = await ctx.sql<{ n: number }>(UNJOINED(ctx.schema), values);
  return row!.n;
}
