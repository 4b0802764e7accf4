import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { countRefused } from './alarms.js';
import { own } from '../rules/values.js';
import { lockEntity } from '../queries/entity-lock.js';
import { isAhead } from '../queries/settings.js';

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
  and d.status in ('pending', 'joined', 'expired_unjoined', 'discarded')
order by d.decided_at desc, d.id desc for no key update of d`;

const BY_ID = (schema: string): string =>
  `select ${COLUMNS} from ${schema}.decision d join ${schema}.ranking_policy p on p.id = d.policy_id where d.id = $1 for no key update of d`;

/** The outcomes of some decisions and what they make of them, in one statement. */
const JOIN = (schema: string): string => `
with closed as (update ${schema}.decision set status = 'joined', closed_at = $9 where id = any($2::uuid[]))
insert into ${schema}.decision_outcome (id, decision_id, metric, label, reward, source_type, source_event_id, occurred_at, joined_at)
select o.id, o.decision_id, $4, $5, o.reward, $6, $7, $8, $9 from unnest($1::uuid[], $2::uuid[], $3::float8[]) as o(id, decision_id, reward)`;

/** Joins an outcome to decisions that wait for it; the first valid one wins. Answers how many know its label. */
async function join(
  ctx: Context,
  rows: readonly Row[],
  { metric, label, sourceType, sourceEventId, occurredAt }: Outcome,
): Promise<number> {
  const known = rows.filter(row => own(row.rewards, label) !== undefined);
  for (let unknown = rows.length - known.length; unknown > 0; unknown--) countRefused(ctx, 'unknown_label');
  if (known.length === 0) return 0;
  const each = [known.map(() => newId()), known.map(row => row.id), known.map(row => own(row.rewards, label))];
  await ctx.sql(JOIN(ctx.schema), [...each, metric, label, sourceType, sourceEventId, occurredAt.toISOString(), ctx.now().toISOString()]);
  for (const { id } of known) ctx.audit('decision.joined', id, { source: sourceType });
  return known.length;
}

/** Counts an outcome that came when its decision was closed, or after its deadline; the one that joined it is not late. */
async function countLate(ctx: Context, rows: readonly Row[], { sourceEventId }: Outcome): Promise<void> {
  if (rows.length === 0) return;
  await ctx.sql(
    `insert into ${ctx.schema}.late_outcome (decision_id, source_event_id, received_at) select l.id, $2, $3 from unnest($1::uuid[]) as l(id)
     where not exists (select from ${ctx.schema}.decision_outcome where decision_id = l.id and source_event_id = $2) on conflict do nothing`,
    [rows.map(row => row.id), sourceEventId, ctx.now().toISOString()],
  );
}

const isOpen = ({ status, inTime }: Row): boolean => status === 'pending' && inTime;

/** ALL joins each; LATEST only the newest waiting decision of its policy. Rows are newest first. */
function attributed(rows: readonly Row[]): Row[] {
  const open = rows.filter(isOpen);
  return open.filter((row, index) => row.attribution === 'all' || open.findIndex(one => one.policyId === row.policyId) === index);
}

/** Joins an outcome about an entity to every decision that waits for its code; an erased entity has none. Source: intelligence 5, 7.3.15-16. */
export async function joinByCode(ctx: Context, entityId: string, code: string, outcome: Outcome): Promise<number> {
  await lockEntity(ctx, entityId);
  const rows = await ctx.sql<Row>(MATCHING(ctx.schema), [entityId, outcome.occurredAt.toISOString(), outcome.metric, code]);
  const joined = await join(ctx, attributed(rows), outcome);
  const closed = rows.filter(one => !isOpen(one));
  await countLate(ctx, closed, outcome);
  return joined;
}

/** Joins an outcome that names its decision. Answers what became of it. */
async function joinById(ctx: Context, decisionId: string, outcome: Outcome): Promise<'joined' | 'late' | 'refused' | 'gone'> {
  const [row] = await ctx.sql<Row>(BY_ID(ctx.schema), [decisionId, outcome.occurredAt.toISOString()]);
  if (!row) return 'gone';
  if (isOpen(row)) return (await join(ctx, [row], outcome)) ? 'joined' : 'refused';
  await countLate(ctx, [row], outcome);
  return 'late';
}

const WAITING = (schema: string): string => `select entity_id, outcome_metric from ${schema}.decision where id = $1`;

/** The same for an outcome that names its entity, too: one about somebody else, or of another metric, is refused and counted. */
export async function joinOfEntity(ctx: Context, decisionId: string, entityId: string | null, outcome: Outcome): Promise<void> {
  const [row] = await ctx.sql<{ entity_id: string; outcome_metric: string }>(WAITING(ctx.schema), [decisionId]);
  if (!row) return;
  if (row.entity_id !== entityId) return countRefused(ctx, 'of_another_entity');
  if (row.outcome_metric !== outcome.metric) return countRefused(ctx, 'of_another_metric');
  await lockEntity(ctx, row.entity_id);
  await joinById(ctx, decisionId, outcome);
}

interface Recorded extends Row {
  /** The outcome is not older than the decision. */
  after: boolean;
  metric: string;
  /** The same source reported it before. */
  same: boolean;
}

const RECORDED = (schema: string): string => `
select ${COLUMNS}, d.decided_at <= $2::timestamptz as after, d.outcome_metric as metric,
  exists (select from ${schema}.decision_outcome o where o.decision_id = d.id and o.source_event_id = $3) as same
from ${schema}.decision d join ${schema}.ranking_policy p on p.id = d.policy_id where d.id = $1 for no key update of d`;

const requireField = (holds: boolean, pointer: string, message: string): void => void (holds || invalid(pointer, message));

/** The same for a caller: an outcome that cannot be joined is refused. @throws Problem not_found, conflict, invalid_request. */
export async function recordById(ctx: Context, decisionId: string, outcome: Omit<Outcome, 'metric'>): Promise<void> {
  const given = [decisionId, outcome.occurredAt.toISOString(), outcome.sourceEventId];
  const [row] = isUuid(decisionId) ? await ctx.sql<Recorded>(RECORDED(ctx.schema), given) : [];
  if (!row) return fail('not_found', 'Not found');
  requireField(row.after, '/input/occurredAt', 'is before the decision');
  requireField(!isAhead(ctx, outcome.occurredAt), '/input/occurredAt', 'lies ahead');
  if (row.same) return ctx.status(200);
  const isKnown = own(row.rewards, outcome.label) !== undefined;
  requireField(isKnown, '/input/label', `must be one of ${Object.keys(row.rewards).join(', ')}`);
  if (!isOpen(row))
    fail('conflict', `a decision that is ${row.status.replaceAll('_', ' ')} takes no outcome${row.inTime ? '' : ' after its deadline'}`);
  await join(ctx, [row], { ...outcome, metric: row.metric });
}
