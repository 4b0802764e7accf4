import { get, post, type Exceptions, type Route } from '../../route.js';
import { aPatient, BOUNDS } from './selections.js';

const REPORT = `id patientId status source documentId mimeType sha256 pageCount performer reportNumber collectedAt
  counts { rows accepted open duplicate rejected lines other } parser { name version } failureCode createdAt
  rows { position page box rawText code value unit comparator range ${BOUNDS} confidence state observationId proposedUnit }`;

const MOST_BYTES = 20 * 1024 * 1024;
const UPLOAD = {
  status: 202,
  upload: { field: 'file', maxBytes: MOST_BYTES },
  bodyLimit: Math.ceil(MOST_BYTES * 1.4), // in base64
  problems: { 413: 'More than 20 MiB', 415: 'Not a file that is read' },
} as const satisfies Exceptions;
/** A FHIR bundle without anything, as base64. */
const aFile = 'eyJyZXNvdXJjZVR5cGUiOiJCdW5kbGUiLCJ0eXBlIjoiY29sbGVjdGlvbiJ9';

const reports: Route[] = [
  post('/v1/bloodwork', 'uploadLabReport', REPORT, "Upload a patient's laboratory report", {
    ...UPLOAD,
    example: { request: { user_id: aPatient, file: aFile } },
  }),
  post('/v1/bloodwork/me', 'uploadLabReport', REPORT, 'Upload an own laboratory report', {
    as: 'uploadMyLabReport',
    ...UPLOAD,
    example: { request: { file: aFile } },
  }),
  get('/v1/bloodwork/me', 'myLabReports', REPORT, 'List own laboratory reports'),
  get('/v1/bloodwork/{id}', 'labReport', REPORT, 'Read a laboratory report'),
  get('/v1/bloodwork/{id}/file', 'labReport.file', 'url', 'Go to the file of a report, by a link that is good for 60 seconds', {
    redirect: 'url',
  }),
  post('/v1/bloodwork/{id}/review', 'reviewLabReport', REPORT, 'Decide about rows that wait for a person', {
    problems: { 409: 'The report is not under review' },
    example: { request: { rows: [{ position: 3, decision: 'accept', unit: 'mg/dL' }] } },
  }),
];

const EXPORT = 'id status resourceCount bundle expiresAt';
const EXPORTED = { status: [200, 202], location: '/v1/fhir/exports/{id}' } as const satisfies Exceptions;
const LATER = '202 above 1,000 resources, with where it will be';

const exports: Route[] = [
  get('/v1/fhir/export/me', 'clinicalExport', EXPORT, `Export the own clinical record in FHIR; ${LATER}`, {
    as: 'myClinicalExport',
    ...EXPORTED,
  }),
  get('/v1/fhir/export', 'clinicalExport', EXPORT, `Export a patient's clinical record in FHIR; ${LATER}`, EXPORTED),
  get(
    '/v1/fhir/exports/{id}',
    'clinicalExportById',
    EXPORT,
    'Fetch an export of above 1,000 resources for an hour; 202 until it is made',
    EXPORTED,
  ),
];

const administration: Route[] = [
  post('/v1/admin/erasure', 'eraseClinicalRecord', 'patientId outcome records basis', "Delete a patient's clinical record"),
  post('/v1/admin/test-clock', 'setClinicalClock', 'now', 'Move the manual clock (development and tests)'),
  post('/v1/admin/test-flags', 'setClinicalTestFlags', 'key value', 'Override a flag (development and tests)'),
  post('/v1/admin/test-faults', 'setClinicalTestFault', 'point times', 'Inject a fault (development and tests)'),
];

export default [...reports, ...exports, ...administration];
