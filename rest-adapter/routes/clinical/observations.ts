import { body, input, path, query, type Route } from '../../route.js';
import { aDraw, aPatient, BOUNDS, OBSERVATION, PAGE } from './selections.js';

const FILTER_TYPES =
  '$codes: [String!], $from: DateTime, $to: DateTime, $source: BiomarkerObservationSource, $sourceRefs: [String!], $latest: Boolean, $unitSystem: BiomarkerUnitSystem, $first: Int, $after: String';
const FILTERS =
  'codes: $codes, from: $from, to: $to, source: $source, sourceRefs: $sourceRefs, latest: $latest, unitSystem: $unitSystem, first: $first, after: $after';
const FILTER_SOURCES = {
  codes: query('codes'),
  from: query('from'),
  to: query('to'),
  source: query('source'),
  sourceRefs: query('source_refs'),
  latest: query('latest'),
  unitSystem: query('unit_system'),
};

export const OBSERVATIONS: Route[] = [
  {
    method: 'GET',
    path: '/v1/biomarkers',
    status: [200],
    summary: "List a patient's results, newest draw first",
    document: `query Observations($userId: ID!, ${FILTER_TYPES}) { result: observations(userId: $userId, ${FILTERS}) { nodes { ${OBSERVATION} } ${PAGE} } }`,
    variables: { userId: query('user_id'), ...FILTER_SOURCES },
  },
  {
    method: 'GET',
    path: '/v1/biomarkers/me',
    status: [200],
    summary: 'List own results, newest draw first',
    document: `query MyObservations(${FILTER_TYPES}) { result: myObservations(${FILTERS}) { nodes { ${OBSERVATION} } ${PAGE} } }`,
    variables: FILTER_SOURCES,
  },
  {
    method: 'GET',
    path: '/v1/biomarkers/{observation_id}',
    status: [200],
    summary: 'Read a result',
    document: `query Observation($id: ID!) { result: observation(id: $id) { ${OBSERVATION} history { ${OBSERVATION} } } }`,
    variables: { id: path('observation_id') },
  },
  {
    method: 'POST',
    path: '/v1/biomarkers',
    status: [201],
    summary: 'Store 1 to 200 results of a patient, all or none',
    document: `mutation RecordObservations($input: RecordObservationsInput!) { result: recordObservations(input: $input) { ${OBSERVATION} } }`,
    variables: { input: body() },
    example: {
      request: {
        user_id: aPatient,
        observations: [
          {
            code: '13457-7',
            value: 110,
            unit: 'mg/dL',
            collected_at: '2026-10-30T08:00:00.000Z',
            draw_id: aDraw,
            source: 'lab',
            performer: 'lab_a',
            source_ref: 'lab_a:R-778:1',
            reference_range: { high: 130 },
            status: 'final',
          },
        ],
      },
    },
    problems: { 409: 'A source reference was used for another result' },
  },
  {
    method: 'POST',
    path: '/v1/biomarkers/me',
    status: [201],
    location: '/v1/biomarkers/{id}',
    summary: 'Store an own result',
    document: `mutation RecordMyObservation($input: RecordMyObservationInput!) { result: recordMyObservation(input: $input) { ${OBSERVATION} } }`,
    variables: { input: body() },
  },
  {
    method: 'GET',
    path: '/v1/biomarkers/me/trends/{code}',
    status: [200],
    summary: 'Read own results of a marker over time',
    document: `query MyBiomarkerTrend($code: String!, $from: DateTime, $to: DateTime) {
      result: myBiomarkerTrend(code: $code, from: $from, to: $to) {
        code unit reference ${BOUNDS} optimal ${BOUNDS} changeBand { rise fall absolute }
        points { observationId collectedAt value comparator interpretation inOptimal change }
      }
    }`,
    variables: { code: path('code'), from: query('from'), to: query('to') },
  },
  {
    method: 'POST',
    path: '/v1/biomarkers/{id}/correct',
    status: [200],
    summary: 'Correct a result',
    document: `mutation CorrectObservation($input: CorrectObservationInput!) { result: correctObservation(input: $input) { ${OBSERVATION} } }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { value: 112, unit: 'mg/dL', source_ref: 'lab_a:R-778:1:c1' } },
    problems: { 409: 'It was corrected or withdrawn before' },
  },
  {
    method: 'POST',
    path: '/v1/biomarkers/{id}/retract',
    status: [200],
    summary: 'Withdraw a result',
    document: `mutation RetractObservation($input: RetractObservationInput!) { result: retractObservation(input: $input) { ${OBSERVATION} } }`,
    variables: { input: input({ body: false, path: ['id'] }) },
    problems: { 409: 'It was corrected or withdrawn before' },
  },
];
