import { LockMode, type FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { actorOf, holdsPermission } from '../../../runtime/request/caller.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { schemaViolations } from '../../../runtime/schema/json-schema.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { move } from '../../../runtime/request/states.js';
import { WorkflowTask, WorkflowTaskConnection } from '../entities/task.js';
import { ASSIGNEES } from '../entities/enums.js';
import { CompleteWorkflowTaskInput, WorkflowTasksArgs } from '../inputs/run.js';
import { say } from '../ports/words.js';
import { TASK_STATES } from '../rules/states.js';
import { mayDecide } from '../queries/assignee.js';

/** Tasks of others are as if they were not there. */
function ofCaller({ caller }: Context): FilterQuery<WorkflowTask> {
  if (caller.kind !== 'user') return {};
  return { $or: [{ assigneeId: caller.userId }, { assigneeRole: { $in: [...caller.roles] } }] } as FilterQuery<WorkflowTask>;
}

async function lock(ctx: Context, id: string): Promise<WorkflowTask> {
  const task = isUuid(id) ? await ctx.em.findOne(WorkflowTask, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  return task && mayDecide(ctx, task) ? task : fail('not_found', 'Not found');
}

/** Somebody else is at it, or the caller's own token may not do what the task is about. */
function requireOwn(ctx: Context, { claimedBy, permission }: WorkflowTask): void {
  if (permission !== null && ctx.caller.kind === 'user' && !holdsPermission(ctx.caller, permission))
    fail('forbidden', 'The task needs a permission that the caller does not hold', { reason: 'permission_missing' });
  if (claimedBy !== null && ctx.caller.kind === 'user' && claimedBy !== ctx.caller.userId)
    fail('conflict', 'The task is claimed by somebody else', { reason: 'claimed_by_another' });
}

@Resolver(() => WorkflowTask)
export class TaskResolver {
  @Access(ASSIGNEES)
  @Query(() => WorkflowTaskConnection, { description: 'Tasks that the caller may decide, newest first.' })
  workflowTasks(
    @Args(() => WorkflowTasksArgs) { assigneeRole, status, due, ...paging }: WorkflowTasksArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WorkflowTask>> {
    const asked = { ...(assigneeRole && { assigneeRole }), ...(status && { status }), ...(due && { dueAt: { $lt: due } }) };
    const where = { $and: [asked, ofCaller(ctx)] } as FilterQuery<WorkflowTask>;
    return page<WorkflowTask>(ctx.em, WorkflowTask, where, paging, { time: 'createdAt' });
  }

  @Access(ASSIGNEES)
  @Mutation(() => WorkflowTask)
  async claimWorkflowTask(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WorkflowTask> {
    const task = await lock(ctx, id);
    requireOwn(ctx, task);
    task.status = move(TASK_STATES, 'task', task.status, 'claim');
    task.claimedBy = ctx.caller.userId;
    ctx.audit('workflow_task.claimed', id);
    return task;
  }

  @Access(ASSIGNEES)
  @Mutation(() => WorkflowTask)
  async releaseWorkflowTask(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WorkflowTask> {
    const task = await lock(ctx, id);
    requireOwn(ctx, task);
    task.status = move(TASK_STATES, 'task', task.status, 'release');
    task.claimedBy = null;
    ctx.audit('workflow_task.released', id);
    return task;
  }

  @Access(ASSIGNEES)
  @Mutation(() => WorkflowTask, { description: 'Decides: the run goes on with the result.' })
  async completeWorkflowTask(
    @Arg('input', () => CompleteWorkflowTaskInput) { id, result }: CompleteWorkflowTaskInput,
    @Ctx() ctx: Context,
  ): Promise<WorkflowTask> {
    const task = await lock(ctx, id);
    requireOwn(ctx, task);
    const status = move(TASK_STATES, 'task', task.status, 'complete');
    const errors = schemaViolations(task.form, result, '/input/result');
    if (errors.length) fail('invalid_request', 'The result does not match the form', { errors });
    Object.assign(task, { status, result, completedBy: actorOf(ctx.caller) });
    const [engineId, topic] = task.engineId.split(' ') as [string, string];
    if (topic) await say(ctx, engineId, topic, { payload: result as object });
    ctx.audit('workflow_task.completed', id);
    return task;
  }
}
