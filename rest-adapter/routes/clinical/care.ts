import { body, input, path, query, type Route } from '../../route.js';
import { ALERT, aPatient, FLAG, PAGE, SCORE } from './selections.js';

const flag = (action: 'acknowledge' | 'resolve' | 'dismiss', summary: string): Route => {
  const name = `${action}RedFlag`;
  const operation = `${name[0]!.toUpperCase()}${name.slice(1)}`;
  return {
    method: 'POST',
    path: `/v1/red-flags/{id}/${action}`,
    status: [200],
    summary,
    document:
      action === 'acknowledge'
        ? `mutation ${operation}($id: String!) { result: ${name}(id: $id) { ${FLAG} } }`
        : `mutation ${operation}($input: ${operation}Input!) { result: ${name}(input: $input) { ${FLAG} } }`,
    variables: action === 'acknowledge' ? { id: path('id') } : { input: input({ path: ['id'] }) },
    problems: { 409: 'The flag is in another state' },
  };
};

const FLAGS: Route[] = [
  {
    method: 'GET',
    path: '/v1/red-flags/me',
    status: [200],
    summary: 'List own red flags that are visible',
    document: `query MyRedFlags($first: Int, $after: String) { result: myRedFlags(first: $first, after: $after) { nodes { ${FLAG} } ${PAGE} } }`,
  },
  {
    method: 'GET',
    path: '/v1/red-flags',
    status: [200],
    summary: 'List red flags',
    document: `query RedFlags($status: [RedFlagStatus!], $severity: [RedFlagSeverity!], $userId: ID, $first: Int, $after: String) {
      result: redFlags(status: $status, severity: $severity, userId: $userId, first: $first, after: $after) { nodes { ${FLAG} } ${PAGE} }
    }`,
    variables: { status: query('status'), severity: query('severity'), userId: query('user_id') },
  },
  flag('acknowledge', 'Acknowledge a red flag'),
  flag('resolve', 'Resolve a red flag'),
  flag('dismiss', 'Dismiss a red flag'),
];

const ALERTS: Route[] = [
  {
    method: 'GET',
    path: '/v1/critical-alerts',
    status: [200],
    summary: 'List critical alerts',
    document: `query CriticalAlerts($status: [CriticalAlertStatus!], $observationId: ID, $userId: ID, $first: Int, $after: String) {
      result: criticalAlerts(status: $status, observationId: $observationId, userId: $userId, first: $first, after: $after) { nodes { ${ALERT} } ${PAGE} }
    }`,
    variables: { status: query('status'), observationId: query('observation_id'), userId: query('user_id') },
  },
  {
    method: 'POST',
    path: '/v1/critical-alerts/{id}/acknowledge',
    status: [200],
    summary: 'Acknowledge a critical alert',
    document: `mutation AcknowledgeCriticalAlert($id: String!) { result: acknowledgeCriticalAlert(id: $id) { ${ALERT} } }`,
    variables: { id: path('id') },
    problems: { 409: 'The alert is in another state' },
  },
  {
    method: 'POST',
    path: '/v1/critical-alerts/{id}/contact',
    status: [200],
    summary: 'Note a try to reach the patient',
    document: `mutation RecordCriticalAlertContact($input: RecordCriticalAlertContactInput!) { result: recordCriticalAlertContact(input: $input) { ${ALERT} } }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { outcome: 'left_message' } },
    problems: { 409: 'The alert is closed' },
  },
  {
    method: 'POST',
    path: '/v1/critical-alerts/{id}/close',
    status: [200],
    summary: 'Close a critical alert',
    document: `mutation CloseCriticalAlert($input: CloseCriticalAlertInput!) { result: closeCriticalAlert(input: $input) { ${ALERT} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'The alert is not acknowledged' },
  },
];

const SCORES: Route[] = [
  {
    method: 'GET',
    path: '/v1/health-score/me',
    status: [200],
    summary: 'Read the own health score',
    document: `query MyHealthScore { result: myHealthScore { ${SCORE} } }`,
  },
  {
    method: 'GET',
    path: '/v1/health-score',
    status: [200],
    summary: "Read a patient's health score",
    document: `query HealthScore($userId: ID!) { result: healthScore(userId: $userId) { ${SCORE} } }`,
    variables: { userId: query('user_id') },
  },
  {
    method: 'GET',
    path: '/v1/health-score/me/history',
    status: [200],
    summary: 'List own health scores',
    document: `query MyHealthScores($first: Int, $after: String) { result: healthScores(first: $first, after: $after) { nodes { ${SCORE} } ${PAGE} } }`,
  },
  {
    method: 'GET',
    path: '/v1/health-score/history',
    status: [200],
    summary: "List a patient's health scores",
    document: `query HealthScores($userId: ID, $first: Int, $after: String) {
      result: healthScores(userId: $userId, first: $first, after: $after) { nodes { ${SCORE} } ${PAGE} }
    }`,
    variables: { userId: query('user_id') },
  },
  {
    method: 'POST',
    path: '/v1/health-score/recompute',
    status: [202],
    summary: "Compute a patient's health score anew",
    document:
      'mutation RecomputeHealthScore($input: RecomputeHealthScoreInput!) { result: recomputeHealthScore(input: $input) { userId dueAt } }',
    variables: { input: body() },
    example: { request: { user_id: aPatient } },
  },
];

export const CARE: Route[] = [...FLAGS, ...ALERTS, ...SCORES];
