import { body, input, query, type Route } from '../../route.js';
import { aPatient, INTERVENTION, PAGE } from './selections.js';

const change = (action: string, summary: string, withReason = false): Route => ({
  method: 'POST',
  path: `/v1/protocols/{id}/${action}`,
  status: [200],
  summary,
  document: `mutation ${action[0]!.toUpperCase()}${action.slice(1)}Intervention($input: ChangeInterventionInput!) { result: changeIntervention(input: $input) { ${INTERVENTION} } }`,
  variables: { input: input({ body: withReason, path: ['id'], constant: { action: action.toUpperCase() } }) },
  problems: { 409: 'The intervention is in another state' },
});

const start = (at: string, summary: string): Route => ({
  method: 'POST',
  path: at,
  status: [201],
  summary,
  document: `mutation Start${at.endsWith('/me') ? 'My' : ''}Intervention($input: StartInterventionInput!) { result: startIntervention(input: $input) { ${INTERVENTION} } }`,
  variables: { input: body() },
  example: {
    request: {
      ...(!at.endsWith('/me') && { user_id: aPatient }),
      kind: 'protocol',
      key: 'lipid_reset',
      started_on: '2026-08-01',
      time_zone: 'Europe/Berlin',
    },
  },
  problems: { 409: 'It runs already' },
});

export const INTERVENTIONS: Route[] = [
  {
    method: 'GET',
    path: '/v1/protocols',
    status: [200],
    summary: "List a patient's protocols and stacks",
    document: `query Interventions($userId: ID!, $status: [InterventionStatus!], $first: Int, $after: String) {
      result: interventions(userId: $userId, status: $status, first: $first, after: $after) { nodes { ${INTERVENTION} } ${PAGE} }
    }`,
    variables: { userId: query('user_id'), status: query('status') },
  },
  {
    method: 'GET',
    path: '/v1/protocols/me',
    status: [200],
    summary: 'List own protocols and stacks',
    document: `query MyInterventions($status: [InterventionStatus!], $first: Int, $after: String) {
      result: myInterventions(status: $status, first: $first, after: $after) { nodes { ${INTERVENTION} } ${PAGE} }
    }`,
    variables: { status: query('status') },
  },
  start('/v1/protocols', 'Start a protocol or stack for a patient'),
  start('/v1/protocols/me', 'Start an own protocol or stack'),
  change('activate', 'Activate a proposed intervention'),
  change('pause', 'Pause an intervention'),
  change('resume', 'Resume a paused intervention'),
  change('stop', 'Stop an intervention', true),
  change('complete', 'Complete an intervention'),
];
