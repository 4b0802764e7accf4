import { holdsPermission } from '../../../runtime/caller.js';
import type { Context } from '../../../runtime/context.js';
import type { WorkflowTask } from '../entities/task.js';

/** A service, whoever may operate workflows, the assignee, or staff with the task's role; what the task asks for besides is for whoever decides. Source: workflow 4. */
export function mayDecide({ caller }: Context, task: Pick<WorkflowTask, 'assigneeId' | 'assigneeRole'>): boolean {
  if (caller.kind !== 'user') return caller.kind === 'service' && caller.scopes.has('admin:jobs');
  if (holdsPermission(caller, 'admin:jobs:workflow:operate')) return true;
  return task.assigneeId === caller.userId || (task.assigneeRole !== null && caller.roles.includes(task.assigneeRole));
}
