import { v5 } from 'uuid';
import { actorOf, holdsPermission } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { move } from '../../../runtime/request/states.js';
import { schemaViolations } from '../../../runtime/schema/json-schema.js';
import { WorkflowTask } from '../entities/task.js';
import type { CompleteWorkflowTaskInput } from '../inputs/task.js';
import { TASK_STATES } from '../rules/states.js';
import type { TaskSpec } from '../ports/workflow.js';
import { mayDecide } from '../queries/task.js';
import { sendToRun } from './messages.js';
import { notifyRole } from './notices.js';
import type { RunKey } from './records.js';

/** Name space of the ids of tasks, so that a step that is executed again opens none twice. */
const TASKS = '5d2f6d0e-0a38-5f43-8a0f-3f1d8f1b0c11';

const OPEN = `
insert into workflow.workflow_task (id, run_id, engine_id, title, kind, assignee_role, assignee_id, due_at, status, form, created_at, permission, subject_type, subject_id)
values ($1, $2, $3, $4, $5, $6, $7, $8, 'open', $9::jsonb, $10, $11, $12, $13) on conflict (id) do nothing`;

/** Opens the task of a run; without a topic nobody waits for the decision. @param at tells the tasks of a run apart. */
export async function openTask(ctx: Context, { runId, engineId }: RunKey, topic: string | null, at: string, spec: TaskSpec): Promise<void> {
  const { title, kind, subject, assigneeRole = null, assigneeId = null, dueAt, form, permission = null } = spec;
  await ctx.sql(OPEN, [
    v5(`${engineId}\n${at}`, TASKS),
    runId,
    `${engineId} ${topic ?? ''}`,
    title,
    kind,
    assigneeRole,
    assigneeId,
    dueAt.toISOString(),
    JSON.stringify(form),
    ctx.now().toISOString(),
    permission,
    subject.type,
    subject.id,
  ]);
}

/** A task that is the caller's to decide. @throws Problem not_found, forbidden, conflict where somebody else has claimed it. */
async function lockOwn(ctx: Context, id: string): Promise<WorkflowTask> {
  const task = await lockRow(ctx, WorkflowTask, { id });
  if (!mayDecide(ctx, task)) fail('not_found', 'Not found');
  const { claimedBy, permission } = task;
  if (permission !== null && ctx.caller.kind === 'user' && !holdsPermission(ctx.caller, permission))
    fail('forbidden', 'The task needs a permission that the caller does not hold', { reason: 'permission_missing' });
  if (claimedBy !== null && ctx.caller.kind === 'user' && claimedBy !== ctx.caller.userId)
    fail('conflict', 'The task is claimed by somebody else', { reason: 'claimed_by_another' });
  return task;
}

/** @throws Problem as {@link lockOwn}, conflict by its state. */
export async function claimTask(ctx: Context, id: string): Promise<WorkflowTask> {
  const task = await lockOwn(ctx, id);
  task.status = move(TASK_STATES, 'task', task.status, 'claim');
  task.claimedBy = ctx.caller.userId;
  ctx.audit('workflow_task.claimed', id);
  return task;
}

/** @throws Problem as {@link lockOwn}, conflict by its state. */
export async function releaseTask(ctx: Context, id: string): Promise<WorkflowTask> {
  const task = await lockOwn(ctx, id);
  task.status = move(TASK_STATES, 'task', task.status, 'release');
  task.claimedBy = null;
  ctx.audit('workflow_task.released', id);
  return task;
}

/** Decides: the run goes on with the result. @throws Problem as {@link lockOwn}, conflict by its state, invalid_request by its form. */
export async function completeTask(ctx: Context, { id, result }: CompleteWorkflowTaskInput): Promise<WorkflowTask> {
  const task = await lockOwn(ctx, id);
  const status = move(TASK_STATES, 'task', task.status, 'complete');
  const errors = schemaViolations(task.form, result, '/input/result');
  if (errors.length) fail('invalid_request', 'The result does not match the form', { errors });
  Object.assign(task, { status, result, completedBy: actorOf(ctx.caller) });
  const [engineId, topic] = task.engineId.split(' ') as [string, string];
  if (topic) await sendToRun(ctx, engineId, topic, { payload: result as object });
  ctx.audit('workflow_task.completed', id);
  return task;
}

/** Nobody has decided in time: the run goes on without, and those who should have are told. Source: workflow 3, 5. */
export async function expireTasks(ctx: Context): Promise<void> {
  const late = await ctx.sql<{ id: string; assignee_role: string | null }>(
    `update workflow.workflow_task set status = 'expired', version = version + 1 where status in ('open', 'claimed') and due_at <= $1
     returning id, assignee_role`,
    [ctx.now().toISOString()],
  );
  for (const { id, assignee_role: role } of late)
    notifyRole(ctx, role ?? 'developer', { template: 'workflow_task_overdue', params: { task_id: id } });
}
