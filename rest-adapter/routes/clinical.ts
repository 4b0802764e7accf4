import { body, input, path, query, type Route, type RouteTable } from '../route.js';

const PAGE = 'pageInfo { endCursor hasNextPage }';
const BOUNDS = '{ low high }';
const QUANTITY = '{ value unit }';

const BIOMARKER = `code loinc otherLoincs name shortName category specimen fasting unit otherUnits { unit method factor offset system decimals } decimals molarMass direction
  noise { model cvWithin cvAnalytical cvAnalyticalBetween sd z source sourceYear } ranges { kind sex ageFrom ageTo condition performer low high source }
  plausible ${BOUNDS} source status version`;

const OBSERVATION = `id patientId code value ${QUANTITY} comparator canonicalValue ${QUANTITY} textValue collectedAt receivedAt drawId source performer method reportId
  reportedRange ${BOUNDS} appliedRange { reference ${BOUNDS} optimal ${BOUNDS} dictionaryVersion } rangeBasis interpretation inOptimal status verification needsReview sourceRef supersedes`;

const PROTOCOL = `key version title status durationDays requiresConsult
  phases { name startDay endDay doses { productCode quantity ${QUANTITY} route timing timesOfDay } checkIns { templateKey everyDays } }
  markers { code windowDays target ${BOUNDS} } contraindications`;

const INTERVENTION = `id patientId kind key definitionVersion status startedOn plannedEndOn endedAt stopReason phase prescriberId source partnerTreatmentRef timeZone brandId
  createdAt version`;

const CYCLE = `id patientId code status brandId baselineObservationId baselineDrawId baselineCollectedAt baselineValue ${QUANTITY} intervention { kind id key } windowDays graceDays
  retestDueAt expiresAt target ${BOUNDS} promptCount lastPromptedAt nextPromptAt followUpObservationId followUpDrawId followUpCollectedAt followUpValue ${QUANTITY} delta deltaPercent
  outcomeDirection outcomeBasis crossedTarget daysToRetest timing organic closedAt failureCount lastErrorClass createdAt version`;

const SWEEP = 'id trigger startedAt finishedAt scanned prompted expired recorded skippedFlag skippedLimit skippedLabInProgress failed';

const aPatient = '0190b3a0-0000-7000-8000-0000000000a1';
const aDraw = '0190b3a0-1111-7000-8000-0000000000d1';
const aBrand = '0190b3a0-0000-7000-8000-000000000001';

const DICTIONARY: Route[] = [
  {
    method: 'GET',
    path: '/v1/biomarkers/catalog',
    status: [200],
    summary: 'List the biomarker dictionary',
    document: `query Biomarkers($category: BiomarkerCategory, $q: String, $first: Int, $after: String) {
      result: biomarkers(category: $category, q: $q, first: $first, after: $after) { nodes { ${BIOMARKER} } ${PAGE} }
    }`,
    variables: { category: query('category'), q: query('q') },
  },
  {
    method: 'GET',
    path: '/v1/biomarkers/catalog/{code}',
    status: [200],
    summary: 'Read a biomarker by code or LOINC',
    document: `query Biomarker($code: String!) { result: biomarker(code: $code) { ${BIOMARKER} } }`,
    variables: { code: path('code') },
  },
  {
    method: 'GET',
    path: '/v1/protocols/catalog',
    status: [200],
    summary: 'List the protocols in force',
    document: `query Protocols($first: Int, $after: String) { result: protocols(first: $first, after: $after) { nodes { ${PROTOCOL} } ${PAGE} } }`,
  },
  {
    method: 'GET',
    path: '/v1/protocols/catalog/{key}',
    status: [200],
    summary: 'Read a protocol',
    document: `query Protocol($key: String!) { result: protocol(key: $key) { ${PROTOCOL} } }`,
    variables: { key: path('key') },
  },
];

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

const OBSERVATIONS: Route[] = [
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
    document: `query Observation($id: ID!) { result: observation(id: $id) { ${OBSERVATION} } }`,
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
];

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

const INTERVENTIONS: Route[] = [
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

const CYCLES: Route[] = [
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

const ADMIN: Route[] = [
  {
    method: 'POST',
    path: '/v1/admin/erasure',
    status: [200],
    summary: "Delete a patient's clinical record",
    document:
      'mutation EraseClinicalRecord($input: EraseClinicalRecordInput!) { result: eraseClinicalRecord(input: $input) { patientId outcome records } }',
    variables: { input: body() },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-clock',
    status: [200],
    summary: 'Move the manual clock (development and tests)',
    document: 'mutation SetClinicalClock($input: SetClockInput!) { result: setClinicalClock(input: $input) { now } }',
    variables: { input: body() },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-flags',
    status: [200],
    summary: 'Override a flag (development and tests)',
    document: 'mutation SetClinicalTestFlags($input: SetTestFlagInput!) { result: setClinicalTestFlags(input: $input) { key value } }',
    variables: { input: body() },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-faults',
    status: [200],
    summary: 'Inject a fault (development and tests)',
    document: 'mutation SetClinicalTestFault($input: SetTestFaultInput!) { result: setClinicalTestFault(input: $input) { point times } }',
    variables: { input: body() },
  },
];

const table: RouteTable = { service: 'clinical', routes: [...DICTIONARY, ...OBSERVATIONS, ...INTERVENTIONS, ...CYCLES, ...ADMIN] };
export default table;
