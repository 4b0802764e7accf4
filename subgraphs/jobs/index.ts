import { service } from '../../runtime/service.js';
import { consumers } from './consumers.js';
import { Job } from './entities/job.js';
import { JobQueue } from './entities/queue.js';
import { JobSchedule } from './entities/schedule.js';
import { erase } from './erase.js';
import { references } from './references.js';
import { ServiceQueuesResolver, UserJobsResolver } from './resolvers/extended.js';
import { JobResolver } from './resolvers/job.js';
import { QueueResolver } from './resolvers/queue.js';
import { ScheduleResolver } from './resolvers/schedule.js';
import { PlatformService, User } from './stubs.js';
import { timers } from './timers.js';
import { queues, schedules } from './workers/queues.js';

export default service({
  slug: 'jobs',
  purpose: 'Work after the answer: queues with retries, schedules, progress, cancellation, dead jobs and their return',
  entities: [Job, JobQueue, JobSchedule],
  resolvers: [JobResolver, QueueResolver, ScheduleResolver, UserJobsResolver, ServiceQueuesResolver],
  types: [User, PlatformService],
  references,
  consumers,
  timers,
  queues,
  schedules,
  erase,
});
