import type { Context } from '../../../runtime/request/context.js';
import type { WorkflowTask } from '../entities/task.js';

/** A service, the assignee, or staff with the task's role, and nobody else who operates workflows: a decision is not theirs. Source: workflow 4. */
export function mayDecide({ caller }: Context, task: Pick<WorkflowTask, 'assigneeId' | 'assigneeRole'>): boolean {
  if (caller.kind !== 'user') return caller.kind === 'service' && caller.scopes.has('admin:jobs');
  return task.assigneeId === caller.userId || (task.assigneeRole !== null && caller.roles.includes(task.assigneeRole));
}
