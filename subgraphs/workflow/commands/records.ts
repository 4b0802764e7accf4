import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import { sendToRun } from './messages.js';

/** A run as its rows know it. */
export interface RunKey {
  runId: string;
  /** Of the execution: only the newest one may change the run. */
  engineId: string;
}

/** Columns of a run that waits for nothing. */
export const NOT_WAITING = 'waiting_kind = null, waiting_name = null, waiting_until = null, waiting_topic = null';

export interface StepRow {
  index: number;
  name: string;
  functionId: number;
  childRunId?: string;
}

export async function stepBegun(ctx: Context, { runId, engineId }: RunKey, step: StepRow): Promise<void> {
  await ctx.sql(
    `insert into workflow.workflow_step as s (run_id, idx, name, status, attempts, started_at, function_id, child_run_id) values ($1, $2, $3, 'running', 1, $4, $5, $6)
     on conflict (run_id, idx) do update set status = 'running', attempts = s.attempts + 1, finished_at = null, error_code = null, function_id = $5`,
    [runId, step.index, step.name, ctx.now().toISOString(), step.functionId, step.childRunId ?? null],
  );
  await ctx.sql(
    `update workflow.workflow_run_meta set status = 'running', attempts = attempts + 1, ${NOT_WAITING}
     where id = $1 and engine_id = $2 and status in ('running', 'waiting')`,
    [runId, engineId],
  );
}

/** `status` running: it will be asked again. */
export async function stepEnded(
  ctx: Context,
  { runId }: RunKey,
  index: number,
  status: 'succeeded' | 'failed' | 'running',
  { digest = null, code = null, functionId = null }: { digest?: string | null; code?: string | null; functionId?: number | null },
): Promise<void> {
  await ctx.sql(
    `update workflow.workflow_step set status = $3, finished_at = $4, output_digest = $5, error_code = $6, function_id = coalesce($7, function_id)
     where run_id = $1 and idx = $2`,
    [runId, index, status, status === 'running' ? null : ctx.now().toISOString(), digest, code, functionId],
  );
}

export interface WaitRow {
  topic: string;
  kind: 'timer' | 'event' | 'task' | 'child';
  name: string;
  /** Null: only a message ends it. */
  until: Date | null;
}

/** Notes what is waited for, and when time ends the wait. */
export async function beginWait(ctx: Context, { runId, engineId }: RunKey, { topic, kind, name, until }: WaitRow): Promise<void> {
  if (until)
    await ctx.sql(`insert into workflow.timer (id, engine_id, topic, due_at) values ($1, $2, $3, $4)`, [
      newId(),
      engineId,
      topic,
      until.toISOString(),
    ]);
  await ctx.sql(
    `update workflow.workflow_run_meta set status = 'waiting', waiting_kind = $3, waiting_name = $4, waiting_until = $5, waiting_topic = $6
     where id = $1 and engine_id = $2 and status in ('running', 'waiting')`,
    [runId, engineId, kind, name, until?.toISOString() ?? null, topic],
  );
}

/** Lets messages of that name and key find the run. */
export const awaitMessage = (
  ctx: Context,
  { runId, engineId }: RunKey,
  topic: string,
  name: string,
  key: string | null,
): Promise<unknown> =>
  ctx.sql('insert into workflow.wait (engine_id, topic, run_id, name, key) values ($1, $2, $3, $4, $5)', [
    engineId,
    topic,
    runId,
    name,
    key,
  ]);

/** An event that came since the run began and that it has not had ends the wait at once: nothing is lost between two waits. */
export async function sendPastEvent(
  ctx: Context,
  { runId, engineId }: RunKey,
  topic: string,
  name: string,
  key: string | null,
): Promise<void> {
  const [past] = await ctx.sql<{ event_id: string; payload: object }>(
    `select h.event_id, h.payload from workflow.heard_event h join workflow.workflow_run_meta r on r.id = $1
     where h.name = $2 and ($3::text is null or h.key = $3) and h.heard_at >= r.created_at and h.event_id is distinct from r.cause_id
       and not exists (select 1 from workflow.message m where m.engine_id like $1::text || ':%' and m.idempotency_key = h.event_id::text)
     order by h.heard_at, h.event_id limit 1`,
    [runId, name, key],
  );
  if (past) await sendToRun(ctx, engineId, topic, { payload: past.payload }, past.event_id);
}

/** True for whoever has an effect for the first time: the inbox commits with it. */
export async function isFirst(ctx: Context, key: string, runId: string): Promise<boolean> {
  const insert = 'insert into workflow.inbox (consumer, event_id) values ($1, $2) on conflict do nothing returning 1';
  return (await ctx.sql(insert, [`step:${key}`, runId])).length > 0;
}
