import { body, input, query, type Route } from '../../route.js';
import { aPatient, CHECK_IN, DOSE, PAGE, VIAL } from './selections.js';

const CHECK_INS: Route[] = [
  {
    method: 'GET',
    path: '/v1/check-ins/me',
    status: [200],
    summary: 'List own check-ins',
    document: `query MyCheckIns($status: [CheckInStatus!], $first: Int, $after: String) {
      result: myCheckIns(status: $status, first: $first, after: $after) { nodes { ${CHECK_IN} } ${PAGE} }
    }`,
    variables: { status: query('status') },
  },
  {
    method: 'POST',
    path: '/v1/check-ins/{id}/submit',
    status: [200],
    summary: 'Answer a check-in, or skip it',
    document: `mutation SubmitCheckIn($input: SubmitCheckInInput!) { result: submitCheckIn(input: $input) { ${CHECK_IN} } }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { answers: { energy: 7, sleep: 6, side_effects: 0 } } },
    problems: { 409: 'It is not due' },
  },
];

const create = (at: string, summary: string): Route => ({
  method: 'POST',
  path: at,
  status: [201],
  summary,
  document: `mutation Create${at.endsWith('/me') ? 'My' : ''}Vial($input: CreateVialInput!) { result: createVial(input: $input) { ${VIAL} } }`,
  variables: { input: body() },
  example: {
    request: {
      ...(!at.endsWith('/me') && { user_id: aPatient }),
      product_code: 'fibre_pack',
      expires_on: '2099-12-31',
      doses_planned: 12,
    },
  },
});

const VIALS: Route[] = [
  {
    method: 'GET',
    path: '/v1/vials/me',
    status: [200],
    summary: 'List own vials',
    document: `query MyVials($first: Int, $after: String) { result: myVials(first: $first, after: $after) { nodes { ${VIAL} } ${PAGE} } }`,
  },
  {
    method: 'GET',
    path: '/v1/vials',
    status: [200],
    summary: "List a patient's vials",
    document: `query Vials($userId: ID!, $first: Int, $after: String) { result: vials(userId: $userId, first: $first, after: $after) { nodes { ${VIAL} } ${PAGE} } }`,
    variables: { userId: query('user_id') },
  },
  create('/v1/vials/me', 'Register an own vial'),
  create('/v1/vials', "Register a patient's vial"),
  {
    method: 'POST',
    path: '/v1/vials/{id}/reconstitute',
    status: [200],
    summary: 'Begin to use a vial',
    document: `mutation ReconstituteVial($input: ReconstituteVialInput!) { result: reconstituteVial(input: $input) { ${VIAL} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is not new' },
  },
  {
    method: 'POST',
    path: '/v1/vials/{id}/discard',
    status: [200],
    summary: 'Discard a vial',
    document: `mutation DiscardVial($input: DiscardVialInput!) { result: discardVial(input: $input) { ${VIAL} } }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { reason: 'damaged' } },
    problems: { 409: 'It is discarded' },
  },
];

const DOSE_LOGS: Route[] = [
  {
    method: 'GET',
    path: '/v1/doses/me',
    status: [200],
    summary: 'List own doses',
    document: `query MyDoses($from: DateTime, $to: DateTime, $first: Int, $after: String) {
      result: myDoses(from: $from, to: $to, first: $first, after: $after) { nodes { ${DOSE} } ${PAGE} }
    }`,
    variables: { from: query('from'), to: query('to') },
  },
  {
    method: 'GET',
    path: '/v1/doses',
    status: [200],
    summary: 'List doses of patients',
    document: `query Doses($userIds: [ID!]!, $from: DateTime, $to: DateTime, $first: Int, $after: String) {
      result: doses(userIds: $userIds, from: $from, to: $to, first: $first, after: $after) { nodes { ${DOSE} } ${PAGE} }
    }`,
    variables: { userIds: query('user_id'), from: query('from'), to: query('to') },
  },
  {
    method: 'POST',
    path: '/v1/doses/{id}/log',
    status: [200],
    summary: 'Note that a dose was taken or skipped',
    document: `mutation LogDose($input: LogDoseInput!) { result: logDose(input: $input) { ${DOSE} } }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { status: 'taken' } },
    problems: { 409: 'It was logged otherwise, or lies too far back' },
  },
];

export const DOSES: Route[] = [...CHECK_INS, ...VIALS, ...DOSE_LOGS];
