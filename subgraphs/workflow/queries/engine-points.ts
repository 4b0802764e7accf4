import type { Context } from '../../../runtime/request/context.js';

/** What the engine has recorded up to where a run is to go on. */
export interface EnginePoint {
  id: string;
  /** The first step of the engine that is executed again. */
  step: number;
}

const pointAt = (id: string, step: number | null | undefined): EnginePoint | null => (step ? { id, step } : null);

const RECORDED = 'select function_id, function_name from dbos.operation_outputs where workflow_uuid = $2';
/** The step that has not succeeded, from its first attempt; a child from the wait for it. */
const UNFINISHED_STEP = `select max(o.function_id) from o, unfinished s where o.function_id <= s.function_id
  and case when s.child_run_id is null then o.function_name = s.name || ':1' else o.function_name like 'wait:%' end`;
/** The wait that nothing has ended. */
const OPEN_WAIT = `select max(function_id) from o w where function_name like 'wait:%'
  and not exists (select 1 from o r where r.function_name = 'DBOS.recv' and r.function_id > w.function_id)`;

/** Where a run that failed or was cancelled goes on: what was finished, waits and decisions too, stays. Source: workflow 3. */
export async function resumePoint(ctx: Context, runId: string, engineId: string): Promise<EnginePoint | null> {
  const [row] = await ctx.sql<{ step: number | null }>(
    `with o as (${RECORDED}), unfinished as (select * from workflow.workflow_step where run_id = $1 and status <> 'succeeded' order by idx limit 1)
     select coalesce((${UNFINISHED_STEP}), (${OPEN_WAIT}), (select max(function_id) + 1 from o where function_name <> 'finish'))::int as step`,
    [runId, engineId],
  );
  return pointAt(engineId, row?.step);
}

/** Where a fork begins: after the last step before `index` that has succeeded. */
export async function forkPoint(ctx: Context, runId: string, engineId: string, index: number): Promise<EnginePoint | null> {
  const [row] = await ctx.sql<{ step: number | null }>(
    `select max(function_id) + 1 as step from workflow.workflow_step where run_id = $1 and idx < $2 and status = 'succeeded'`,
    [runId, index],
  );
  return pointAt(engineId, row?.step);
}
