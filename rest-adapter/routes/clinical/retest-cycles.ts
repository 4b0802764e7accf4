import { body, path, query, type Route } from '../../route.js';
import { aBrand, aDraw, aPatient, CYCLE, PAGE, SWEEP } from './selections.js';

export const CYCLES: Route[] = [
  {
    method: 'POST',
    path: '/v1/retest-cycles',
    status: [201, 200],
    location: '/v1/retest-cycles/{id}',
    summary: 'Start a re-test cycle',
    document: `mutation StartRetestCycle($input: StartRetestCycleInput!) { result: startRetestCycle(input: $input) { ${CYCLE} } }`,
    variables: { input: body() },
    example: {
      request: {
        patient_id: aPatient,
        code: 'ldl_c',
        baseline: { draw_id: aDraw, collected_at: '2026-08-01T08:00:00.000Z', value: 160, unit: 'mg/dL', performer: 'lab_a' },
        intervention: { kind: 'protocol', key: 'lipid_reset' },
        window_days: 90,
        grace_days: 30,
        brand_id: aBrand,
        target: { high: 100 },
      },
    },
    problems: {
      403: 'feature.clinical.retest-cycle is off',
      404: 'No such observation or intervention of this patient',
      409: 'The intervention is not active',
    },
  },
  {
    method: 'GET',
    path: '/v1/retest-cycles',
    status: [200],
    summary: 'List re-test cycles',
    document: `query RetestCycles($patientId: ID, $code: String, $status: [RetestCycleStatus!], $dueFrom: DateTime, $dueTo: DateTime, $first: Int, $after: String) {
      result: retestCycles(patientId: $patientId, code: $code, status: $status, dueFrom: $dueFrom, dueTo: $dueTo, first: $first, after: $after) { nodes { ${CYCLE} } ${PAGE} }
    }`,
    variables: {
      patientId: query('patient_id'),
      code: query('code'),
      status: query('status'),
      dueFrom: query('due_from'),
      dueTo: query('due_to'),
    },
  },
  {
    method: 'GET',
    path: '/v1/retest-cycles/me',
    status: [200],
    summary: 'List own re-test cycles',
    document: `query MyRetestCycles($status: [RetestCycleStatus!], $first: Int, $after: String) {
      result: myRetestCycles(status: $status, first: $first, after: $after) { nodes { ${CYCLE} } ${PAGE} }
    }`,
    variables: { status: query('status') },
  },
  {
    method: 'GET',
    path: '/v1/retest-cycles/stats',
    status: [200],
    summary: 'Read the re-test rate; aggregates only',
    document: `query RetestStats($brandId: ID, $code: String, $interventionKey: String, $closedFrom: DateTime, $closedTo: DateTime) {
      result: retestStats(brandId: $brandId, code: $code, interventionKey: $interventionKey, closedFrom: $closedFrom, closedTo: $closedTo) {
        retestRate counts { baselineSet prompted retested expired } closed averageDaysToRetest organicRetested promptedRetested lateFollowUps computedAt
      }
    }`,
    variables: {
      brandId: query('brand_id'),
      code: query('code'),
      interventionKey: query('intervention_key'),
      closedFrom: query('closed_from'),
      closedTo: query('closed_to'),
    },
    problems: { 403: 'A member gave a filter' },
  },
  {
    method: 'POST',
    path: '/v1/retest-cycles/sweep',
    status: [200],
    summary: 'Run the re-test sweep now',
    document: `mutation SweepRetestCycles { result: sweepRetestCycles { ${SWEEP} } }`,
    problems: { 409: 'A sweep is running' },
  },
  {
    method: 'GET',
    path: '/v1/retest-cycles/sweeps',
    status: [200],
    summary: 'List sweeps',
    document: `query RetestSweeps($first: Int, $after: String) { result: retestSweeps(first: $first, after: $after) { nodes { ${SWEEP} } ${PAGE} } }`,
  },
  {
    method: 'GET',
    path: '/v1/retest-cycles/{id}',
    status: [200],
    summary: 'Read a re-test cycle',
    document: `query RetestCycle($id: ID!) { result: retestCycle(id: $id) { ${CYCLE} } }`,
    variables: { id: path('id') },
  },
];
