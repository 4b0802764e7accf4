import { registerEnumType } from 'type-graphql';

export enum WorkflowRunStatus {
  PENDING = 'pending',
  RUNNING = 'running',
  WAITING = 'waiting',
  SUCCEEDED = 'succeeded',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}
registerEnumType(WorkflowRunStatus, { name: 'WorkflowRunStatus' });

export enum WorkflowTriggerKind {
  SCHEDULE = 'schedule',
  EVENT = 'event',
  MANUAL = 'manual',
}
registerEnumType(WorkflowTriggerKind, { name: 'WorkflowTriggerKind' });

export enum WorkflowStepStatus {
  RUNNING = 'running',
  SUCCEEDED = 'succeeded',
  FAILED = 'failed',
}
registerEnumType(WorkflowStepStatus, { name: 'WorkflowStepStatus' });

export enum WorkflowTaskStatus {
  OPEN = 'open',
  CLAIMED = 'claimed',
  COMPLETED = 'completed',
  EXPIRED = 'expired',
  CANCELLED = 'cancelled',
}
registerEnumType(WorkflowTaskStatus, { name: 'WorkflowTaskStatus' });

export const SERVICES_ONLY = { service: 'admin:jobs' } as const;
export const READERS = { service: 'admin:jobs', staff: 'admin:jobs:workflow:read' } as const;
export const OPERATORS = { service: 'admin:jobs', staff: 'admin:jobs:workflow:operate' } as const;
/** Fields of what an operation answers: readers, and operators, who see what they have done. */
export const SHOWN = { service: 'admin:jobs', staff: 'admin:jobs:workflow:read|admin:jobs:workflow:operate' } as const;
/** A task belongs to whoever has its role or is its assignee; the operation looks. */
export const ASSIGNEES = { service: 'admin:jobs', staff: '*' } as const;
