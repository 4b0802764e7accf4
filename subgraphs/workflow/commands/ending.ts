import type { Context } from '../../../runtime/request/context.js';
import { sendToParents } from './messages.js';
import { alarm } from './notices.js';
import { NOT_WAITING } from './records.js';

const ENGINES = '(select engine_id from workflow.workflow_run_meta where id = any($1))';

/** What a run that has ended leaves behind goes: tasks, timers, waits, messages that nobody takes; its children end with it. */
export async function endRuns(ctx: Context, ids: readonly string[]): Promise<void> {
  if (!ids.length) return;
  await sendToParents(ctx, ids);
  await ctx.sql(
    `update workflow.workflow_task set status = 'cancelled', version = version + 1 where run_id = any($1) and status in ('open', 'claimed')`,
    [ids],
  );
  await ctx.sql(`delete from workflow.timer where released_at is null and engine_id in ${ENGINES}`, [ids]);
  await ctx.sql(`delete from workflow.wait where engine_id in ${ENGINES}`, [ids]);
  await ctx.sql(`delete from workflow.message where sent_at is null and engine_id in ${ENGINES}`, [ids]);
  await endRuns(ctx, await cancelChildren(ctx, ids));
}

async function cancelChildren(ctx: Context, parents: readonly string[]): Promise<string[]> {
  const children = await ctx.sql<{ id: string }>(
    `update workflow.workflow_run_meta set status = 'cancelled', cancel_pending = true, finished_at = $2, error_code = 'parent_ended',
       ${NOT_WAITING}
     where parent_id = any($1) and status in ('pending', 'running', 'waiting') returning id`,
    [parents, ctx.now().toISOString()],
  );
  return children.map(child => child.id);
}

/** How a definition ended its run. */
export interface RunEnd {
  status: 'succeeded' | 'failed';
  output: object | null;
  /** Of the failure. */
  code: string | null;
}

interface Execution {
  id: string;
  engine_id: string;
  definition_key: string;
}

const FINISH = `
update workflow.workflow_run_meta set status = $3, output = $4::jsonb, error_code = $5, finished_at = $6, ${NOT_WAITING}
where id = $1 and engine_id = $2 and status in ('running', 'waiting') returning 1`;

/** Ends a run, unless it has ended, or another execution has it by now. */
export async function finishRun(ctx: Context, { id, engine_id, definition_key: definition }: Execution, end: RunEnd): Promise<void> {
  const { status, output, code } = end;
  const now = ctx.now().toISOString();
  const [ended] = await ctx.sql(FINISH, [id, engine_id, status, output && JSON.stringify(output), code, now]);
  if (!ended) return;
  ctx.afterCommit(() => ctx.host.metrics.runs.inc({ definition, outcome: status }));
  await endRuns(ctx, [id]);
  if (status === 'failed') alarm(ctx, 'workflow_failed', { definition, run_id: id });
  else await ctx.sql('update workflow.workflow_definition set last_success_at = $2, alarmed_at = null where key = $1', [definition, now]);
  ctx.audit(`workflow_run.${status}`, id, { definition, error_code: code });
}
