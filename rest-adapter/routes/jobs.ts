import { del, get, patch, post, type Route, type RouteTable } from '../route.js';

const PROGRESS = 'progress { percent step message at }';
const JOB = `id queue { name } status payload output priority attempt maxAttempts runAt createdAt startedAt finishedAt nextAttemptAt
  ${PROGRESS} errorCode errorMessage dedupeKey groupKey user { id } requestedBy scheduleKey occurrenceAt parentId cancelRequestedAt`;
const OWN = `id title status ${PROGRESS} createdAt startedAt finishedAt`;
const QUEUE = `name service title policy retryLimit retryDelaySeconds retryBackoff timeoutSeconds heartbeatSeconds concurrency
  perKeyConcurrency retentionDays paused depth oldestReadySeconds failureRate deadCount version`;
const SCHEDULE = `key queue { name } cron every at timeZone payload misfire graceSeconds overlap status source nextRunAt lastRunAt
  lastStatus jitterSeconds nextRuns version`;
const OVERVIEW = 'queues { name depth oldestReadySeconds deadCount ratePerMinute failureRate waitP95Seconds runP95Seconds }';

const STATE = { 409: 'The state of the job does not allow it' };

const jobs: Route[] = [
  post('/v1/jobs', 'enqueueJob', JOB, 'Enqueue a job', {
    status: [202, 200],
    example: { request: { queue: 'jobs.http_probe', payload: { service: 'identity' }, dedupe_key: 'probe-identity' } },
  }),
  post('/v1/jobs/batch', 'enqueueJobs', 'count', 'Enqueue up to 1,000 jobs, all or none', {
    status: 202,
    example: { request: { jobs: [{ queue: 'jobs.http_probe', payload: { service: 'identity' } }] } },
  }),
  get('/v1/jobs', 'jobs', JOB, 'List jobs'),
  get('/v1/jobs/me', 'myJobs', OWN, 'Background work for oneself'),
  get('/v1/jobs/me/{id}', 'myJob', OWN, 'How far background work for oneself is'),
  get('/v1/jobs/{id}', 'job', JOB, 'Read a job'),
  get('/v1/jobs/{id}/logs', 'job.logs', 'at attempt level message', "A job's log", { omit: ['wait'] }),
  post('/v1/jobs/{id}/cancel', 'cancelJob', JOB, 'End a job', { status: [200, 202], problems: STATE }),
  post('/v1/jobs/{id}/retry', 'retryJob', JOB, 'Put a dead or cancelled job back', { problems: STATE }),
  post('/v1/jobs/{id}/discard', 'discardJob', JOB, 'Give a dead job up', {
    problems: STATE,
    example: { request: { reason: 'Its order was cancelled' } },
  }),
];

const queues: Route[] = [
  get('/v1/queues', 'jobQueues', QUEUE, 'List queues'),
  get('/v1/queues/{name}', 'jobQueue', QUEUE, 'Read a queue'),
  patch('/v1/queues/{name}', 'updateJobQueue', QUEUE, 'Override settings of a queue', {
    problems: { 409: 'It was changed meanwhile' },
    example: { request: { retry_limit: 3 } },
  }),
  post('/v1/queues/{name}/pause', 'pauseJobQueue', QUEUE, 'Let no job of a queue begin'),
  post('/v1/queues/{name}/resume', 'resumeJobQueue', QUEUE, 'Let jobs of a queue begin again'),
  post('/v1/queues/{name}/retry-dead', 'retryDeadJobs', 'count', 'Put dead jobs of a queue back', {
    status: 202,
    example: { request: { error_code: 'heartbeat_lost', limit: 100 } },
  }),
];

const schedules: Route[] = [
  get('/v1/schedules', 'jobSchedules', SCHEDULE, 'List schedules'),
  post('/v1/schedules', 'createJobSchedule', SCHEDULE, 'Make a schedule', {
    status: 201,
    problems: { 409: 'The key is taken' },
    example: {
      request: {
        key: 'operator.probe',
        queue: 'jobs.http_probe',
        cron: '0 6 * * *',
        time_zone: 'Europe/Berlin',
        payload: { service: 'identity' },
      },
    },
  }),
  get('/v1/schedules/{key}', 'jobSchedule', SCHEDULE, 'Read a schedule'),
  patch('/v1/schedules/{key}', 'updateJobSchedule', SCHEDULE, 'Change a schedule', {
    problems: { 409: 'It stands in code, or was changed meanwhile' },
    example: { request: { cron: '0 7 * * *', version: 1 } },
  }),
  del('/v1/schedules/{key}', 'deleteJobSchedule', 'key', 'Delete a schedule', { problems: { 409: 'It stands in code' } }),
  post('/v1/schedules/{key}/pause', 'pauseJobSchedule', SCHEDULE, 'Pause a schedule', { problems: { 409: 'It is not active' } }),
  post('/v1/schedules/{key}/resume', 'resumeJobSchedule', SCHEDULE, 'Let a schedule go on', { problems: { 409: 'It is not paused' } }),
  post('/v1/schedules/{key}/run', 'runJobScheduleNow', JOB, 'Run a schedule now, besides its plan', {
    status: [202, 200],
    location: '/v1/jobs/{id}',
  }),
  get('/v1/schedules/{key}/occurrences', 'jobOccurrences', 'scheduleKey dueAt state jobId', 'Why a schedule ran, or did not'),
];

const overview: Route[] = [
  get('/v1/workers', 'jobWorkers', 'service instance queues lastBeatAt running version state', 'List workers'),
  get('/v1/overview', 'jobsOverview', OVERVIEW, 'How every queue does'),
  post('/v1/admin/test-clock', 'setJobsClock', 'now', "Move this service's manual clock (development and tests)"),
];

/** Routes of the jobs service. Source: contracts/jobs.md, section 4. */
const table: RouteTable = { service: 'jobs', routes: [...jobs, ...queues, ...schedules, ...overview] };
export default table;
