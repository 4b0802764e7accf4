import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { WorkflowTask } from '../entities/task.js';
import type { WorkflowTasksArgs } from '../inputs/task.js';

/** A service, the assignee, or staff with the task's role, and nobody else who operates workflows: a decision is not theirs. Source: workflow 4. */
export function mayDecide({ caller }: Context, task: Pick<WorkflowTask, 'assigneeId' | 'assigneeRole'>): boolean {
  if (caller.kind !== 'user') return caller.kind === 'service' && caller.scopes.has('admin:jobs');
  return task.assigneeId === caller.userId || (task.assigneeRole !== null && caller.roles.includes(task.assigneeRole));
}

/** Tasks of others are as if they were not there. */
function ofCaller({ caller }: Context): FilterQuery<WorkflowTask> {
  if (caller.kind !== 'user') return {};
  return { $or: [{ assigneeId: caller.userId }, { assigneeRole: { $in: [...caller.roles] } }] };
}

/** Tasks that the caller may decide, newest first. */
export function pageOfTasks(ctx: Context, args: WorkflowTasksArgs): Promise<Connection<WorkflowTask>> {
  const { assigneeRole, status, due, ...paging } = args;
  const asked = { ...(assigneeRole && { assigneeRole }), ...(status && { status }), ...(due && { dueAt: { $lt: due } }) };
  return page<WorkflowTask>(ctx.em, WorkflowTask, { $and: [asked, ofCaller(ctx)] }, paging, { time: 'createdAt' });
}
