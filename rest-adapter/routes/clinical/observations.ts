import { get, post, put, type Route } from '../../route.js';
import { aDraw, aPatient, BIOMARKER, BOUNDS, OBSERVATION, PROTOCOL } from './selections.js';

const TREND = `code unit reference ${BOUNDS} optimal ${BOUNDS} changeBand { rise fall absolute }
  points { observationId collectedAt value comparator interpretation inOptimal change }`;

const VERSIONED = { 409: 'Another version is in force' };
const ENDED = { 409: 'It was corrected or withdrawn before' };

const dictionary: Route[] = [
  get('/v1/biomarkers/catalog', 'biomarkers', BIOMARKER, 'List the biomarker dictionary'),
  get('/v1/biomarkers/catalog/{code}', 'biomarker', BIOMARKER, 'Read a biomarker by code or LOINC'),
  get('/v1/protocols/catalog', 'protocols', PROTOCOL, 'List the protocols in force'),
  get('/v1/protocols/catalog/{key}', 'protocol', PROTOCOL, 'Read a protocol'),
  put('/v1/admin/biomarkers/{code}', 'putBiomarker', BIOMARKER, 'Put the next version of a dictionary entry', { problems: VERSIONED }),
  put('/v1/protocols/catalog/{key}', 'putProtocol', PROTOCOL, 'Put the next version of a protocol', { problems: VERSIONED }),
];

const observations: Route[] = [
  get('/v1/biomarkers', 'observations', OBSERVATION, "List a patient's results, newest draw first"),
  get('/v1/biomarkers/me', 'myObservations', OBSERVATION, 'List own results, newest draw first'),
  get('/v1/biomarkers/{observation_id}', 'observation', `${OBSERVATION} history { ${OBSERVATION} }`, 'Read a result', {
    path: { observation_id: 'id' },
  }),
  post('/v1/biomarkers', 'recordObservations', OBSERVATION, 'Store 1 to 200 results of a patient, all or none', {
    status: 201,
    problems: { 409: 'A source reference was used for another result' },
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
  }),
  post('/v1/biomarkers/me', 'recordMyObservation', OBSERVATION, 'Store an own result', { status: 201 }),
  get('/v1/biomarkers/me/trends/{code}', 'myBiomarkerTrend', TREND, 'Read own results of a marker over time'),
  post('/v1/biomarkers/{id}/correct', 'correctObservation', OBSERVATION, 'Correct a result', {
    problems: ENDED,
    example: { request: { value: 112, unit: 'mg/dL', source_ref: 'lab_a:R-778:1:c1' } },
  }),
  post('/v1/biomarkers/{id}/retract', 'retractObservation', OBSERVATION, 'Withdraw a result', { problems: ENDED }),
];

export default [...dictionary, ...observations];
