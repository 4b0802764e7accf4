import type { Context } from '../../../runtime/request/context.js';
import { sendToParents } from './messages.js';

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
       waiting_kind = null, waiting_name = null, waiting_until = null, waiting_topic = null
     where parent_id = any($1) and status in ('pending', 'running', 'waiting') returning id`,
    [parents, ctx.now().toISOString()],
  );
  return children.map(child => child.id);
}
