import type { TransitionTable } from '../../../runtime/request/states.js';
import { JobScheduleStatus, JobStatus } from '../entities/enums.js';

export type JobTrigger = 'due' | 'claim' | 'succeed' | 'fail' | 'fail_last' | 'release' | 'cancel' | 'end' | 'retry' | 'discard';

/** Source: jobs 3. `release`: the worker's process stops; `end`: a cancelled handler has ended, or 30 s have passed. */
export const JOB_STATES: TransitionTable<JobStatus, JobTrigger> = {
  scheduled: { due: JobStatus.QUEUED, cancel: JobStatus.CANCELLED },
  queued: { claim: JobStatus.RUNNING, cancel: JobStatus.CANCELLED },
  retrying: { claim: JobStatus.RUNNING, cancel: JobStatus.CANCELLED },
  running: {
    succeed: JobStatus.SUCCEEDED,
    fail: JobStatus.RETRYING,
    fail_last: JobStatus.DEAD,
    release: JobStatus.QUEUED,
    cancel: JobStatus.CANCELLING,
  },
  cancelling: { succeed: JobStatus.SUCCEEDED, end: JobStatus.CANCELLED, cancel: JobStatus.CANCELLING },
  succeeded: {},
  dead: { retry: JobStatus.QUEUED, discard: JobStatus.DISCARDED },
  cancelled: { retry: JobStatus.QUEUED },
  discarded: {},
};

const OVER: readonly string[] = ['succeeded', 'dead', 'cancelled', 'discarded'];

/** Nothing more happens to it by itself. */
export const isOver = (status: string): boolean => OVER.includes(status);

export type ScheduleTrigger = 'be_paused' | 'be_resumed' | 'end';

/** `end`: it is never due again. A finished one whose times are changed is active again. Source: jobs 2, JobSchedule. */
export const SCHEDULE_STATES: TransitionTable<JobScheduleStatus, ScheduleTrigger> = {
  active: { be_paused: JobScheduleStatus.PAUSED, end: JobScheduleStatus.FINISHED },
  paused: { be_resumed: JobScheduleStatus.ACTIVE },
  finished: {},
};
