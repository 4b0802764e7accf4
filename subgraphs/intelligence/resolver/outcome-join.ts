import type { Context } from '../../../runtime/context.js';
import { fail } from '../../../runtime/errors.js';
import { newId } from '../../../runtime/ids.js';
import { countRefused } from './alarms.js';
import { own } from '../rules/values.js';
import { isErased, lockEntity } from './entity-lock.js';

/** What is known of what became of a decision. */
export interface Outcome {
  metric: string;
  label: string;
  sourceType: string;
  sourceEventId: string;
  occurredAt: Date;
}

interface Row {
  id: string;
  policyId: string;
  attribution: 'all' | 'latest';
  rewards: Record<string, number>;
  status: string;
  inTime: boolean;
}

const COLUMNS = `d.id, d.policy_id as "policyId", p.attribution, p.reward_map as rewards, d.status, d.matures_at >= $2::timestamptz as "inTime"`;

/** Decisions about an entity that wait, or waited, for a code; the newest first, locked against Monitor. */
const MATCHING = (schema: string): string => `
select ${COLUMNS} from ${schema}.decision d join ${schema}.ranking_policy p on p.id = d.policy_id
where d.entity_id = $1 and d.decided_at <= $2::timestamptz and d.decided_at >= $2::timestamptz - interval '400 days' and d.outcome_metric = $3 and d.outcome_codes @> array[$4::text]
  and d.status in ('pending', 'joined', 'expired_unjoined')
order by d.decided_at desc, d.id desc for update of d`;

const BY_ID = (schema: string): string =>
  `select ${COLUMNS} from ${schema}.decision d join ${schema}.ranking_policy p on p.id = d.policy_id where d.id = $1 for update of d`;

/** Joins an outcome to a decision that waits for it; the first valid one wins. */
async function join(ctx: Context, row: Row, outcome: Outcome): Promise<boolean> {
  const reward = own(row.rewards, outcome.label);
  if (reward === undefined) return (countRefused(ctx, 'unknown_label'), false);
  const at = ctx.now().toISOString();
  await ctx.sql(
    `insert into ${ctx.schema}.decision_outcome (id, decision_id, metric, label, reward, source_type, source_event_id, occurred_at, joined_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      newId(),
      row.id,
      outcome.metric,
      outcome.label,
      reward,
      outcome.sourceType,
      outcome.sourceEventId,
      outcome.occurredAt.toISOString(),
      at,
    ],
  );
  await ctx.sql(`update ${ctx.schema}.decision set status = 'joined', closed_at = $2 where id = $1`, [row.id, at]);
  ctx.audit('decision.joined', row.id, { source: outcome.sourceType });
  return true;
}

/** Counts an outcome that came when its decision was closed, or after its deadline; the one that joined it is not late. */
async function countLate(ctx: Context, row: Row, { sourceEventId }: Outcome): Promise<void> {
  await ctx.sql(
    `insert into ${ctx.schema}.late_outcome (decision_id, source_event_id, received_at) select $1, $2, $3
     where not exists (select from ${ctx.schema}.decision_outcome where decision_id = $1 and source_event_id = $2) on conflict do nothing`,
    [row.id, sourceEventId, ctx.now().toISOString()],
  );
}

const isOpen = ({ status, inTime }: Row): boolean => status === 'pending' && inTime;

/** ALL joins each; LATEST only the newest waiting decision of its policy. Rows are newest first. */
function attributed(rows: readonly Row[]): Row[] {
  const open = rows.filter(isOpen);
  return open.filter((row, index) => row.attribution === 'all' || open.findIndex(one => one.policyId === row.policyId) === index);
}

/** Joins an outcome about an entity to every decision that waits for its code. Source: intelligence 5, 7.3.15-16. */
export async function joinByCode(ctx: Context, entityId: string, code: string, outcome: Outcome): Promise<number> {
  await lockEntity(ctx, entityId);
  if (await isErased(ctx, entityId)) return 0;
  const rows = await ctx.sql<Row>(MATCHING(ctx.schema), [entityId, outcome.occurredAt.toISOString(), outcome.metric, code]);
  let joined = 0;
  for (const row of attributed(rows)) joined += Number(await join(ctx, row, outcome));
  for (const row of rows.filter(one => !isOpen(one))) await countLate(ctx, row, outcome);
  return joined;
}

/** Joins an outcome that names its decision. Answers what became of it. */
export async function joinById(ctx: Context, decisionId: string, outcome: Outcome): Promise<'joined' | 'late' | 'refused' | 'gone'> {
  const [row] = await ctx.sql<Row>(BY_ID(ctx.schema), [decisionId, outcome.occurredAt.toISOString()]);
  if (!row) return 'gone';
  if (isOpen(row)) return (await join(ctx, row, outcome)) ? 'joined' : 'refused';
  await countLate(ctx, row, outcome);
  return 'late';
}

/** The same for a caller: an outcome that cannot be joined is refused. @throws Problem conflict, invalid_request. */
export async function recordById(ctx: Context, decisionId: string, outcome: Outcome): Promise<void> {
  const [row] = await ctx.sql<Row>(BY_ID(ctx.schema), [decisionId, outcome.occurredAt.toISOString()]);
  if (!row) return fail('not_found', 'Not found');
  const [same] = await ctx.sql(`select 1 from ${ctx.schema}.decision_outcome where decision_id = $1 and source_event_id = $2`, [
    decisionId,
    outcome.sourceEventId,
  ]);
  if (same) return ctx.status(200);
  if (own(row.rewards, outcome.label) === undefined)
    fail('invalid_request', 'The input is invalid', {
      errors: [{ pointer: '/input/label', message: `must be one of ${Object.keys(row.rewards).join(', ')}` }],
    });
  if (!isOpen(row))
    fail('conflict', `a decision that is ${row.status.replaceAll('_', ' ')} takes no outcome${row.inTime ? '' : ' after its deadline'}`);
  await join(ctx, row, outcome);
}
