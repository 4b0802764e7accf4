import { get, post, type Route, type RouteTable } from '../route.js';

const RUN = `id definitionKey definitionVersion key status trigger user { id } input output createdAt startedAt finishedAt
  waitingFor { kind name until } attempts parentId forkedFrom errorCode`;
const STEP = 'index name status attempts startedAt finishedAt outputDigest errorCode childRunId';
const TASK =
  'id runId title kind subject { type id } assigneeRole assigneeId dueAt status form result claimedBy completedBy createdAt version';
const DEFINITION = `key title version steps triggers { definitionKey kind cron timeZone eventType filter keyExpr nextAt } maxConcurrent
  timeoutDays owner enabled lastSuccessAt lastRuns { id key status finishedAt errorCode }`;
const STATE = { 409: 'The state does not allow it' };

const definitions: Route[] = [
  get('/v1/workflows', 'workflowDefinitions', DEFINITION, 'List workflows'),
  get('/v1/workflows/{key}', 'workflowDefinition', DEFINITION, 'Read a workflow'),
  post('/v1/workflows/{key}/enable', 'setWorkflowEnabled', DEFINITION, 'Let a workflow have new runs', {
    as: 'enableWorkflow',
    constant: { enabled: true },
  }),
  post('/v1/workflows/{key}/disable', 'setWorkflowEnabled', DEFINITION, 'Let a workflow have no new runs', {
    as: 'disableWorkflow',
    constant: { enabled: false },
  }),
  post('/v1/workflows/{key}/runs', 'startWorkflow', RUN, 'Start a run', {
    path: { key: 'definition' },
    status: [201, 200],
    location: '/v1/runs/{id}',
    problems: { 409: 'The workflow is disabled' },
    example: { request: { input: {} } },
  }),
  get('/v1/schedules', 'workflowSchedules', 'definitionKey cron timeZone nextAt lastAt misses', 'What is started by time alone'),
];

const runs: Route[] = [
  get('/v1/runs', 'workflowRuns', RUN, 'List runs'),
  get('/v1/runs/{id}', 'workflowRun', RUN, 'Read a run'),
  get('/v1/runs/{id}/steps', 'workflowRun.steps', STEP, 'Steps of a run'),
  post('/v1/runs/{id}/cancel', 'cancelWorkflowRun', RUN, 'Cancel a run', {
    problems: STATE,
    example: { request: { reason: 'No longer needed' } },
  }),
  post('/v1/runs/{id}/resume', 'resumeWorkflowRun', RUN, 'Go on after the last finished step', {
    problems: STATE,
    example: { request: { reason: 'The service is back' } },
  }),
  post('/v1/runs/{id}/fork', 'forkWorkflowRun', RUN, 'Begin a new run at a step of this one', {
    status: 201,
    location: '/v1/runs/{id}',
    problems: STATE,
    example: { request: { step: 1, reason: 'Its data was corrected' } },
  }),
  post('/v1/runs/{id}/signal', 'signalWorkflowRun', RUN, 'Say what a run waits for', {
    status: 202,
    problems: { 409: 'The run is not open, or waits for something else' },
    example: { request: { name: 'document.signed', payload: {}, idempotency_key: 'signed-1' } },
  }),
];

const tasks: Route[] = [
  get('/v1/tasks', 'workflowTasks', TASK, 'Tasks that one may decide'),
  post('/v1/tasks/{id}/claim', 'claimWorkflowTask', TASK, 'Claim a task', { problems: STATE }),
  post('/v1/tasks/{id}/release', 'releaseWorkflowTask', TASK, 'Give a task back', { problems: STATE }),
  post('/v1/tasks/{id}/complete', 'completeWorkflowTask', TASK, 'Decide', {
    problems: STATE,
    example: { request: { result: { decision: 'approved' } } },
  }),
  post('/v1/admin/test-clock', 'setWorkflowClock', 'now', "Move this service's manual clock (development and tests)"),
];

/** Routes of the workflow service. Source: contracts/workflow.md, section 4. */
const table: RouteTable = { service: 'workflow', routes: [...definitions, ...runs, ...tasks] };
export default table;
