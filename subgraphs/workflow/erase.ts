import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import { endRuns } from './commands/ending.js';
import { wakeExecutors } from './commands/messages.js';

const OF_USER = `(r.user_id = $1 or r.input::text like '%' || $1 || '%' or r.output::text like '%' || $1 || '%' or r.key like '%' || $1 || '%')`;

/**
 * Open runs and tasks of the user end without compensation, and nothing that any of them carried stays, in our tables and in the
 * engine's. Source: workflow 5.
 */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  const user = userId.toLowerCase();
  const runs = await ctx.sql<{ id: string }>(`select r.id from workflow.workflow_run_meta r where ${OF_USER} order by r.id for update`, [
    user,
  ]);
  const ids = runs.map(run => run.id);
  const tasks = await ctx.sql(
    `update workflow.workflow_task set result = null, subject_id = case when run_id = any($1) then null else subject_id end, assignee_id = nullif(assignee_id, $2::uuid), claimed_by = nullif(claimed_by, $2::uuid),
       completed_by = case when completed_by like '%' || $2 then 'user:erased' else completed_by end,
       status = case when run_id = any($1) and status in ('open', 'claimed') then 'cancelled' else status end, version = version + 1
     where run_id = any($1) or assignee_id = $2::uuid or claimed_by = $2::uuid or completed_by like '%' || $2 returning 1`,
    [ids, user],
  );
  if (ids.length) await wipe(ctx, ids);
  const heard = await ctx.sql('delete from workflow.heard_event where user_id = $1::uuid or payload::text like $2 returning 1', [
    user,
    `%${user}%`,
  ]);
  wakeExecutors(ctx);
  const held = ids.length + tasks.length + heard.length > 0;
  return {
    outcome: held ? 'erased' : 'nothing_held',
    records: { workflow_run_meta: ids.length, workflow_task: tasks.length, heard_event: heard.length },
  };
}

async function wipe(ctx: Context, ids: readonly string[]): Promise<void> {
  const engines = `(select unnest($1::uuid[])::text || ':%')`;
  await ctx.sql('delete from workflow.compensation where run_id = any($1)', [ids]);
  for (const table of ['timer', 'wait', 'message'])
    await ctx.sql(`delete from workflow.${table} where engine_id like any ${engines}`, [ids]);
  await ctx.sql(
    `update workflow.workflow_run_meta set input = null, output = null, user_id = null, key = 'erased:' || id,
       cancel_pending = cancel_pending or status in ('pending', 'running', 'waiting'),
       finished_at = coalesce(finished_at, $2), waiting_kind = null, waiting_name = null, waiting_until = null, waiting_topic = null,
       status = case when status in ('pending', 'running', 'waiting') then 'cancelled' else status end where id = any($1)`,
    [ids, ctx.now().toISOString()],
  );
  await endRuns(ctx, ids);
  await ctx.sql(`update dbos.operation_outputs set output = null, error = null where workflow_uuid like any ${engines}`, [ids]);
  await ctx.sql(`delete from dbos.notifications where destination_uuid like any ${engines}`, [ids]);
}
