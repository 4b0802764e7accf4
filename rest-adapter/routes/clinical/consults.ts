import { body, input, path, query, type Route } from '../../route.js';
import { aPatient, CONSULT, PAGE } from './selections.js';

const request = (at: string, summary: string): Route => ({
  method: 'POST',
  path: at,
  status: [201],
  location: '/v1/consults/{id}',
  summary,
  document: `mutation Request${at.endsWith('/me') ? 'My' : ''}Consult($input: RequestConsultInput!) { result: requestConsult(input: $input) { ${CONSULT} } }`,
  variables: { input: body() },
  example: { request: { ...(!at.endsWith('/me') && { user_id: aPatient }), type: 'initial', intake_answers: { smoker: false } } },
});

export const CONSULTS: Route[] = [
  {
    method: 'GET',
    path: '/v1/consults/me',
    status: [200],
    summary: 'List own consults',
    document: `query MyConsults($status: [ConsultStatus!], $first: Int, $after: String) {
      result: myConsults(status: $status, first: $first, after: $after) { nodes { ${CONSULT} } ${PAGE} }
    }`,
    variables: { status: query('status') },
  },
  {
    method: 'GET',
    path: '/v1/consults',
    status: [200],
    summary: 'List consults',
    document: `query Consults($userId: ID, $status: [ConsultStatus!], $first: Int, $after: String) {
      result: consults(userId: $userId, status: $status, first: $first, after: $after) { nodes { ${CONSULT} } ${PAGE} }
    }`,
    variables: { userId: query('user_id'), status: query('status') },
  },
  {
    method: 'GET',
    path: '/v1/consults/{id}',
    status: [200],
    summary: 'Read a consult',
    document: `query Consult($id: ID!) { result: consult(id: $id) { ${CONSULT} } }`,
    variables: { id: path('id') },
  },
  request('/v1/consults', 'Ask for a consult of a patient'),
  request('/v1/consults/me', 'Ask for an own consult'),
  {
    method: 'PATCH',
    path: '/v1/consults/{id}',
    status: [200],
    summary: 'Change a consult that is not signed',
    document: `mutation UpdateConsult($input: UpdateConsultInput!) { result: updateConsult(input: $input) { ${CONSULT} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is signed, or was changed meanwhile' },
  },
  {
    method: 'POST',
    path: '/v1/consults/{id}/sign',
    status: [200],
    summary: 'Sign a consult',
    document: `mutation SignConsult($input: SignConsultInput!) { result: signConsult(input: $input) { ${CONSULT} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 403: 'Not the assigned clinician', 409: 'It is in another state, or was changed meanwhile' },
  },
  {
    method: 'POST',
    path: '/v1/consults/{id}/addenda',
    status: [201],
    location: '/v1/consults/{id}',
    summary: 'Add to a signed consult',
    document: `mutation AddConsultAddendum($input: AddConsultAddendumInput!) { result: addConsultAddendum(input: $input) { ${CONSULT} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is not signed' },
  },
  {
    method: 'POST',
    path: '/v1/consults/{id}/cancel',
    status: [200],
    summary: 'Cancel a consult',
    document: `mutation CancelConsult($id: ID!) { result: cancelConsult(id: $id) { ${CONSULT} } }`,
    variables: { id: path('id') },
    problems: { 409: 'It is signed or cancelled' },
  },
];
