import type { Context } from '../../../runtime/request/context.js';
import type { WorkflowTriggerKind } from '../entities/enums.js';
import { deadlineOf, runIdOf } from '../rules/run.js';
import type { WorkflowDefinitionCode } from '../ports/workflow.js';
import { sendToParents, wakeExecutors } from './messages.js';

export interface Start {
  trigger: WorkflowTriggerKind;
  input?: unknown;
  userId?: string | null;
  /** Event that starts it. */
  causeId?: string | null;
}

const START = `
insert into workflow.workflow_run_meta (id, engine_id, definition_key, definition_version, key, status, trigger, user_id, input, created_at, cause_id, deadline_at)
values ($1::uuid, $1::text || ':0', $2, $3, $4, 'pending', $5, $6, $7::jsonb, $8, $9, $10) on conflict (id) do nothing returning 1`;

/** Starts the run of a definition and key, unless it is there: true for a new one. */
export async function start(ctx: Context, definition: WorkflowDefinitionCode, key: string, given: Start): Promise<boolean> {
  const { trigger, input, userId = null, causeId = null } = given;
  const [made] = await ctx.sql(START, [
    runIdOf(definition.key, key),
    definition.key,
    definition.version,
    key,
    trigger,
    userId,
    JSON.stringify(input ?? {}),
    ctx.now().toISOString(),
    causeId,
    deadlineOf(definition, ctx.now()).toISOString(),
  ]);
  wakeExecutors(ctx);
  return made !== undefined;
}

const START_CHILD = `
insert into workflow.workflow_run_meta (id, engine_id, definition_key, definition_version, key, status, trigger, user_id, input, created_at, cause_id, deadline_at, parent_id)
select $1::uuid, $1::text || ':0', $2, $3, $4, 'pending', p.trigger, p.user_id, $5::jsonb, $6, p.cause_id, $7, p.id
from workflow.workflow_run_meta p where p.id = $8 on conflict (id) do nothing`;

/** Starts a part of a run: trigger, user and cause are the parent's. Answers its id. */
export async function startChild(
  ctx: Context,
  definition: WorkflowDefinitionCode,
  key: string,
  parentId: string,
  input: object,
): Promise<string> {
  const id = runIdOf(definition.key, key);
  await ctx.sql(START_CHILD, [
    id,
    definition.key,
    definition.version,
    key,
    JSON.stringify(definition.input.strict().parse(input)),
    ctx.now().toISOString(),
    deadlineOf(definition, ctx.now()).toISOString(),
    parentId,
  ]);
  wakeExecutors(ctx);
  return id;
}

/** For a child that ended before its parent waited for it. */
export async function sendIfEnded(ctx: Context, id: string): Promise<void> {
  const [ended] = await ctx.sql(
    `select 1 from workflow.workflow_run_meta where id = $1 and status in ('succeeded', 'failed', 'cancelled')`,
    [id],
  );
  if (ended) await sendToParents(ctx, [id]);
}
