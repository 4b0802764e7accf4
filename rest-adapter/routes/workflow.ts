import { body, input, path, query, type Route, type RouteTable } from '../route.js';

const RUN = `id definitionKey definitionVersion key status trigger user { id } input output createdAt startedAt finishedAt waitingFor { kind name until }
  attempts parentId forkedFrom errorCode`;
const STEP = 'index name status attempts startedAt finishedAt outputDigest errorCode childRunId';
const TASK = 'id title kind assigneeRole assigneeId dueAt status form result claimedBy completedBy createdAt version';
const DEFINITION = `key title version steps triggers { definitionKey kind cron timeZone eventType filter keyExpr nextAt } maxConcurrent timeoutDays owner enabled lastSuccessAt
  lastRuns { id key status finishedAt errorCode }`;
const PAGE = 'pageInfo { endCursor hasNextPage }';
const STATE = { 409: 'The state does not allow it' };

const definitions: Route[] = [
  {
    method: 'GET',
    path: '/v1/workflows',
    status: [200],
    summary: 'List workflows',
    document: `query WorkflowDefinitions { result: workflowDefinitions { ${DEFINITION} } }`,
  },
  {
    method: 'GET',
    path: '/v1/workflows/{key}',
    status: [200],
    summary: 'Read a workflow',
    document: `query WorkflowDefinition($key: String!) { result: workflowDefinition(key: $key) { ${DEFINITION} } }`,
    variables: { key: path('key') },
  },
  ...([true, false] as const).map((enabled): Route => {
    const word = enabled ? 'Enable' : 'Disable';
    return {
      method: 'POST',
      path: `/v1/workflows/{key}/${word.toLowerCase()}`,
      status: [200],
      summary: enabled ? 'Let a workflow have new runs' : 'Let a workflow have no new runs',
      document: `mutation ${word}Workflow($input: SetWorkflowEnabledInput!) { result: setWorkflowEnabled(input: $input) { ${DEFINITION} } }`,
      variables: { input: input({ body: false, path: ['key'], constant: { enabled } }) },
    };
  }),
  {
    method: 'POST',
    path: '/v1/workflows/{key}/runs',
    status: [201, 200],
    location: '/v1/runs/{id}',
    summary: 'Start a run',
    document: `mutation StartWorkflow($input: StartWorkflowInput!) { result: startWorkflow(input: $input) { ${RUN} } }`,
    variables: { input: input({ path: { key: 'definition' } }) },
    problems: { 409: 'The workflow is disabled' },
    example: { request: { input: {} } },
  },
  {
    method: 'GET',
    path: '/v1/schedules',
    status: [200],
    summary: 'What is started by time alone',
    document: 'query WorkflowSchedules { result: workflowSchedules { definitionKey cron timeZone nextAt lastAt misses } }',
  },
];

const runs: Route[] = [
  {
    method: 'GET',
    path: '/v1/runs',
    status: [200],
    summary: 'List runs',
    document: `query WorkflowRuns($definition: String, $status: [WorkflowRunStatus!], $userId: ID, $waitingFor: String, $from: DateTime, $to: DateTime,
        $first: Int, $after: String) {
      result: workflowRuns(definition: $definition, status: $status, userId: $userId, waitingFor: $waitingFor, from: $from, to: $to, first: $first,
        after: $after) { nodes { ${RUN} } ${PAGE} }
    }`,
    variables: {
      definition: query('definition'),
      status: query('status'),
      userId: query('user_id'),
      waitingFor: query('waiting_for'),
      from: query('from'),
      to: query('to'),
    },
  },
  {
    method: 'GET',
    path: '/v1/runs/{id}',
    status: [200],
    summary: 'Read a run',
    document: `query WorkflowRun($id: ID!) { result: workflowRun(id: $id) { ${RUN} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'GET',
    path: '/v1/runs/{id}/steps',
    status: [200],
    summary: 'Steps of a run',
    document: `query WorkflowRunSteps($id: ID!) { workflowRun(id: $id) { result: steps { ${STEP} } } }`,
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/runs/{id}/cancel',
    status: [200],
    summary: 'Cancel a run',
    document: `mutation CancelWorkflowRun($input: OperateWorkflowRunInput!) { result: cancelWorkflowRun(input: $input) { ${RUN} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: STATE,
    example: { request: { reason: 'No longer needed' } },
  },
  {
    method: 'POST',
    path: '/v1/runs/{id}/resume',
    status: [200],
    summary: 'Go on after the last finished step',
    document: `mutation ResumeWorkflowRun($input: OperateWorkflowRunInput!) { result: resumeWorkflowRun(input: $input) { ${RUN} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: STATE,
    example: { request: { reason: 'The service is back' } },
  },
  {
    method: 'POST',
    path: '/v1/runs/{id}/fork',
    status: [201],
    location: '/v1/runs/{id}',
    summary: 'Begin a new run at a step of this one',
    document: `mutation ForkWorkflowRun($input: ForkWorkflowRunInput!) { result: forkWorkflowRun(input: $input) { ${RUN} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: STATE,
    example: { request: { step: 1, reason: 'Its data was corrected' } },
  },
  {
    method: 'POST',
    path: '/v1/runs/{id}/signal',
    status: [202],
    summary: 'Say what a run waits for',
    document: `mutation SignalWorkflowRun($input: SignalWorkflowRunInput!) { result: signalWorkflowRun(input: $input) { ${RUN} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'The run is not open, or waits for something else' },
    example: { request: { name: 'document.signed', payload: {}, idempotency_key: 'signed-1' } },
  },
];

const tasks: Route[] = [
  {
    method: 'GET',
    path: '/v1/tasks',
    status: [200],
    summary: 'Tasks that one may decide',
    document: `query WorkflowTasks($assigneeRole: String, $status: WorkflowTaskStatus, $due: DateTime, $first: Int, $after: String) {
      result: workflowTasks(assigneeRole: $assigneeRole, status: $status, due: $due, first: $first, after: $after) { nodes { ${TASK} } ${PAGE} }
    }`,
    variables: { assigneeRole: query('assignee_role'), status: query('status'), due: query('due') },
  },
  ...(['claim', 'release'] as const).map((word): Route => ({
    method: 'POST',
    path: `/v1/tasks/{id}/${word}`,
    status: [200],
    summary: word === 'claim' ? 'Claim a task' : 'Give a task back',
    document: `mutation ${word === 'claim' ? 'Claim' : 'Release'}WorkflowTask($id: ID!) { result: ${word}WorkflowTask(id: $id) { ${TASK} } }`,
    variables: { id: path('id') },
    problems: STATE,
  })),
  {
    method: 'POST',
    path: '/v1/tasks/{id}/complete',
    status: [200],
    summary: 'Decide',
    document: `mutation CompleteWorkflowTask($input: CompleteWorkflowTaskInput!) { result: completeWorkflowTask(input: $input) { ${TASK} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: STATE,
    example: { request: { result: { decision: 'approved' } } },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-clock',
    status: [200],
    summary: "Move this service's manual clock (development and tests)",
    document: 'mutation SetWorkflowClock($input: SetClockInput!) { result: setWorkflowClock(input: $input) { now } }',
    variables: { input: body() },
  },
];

/** Routes of the workflow service. Source: contracts/workflow.md, section 4. */
const table: RouteTable = { service: 'workflow', routes: [...definitions, ...runs, ...tasks] };
export default table;
