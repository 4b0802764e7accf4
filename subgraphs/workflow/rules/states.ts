import type { TransitionTable } from '../../../runtime/request/states.js';
import { WorkflowRunStatus, WorkflowTaskStatus } from '../entities/enums.js';

const { PENDING, RUNNING, WAITING, SUCCEEDED, FAILED, CANCELLED } = WorkflowRunStatus;

export type RunTrigger = 'start' | 'wait' | 'wake' | 'succeed' | 'fail' | 'cancel' | 'resume' | 'signal';

/** Source: workflow 3. A resumed run is pending until an executor has it. */
export const RUN_STATES: TransitionTable<WorkflowRunStatus, RunTrigger> = {
  [PENDING]: { start: RUNNING, cancel: CANCELLED, signal: PENDING },
  [RUNNING]: { wait: WAITING, succeed: SUCCEEDED, fail: FAILED, cancel: CANCELLED, signal: RUNNING },
  [WAITING]: { wake: RUNNING, succeed: SUCCEEDED, fail: FAILED, cancel: CANCELLED, signal: WAITING },
  [SUCCEEDED]: {},
  [FAILED]: { resume: PENDING },
  [CANCELLED]: { resume: PENDING },
};

export type TaskTrigger = 'claim' | 'release' | 'complete' | 'expire' | 'cancel';

const { OPEN, CLAIMED, COMPLETED, EXPIRED } = WorkflowTaskStatus;

export const TASK_STATES: TransitionTable<WorkflowTaskStatus, TaskTrigger> = {
  [OPEN]: { claim: CLAIMED, complete: COMPLETED, expire: EXPIRED, cancel: WorkflowTaskStatus.CANCELLED },
  [CLAIMED]: { release: OPEN, complete: COMPLETED, expire: EXPIRED, cancel: WorkflowTaskStatus.CANCELLED },
  [COMPLETED]: {},
  [EXPIRED]: {},
  [WorkflowTaskStatus.CANCELLED]: {},
};
