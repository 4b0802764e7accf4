import { registerEnums } from '../../../runtime/schema/enums.js';

export enum WorkflowRunStatus {
  PENDING = 'pending',
  RUNNING = 'running',
  WAITING = 'waiting',
  SUCCEEDED = 'succeeded',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}

export enum WorkflowTriggerKind {
  SCHEDULE = 'schedule',
  EVENT = 'event',
  MANUAL = 'manual',
}

export enum WorkflowStepStatus {
  RUNNING = 'running',
  SUCCEEDED = 'succeeded',
  FAILED = 'failed',
}

export enum WorkflowTaskStatus {
  OPEN = 'open',
  CLAIMED = 'claimed',
  COMPLETED = 'completed',
  EXPIRED = 'expired',
  CANCELLED = 'cancelled',
}
registerEnums({ WorkflowRunStatus, WorkflowTriggerKind, WorkflowStepStatus, WorkflowTaskStatus });

export const SERVICES_ONLY = { service: 'admin:jobs' } as const;
export const READERS = { service: 'admin:jobs', staff: 'admin:jobs:workflow:read' } as const;
export const OPERATORS = { service: 'admin:jobs', staff: 'admin:jobs:workflow:operate' } as const;
/** Fields of what an operation answers: readers, and operators, who see what they have done. */
export const SHOWN = { service: 'admin:jobs', staff: 'admin:jobs:workflow:read|admin:jobs:workflow:operate' } as const;
/** A task belongs to whoever has its role or is its assignee; the operation looks. */
export const ASSIGNEES = { service: 'admin:jobs', staff: '*' } as const;
