import { service } from '../../runtime/service.js';
import { clockControl } from '../../runtime/test-controls.js';
import { consumers } from './consumers/events.js';
import { queues, schedules } from './consumers/queues.js';
import { timers } from './consumers/timekeeper.js';
import { Job } from './entities/job.js';
import { JobQueue } from './entities/queue.js';
import { JobSchedule } from './entities/schedule.js';
import { references } from './references/loaders.js';
import { PlatformService, User } from './references/types.js';
import { EnqueueResolver } from './resolver/enqueue.js';
import { erase } from './resolver/erasure.js';
import { JobResolver } from './resolver/job.js';
import { JobFieldsResolver, ServiceQueuesResolver, UserJobsResolver } from './resolver/job-fields.js';
import { OverviewResolver } from './resolver/overview.js';
import { QueueResolver } from './resolver/queue.js';
import { ScheduleResolver } from './resolver/schedule.js';

export default service({
  slug: 'jobs',
  purpose: 'Work after the answer: queues with retries, schedules, progress, cancellation, dead jobs and their return',
  entities: [Job, JobQueue, JobSchedule],
  resolvers: [
    EnqueueResolver,
    JobResolver,
    JobFieldsResolver,
    UserJobsResolver,
    ServiceQueuesResolver,
    OverviewResolver,
    QueueResolver,
    ScheduleResolver,
    clockControl('jobs'),
  ],
  types: [User, PlatformService],
  references,
  consumers,
  timers,
  queues,
  schedules,
  erase,
});
