import { service } from '../../runtime/service.js';
import { consumers } from './consumers/events.js';
import { queues, schedules } from './workers/queues.js';
import { timers } from './workers/timekeeper.js';
import { Job } from './entities/job.js';
import { JobQueue } from './entities/queue.js';
import { JobSchedule } from './entities/schedule.js';
import { references } from './references.js';
import { PlatformService, User } from './stubs.js';
import { EnqueueResolver } from './resolvers/enqueue.js';
import { erase } from './erase.js';
import { JobResolver } from './resolvers/job.js';
import { JobFieldsResolver, ServiceQueuesResolver, UserJobsResolver } from './resolvers/job-fields.js';
import { OverviewResolver } from './resolvers/overview.js';
import { QueueResolver } from './resolvers/queue.js';
import { ScheduleResolver } from './resolvers/schedule.js';

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
  ],
  types: [User, PlatformService],
  references,
  consumers,
  timers,
  queues,
  schedules,
  erase,
});
