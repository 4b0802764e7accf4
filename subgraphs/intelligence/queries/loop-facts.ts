import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import type { LoopFacts } from '../rules/liveness.js';

const ms = (expression: string): string => `(extract(epoch from ${expression}) * 1000)::float8`;

/** One statement: what the loop has done. The joined and the expired are counted by deadline, so that early joins do not flatter. */
const FACTS = (schema: string): string => `
select ${ms('min(decided_at)')} as "firstDecisionAt", ${ms('max(decided_at)')} as "lastDecisionAt",
  (select ${ms('max(finished_at)')} from ${schema}.loop_tick where finished_at <= $1 and status in ('completed', 'empty')) as "lastTickAt",
  (select ${ms('max(raised_at)')} from ${schema}.loop_proposal where raised_at <= $1) as "lastProposalAt"
from ${schema}.decision`;

const CLOSED = (schema: string): string => `
select count(*) filter (where recent and status = 'joined')::float8 as joined7, count(*) filter (where recent)::float8 as closed7,
  count(*) filter (where not recent and status = 'joined')::float8 as joined28, count(*) filter (where not recent)::float8 as closed28
from (select status, matures_at >= $2::timestamptz as recent from ${schema}.decision
  where status in ('joined', 'expired_unjoined') and matures_at >= $3 and matures_at < $1 and ($4::uuid is null or policy_id = $4::uuid)) closed`;

type Timeline = Omit<LoopFacts, 'now' | keyof Closed>;
type Closed = Pick<LoopFacts, 'joined7' | 'closed7' | 'joined28' | 'closed28'>;

/** What was closed in the last 7 days and in the 28 days before, of all policies or of one. */
export async function closedOf(ctx: Context, policyId: string | null = null): Promise<Closed> {
  const at = (days: number): string => after(ctx.now(), -days * DAY_MS).toISOString();
  const [row] = await ctx.sql<Closed>(CLOSED(ctx.schema), [at(0), at(7), at(35), policyId]);
  return row!;
}

/** The facts that liveness is judged by, as they are now. */
export async function loopFacts(ctx: Context): Promise<LoopFacts> {
  const now = ctx.now();
  const [timeline] = await ctx.sql<Timeline>(FACTS(ctx.schema), [now.toISOString()]);
  return { now: now.getTime(), ...timeline!, ...(await closedOf(ctx)) };
}
