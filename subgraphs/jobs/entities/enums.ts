import { registerEnums } from '../../../runtime/schema/enums.js';

export enum JobQueuePolicy {
  STANDARD = 'standard',
  SINGLETON = 'singleton',
  EXCLUSIVE = 'exclusive',
  KEY_FIFO = 'key_fifo',
}

export enum JobStatus {
  SCHEDULED = 'scheduled',
  QUEUED = 'queued',
  RUNNING = 'running',
  RETRYING = 'retrying',
  CANCELLING = 'cancelling',
  SUCCEEDED = 'succeeded',
  DEAD = 'dead',
  CANCELLED = 'cancelled',
  DISCARDED = 'discarded',
}

export enum JobLogLineLevel {
  INFO = 'info',
  WARN = 'warn',
  ERROR = 'error',
}

export enum JobScheduleMisfire {
  SKIP = 'skip',
  ONCE = 'once',
  ALL = 'all',
}

export enum JobScheduleOverlap {
  ALLOW = 'allow',
  SKIP = 'skip',
  QUEUE = 'queue',
}

export enum JobScheduleStatus {
  ACTIVE = 'active',
  PAUSED = 'paused',
  FINISHED = 'finished',
}

export enum JobScheduleSource {
  CODE = 'code',
  OPERATOR = 'operator',
}

export enum JobOccurrenceState {
  SENT = 'sent',
  SKIPPED_OVERLAP = 'skipped_overlap',
  MISFIRED = 'misfired',
}

export enum JobWorkerState {
  ALIVE = 'alive',
  LOST = 'lost',
}
registerEnums(
  {
    JobQueuePolicy,
    JobStatus,
    JobLogLineLevel,
    JobScheduleMisfire,
    JobScheduleOverlap,
    JobScheduleStatus,
    JobScheduleSource,
    JobOccurrenceState,
    JobWorkerState,
  },
  {
    JobQueuePolicy: 'No rule; one running per group key; one waiting or running per group key; one group key strictly in order.',
    JobScheduleMisfire: 'What becomes of occurrences noticed later than the grace: none, the last one, or all (100 at most).',
    JobScheduleOverlap:
      'What becomes of an occurrence while a job of an earlier one is not finished: it runs beside it, not at all, or after it.',
    JobWorkerState: 'Lost: silent for more than 60 seconds.',
  },
);

/** Who may enqueue; the operation also asks for the scope of the queue's service. Source: jobs 4. */
export const ENQUEUERS = { service: 'admin:jobs' } as const;
/** Queues, too: an operation of admins takes a service token with the scope as well. Source: conventions 7. */
export const READERS = { service: 'admin:jobs', staff: 'admin:jobs:read' } as const;
/** Whoever may act on a thing sees what an action answers; to look for things takes `READERS`. */
export const VIEWERS = { service: 'admin:jobs', staff: 'admin:jobs:read|admin:jobs:operate|admin:jobs:schedules' } as const;
export const OPERATORS = { service: 'admin:jobs', staff: 'admin:jobs:operate' } as const;
export const PLANNERS = { service: 'admin:jobs', staff: 'admin:jobs:schedules' } as const;
/** Payload and output. */
export const PAYLOAD_READERS = { service: 'admin:jobs', staff: 'admin:jobs:payload' } as const;
export const MEMBERS = { user: 'read:account' } as const;
