import { body, bodyKey, input, path, query, type Route, type RouteTable } from '../route.js';

const PROGRESS = 'progress { percent step message at }';
const JOB = `id queue { name } status payload output priority attempt maxAttempts runAt createdAt startedAt finishedAt nextAttemptAt ${PROGRESS} errorCode
  errorMessage dedupeKey groupKey user { id } requestedBy scheduleKey occurrenceAt parentId cancelRequestedAt`;
const OWN = `id title status ${PROGRESS} createdAt startedAt finishedAt`;
const QUEUE = `name service title policy retryLimit retryDelaySeconds retryBackoff timeoutSeconds heartbeatSeconds concurrency perKeyConcurrency retentionDays
  paused depth oldestReadySeconds failureRate deadCount version`;
const SCHEDULE = `key queue { name } cron every at timeZone payload misfire graceSeconds overlap status source nextRunAt lastRunAt lastStatus jitterSeconds
  nextRuns version`;
const PAGE = 'pageInfo { endCursor hasNextPage }';

const STATE = { 409: 'The state of the job does not allow it' };

const jobs: Route[] = [
  {
    method: 'POST',
    path: '/v1/jobs',
    status: [202, 200],
    location: '/v1/jobs/{id}',
    summary: 'Enqueue a job',
    document: `mutation EnqueueJob($input: EnqueueJobInput!) { result: enqueueJob(input: $input) { ${JOB} } }`,
    variables: { input: body() },
    example: { request: { queue: 'jobs.http_probe', payload: { service: 'identity' }, dedupe_key: 'probe-identity' } },
  },
  {
    method: 'POST',
    path: '/v1/jobs/batch',
    status: [202],
    summary: 'Enqueue up to 1,000 jobs, all or none',
    document: 'mutation EnqueueJobs($input: EnqueueJobsInput!) { result: enqueueJobs(input: $input) { count } }',
    variables: { input: body() },
    example: { request: { jobs: [{ queue: 'jobs.http_probe', payload: { service: 'identity' } }] } },
  },
  {
    method: 'GET',
    path: '/v1/jobs',
    status: [200],
    summary: 'List jobs',
    document: `query Jobs($queue: String, $status: [JobStatus!], $userId: ID, $scheduleKey: String, $from: DateTime, $to: DateTime, $first: Int, $after: String) {
      result: jobs(queue: $queue, status: $status, userId: $userId, scheduleKey: $scheduleKey, from: $from, to: $to, first: $first, after: $after) {
        nodes { ${JOB} } ${PAGE}
      }
    }`,
    variables: {
      queue: query('queue'),
      status: query('status'),
      userId: query('user_id'),
      scheduleKey: query('schedule_key'),
      from: query('from'),
      to: query('to'),
    },
  },
  {
    method: 'GET',
    path: '/v1/jobs/me',
    status: [200],
    summary: 'Background work for oneself',
    document: `query MyJobs($first: Int, $after: String) { result: myJobs(first: $first, after: $after) { nodes { ${OWN} } ${PAGE} } }`,
  },
  {
    method: 'GET',
    path: '/v1/jobs/me/{id}',
    status: [200],
    summary: 'How far background work for oneself is',
    document: `query MyJob($id: ID!, $wait: Int) { result: myJob(id: $id, wait: $wait) { ${OWN} } }`,
    variables: { id: path('id'), wait: query('wait') },
  },
  {
    method: 'GET',
    path: '/v1/jobs/{id}',
    status: [200],
    summary: 'Read a job',
    document: `query Job($id: ID!, $wait: Int) { result: job(id: $id, wait: $wait) { ${JOB} } }`,
    variables: { id: path('id'), wait: query('wait') },
  },
  {
    method: 'GET',
    path: '/v1/jobs/{id}/logs',
    status: [200],
    summary: "A job's log",
    document: 'query JobLogs($id: ID!) { job(id: $id) { result: logs { at attempt level message } } }',
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/jobs/{id}/cancel',
    status: [200, 202],
    summary: 'End a job',
    document: `mutation CancelJob($input: OperateJobInput!) { result: cancelJob(input: $input) { ${JOB} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: STATE,
  },
  {
    method: 'POST',
    path: '/v1/jobs/{id}/retry',
    status: [200],
    summary: 'Put a dead or cancelled job back',
    document: `mutation RetryJob($input: OperateJobInput!) { result: retryJob(input: $input) { ${JOB} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: STATE,
  },
  {
    method: 'POST',
    path: '/v1/jobs/{id}/discard',
    status: [200],
    summary: 'Give a dead job up',
    document: `mutation DiscardJob($input: DiscardJobInput!) { result: discardJob(input: $input) { ${JOB} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: STATE,
    example: { request: { reason: 'Its order was cancelled' } },
  },
];

const queues: Route[] = [
  {
    method: 'GET',
    path: '/v1/queues',
    status: [200],
    summary: 'List queues',
    document: `query JobQueues($first: Int, $after: String) { result: jobQueues(first: $first, after: $after) { nodes { ${QUEUE} } ${PAGE} } }`,
  },
  {
    method: 'GET',
    path: '/v1/queues/{name}',
    status: [200],
    summary: 'Read a queue',
    document: `query JobQueue($name: String!) { result: jobQueue(name: $name) { ${QUEUE} } }`,
    variables: { name: path('name') },
  },
  {
    method: 'PATCH',
    path: '/v1/queues/{name}',
    status: [200],
    summary: 'Override settings of a queue',
    document: `mutation UpdateJobQueue($input: UpdateJobQueueInput!) { result: updateJobQueue(input: $input) { ${QUEUE} } }`,
    variables: { input: input({ path: ['name'] }) },
    problems: { 409: 'It was changed meanwhile' },
    example: { request: { retry_limit: 3 } },
  },
  {
    method: 'POST',
    path: '/v1/queues/{name}/pause',
    status: [200],
    summary: 'Let no job of a queue begin',
    document: `mutation PauseJobQueue($name: String!, $reason: String) { result: pauseJobQueue(name: $name, reason: $reason) { ${QUEUE} } }`,
    variables: { name: path('name'), reason: bodyKey('reason') },
  },
  {
    method: 'POST',
    path: '/v1/queues/{name}/resume',
    status: [200],
    summary: 'Let jobs of a queue begin again',
    document: `mutation ResumeJobQueue($name: String!, $reason: String) { result: resumeJobQueue(name: $name, reason: $reason) { ${QUEUE} } }`,
    variables: { name: path('name'), reason: bodyKey('reason') },
  },
  {
    method: 'POST',
    path: '/v1/queues/{name}/retry-dead',
    status: [202],
    summary: 'Put dead jobs of a queue back',
    document: 'mutation RetryDeadJobs($input: RetryDeadJobsInput!) { result: retryDeadJobs(input: $input) { count } }',
    variables: { input: input({ path: ['name'] }) },
    example: { request: { error_code: 'heartbeat_lost', limit: 100 } },
  },
];

const schedules: Route[] = [
  {
    method: 'GET',
    path: '/v1/schedules',
    status: [200],
    summary: 'List schedules',
    document: `query JobSchedules($queue: String, $status: JobScheduleStatus, $first: Int, $after: String) {
      result: jobSchedules(queue: $queue, status: $status, first: $first, after: $after) { nodes { ${SCHEDULE} } ${PAGE} }
    }`,
    variables: { queue: query('queue'), status: query('status') },
  },
  {
    method: 'POST',
    path: '/v1/schedules',
    status: [201],
    location: '/v1/schedules/{key}',
    summary: 'Make a schedule',
    document: `mutation CreateJobSchedule($input: CreateJobScheduleInput!) { result: createJobSchedule(input: $input) { ${SCHEDULE} } }`,
    variables: { input: body() },
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
  },
  {
    method: 'GET',
    path: '/v1/schedules/{key}',
    status: [200],
    summary: 'Read a schedule',
    document: `query JobSchedule($key: ID!) { result: jobSchedule(key: $key) { ${SCHEDULE} } }`,
    variables: { key: path('key') },
  },
  {
    method: 'PATCH',
    path: '/v1/schedules/{key}',
    status: [200],
    summary: 'Change a schedule',
    document: `mutation UpdateJobSchedule($input: UpdateJobScheduleInput!) { result: updateJobSchedule(input: $input) { ${SCHEDULE} } }`,
    variables: { input: input({ path: ['key'] }) },
    problems: { 409: 'It stands in code, or was changed meanwhile' },
    example: { request: { cron: '0 7 * * *', version: 1 } },
  },
  {
    method: 'DELETE',
    path: '/v1/schedules/{key}',
    status: [204],
    summary: 'Delete a schedule',
    document: 'mutation DeleteJobSchedule($key: ID!, $reason: String) { result: deleteJobSchedule(key: $key, reason: $reason) { key } }',
    variables: { key: path('key'), reason: query('reason') },
    problems: { 409: 'It stands in code' },
  },
  {
    method: 'POST',
    path: '/v1/schedules/{key}/pause',
    status: [200],
    summary: 'Pause a schedule',
    document: `mutation PauseJobSchedule($key: ID!, $reason: String) { result: pauseJobSchedule(key: $key, reason: $reason) { ${SCHEDULE} } }`,
    variables: { key: path('key'), reason: bodyKey('reason') },
    problems: { 409: 'It is not active' },
  },
  {
    method: 'POST',
    path: '/v1/schedules/{key}/resume',
    status: [200],
    summary: 'Let a schedule go on',
    document: `mutation ResumeJobSchedule($key: ID!, $reason: String) { result: resumeJobSchedule(key: $key, reason: $reason) { ${SCHEDULE} } }`,
    variables: { key: path('key'), reason: bodyKey('reason') },
    problems: { 409: 'It is not paused' },
  },
  {
    method: 'POST',
    path: '/v1/schedules/{key}/run',
    status: [202, 200],
    location: '/v1/jobs/{id}',
    summary: 'Run a schedule now, besides its plan',
    document: `mutation RunJobScheduleNow($key: ID!, $reason: String) { result: runJobScheduleNow(key: $key, reason: $reason) { ${JOB} } }`,
    variables: { key: path('key'), reason: bodyKey('reason') },
  },
  {
    method: 'GET',
    path: '/v1/schedules/{key}/occurrences',
    status: [200],
    summary: 'Why a schedule ran, or did not',
    document: `query JobOccurrences($key: ID!, $state: JobOccurrenceState, $first: Int, $after: String) {
      result: jobOccurrences(key: $key, state: $state, first: $first, after: $after) { nodes { scheduleKey dueAt state jobId } ${PAGE} }
    }`,
    variables: { key: path('key'), state: query('state') },
  },
];

const overview: Route[] = [
  {
    method: 'GET',
    path: '/v1/workers',
    status: [200],
    summary: 'List workers',
    document: 'query JobWorkers { result: jobWorkers { service instance queues lastBeatAt running version state } }',
  },
  {
    method: 'GET',
    path: '/v1/overview',
    status: [200],
    summary: 'How every queue does',
    document: `query JobsOverview {
      result: jobsOverview { queues { name depth oldestReadySeconds deadCount ratePerMinute failureRate waitP95Seconds runP95Seconds } }
    }`,
  },
  {
    method: 'POST',
    path: '/v1/admin/test-clock',
    status: [200],
    summary: "Move this service's manual clock (development and tests)",
    document: 'mutation SetJobsClock($input: SetClockInput!) { result: setJobsClock(input: $input) { now } }',
    variables: { input: body() },
  },
];

/** Routes of the jobs service. Source: contracts/jobs.md, section 4. */
const table: RouteTable = { service: 'jobs', routes: [...jobs, ...queues, ...schedules, ...overview] };
export default table;
