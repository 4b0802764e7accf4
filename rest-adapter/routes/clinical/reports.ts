import { body, input, path, query, type Route } from '../../route.js';
import { aPatient, BOUNDS, PAGE } from './selections.js';

const REPORT = `id patientId status source documentId mimeType sha256 pageCount performer reportNumber collectedAt counts { rows accepted open duplicate rejected }
  parser { name version } failureCode createdAt
  rows { position page box rawText code value unit comparator range ${BOUNDS} confidence state observationId proposedUnit }`;

const MOST_BYTES = 20 * 1024 * 1024;
/** A FHIR bundle without anything, as base64. */
const aFile = 'eyJyZXNvdXJjZVR5cGUiOiJCdW5kbGUiLCJ0eXBlIjoiY29sbGVjdGlvbiJ9';

const upload = (at: string, summary: string): Route => ({
  method: 'POST',
  path: at,
  status: [202],
  location: '/v1/bloodwork/{id}',
  summary,
  document: `mutation Upload${at.endsWith('/me') ? 'My' : ''}LabReport($input: UploadLabReportInput!) { result: uploadLabReport(input: $input) { ${REPORT} } }`,
  variables: { input: body() },
  upload: { field: 'file', maxBytes: MOST_BYTES },
  bodyLimit: Math.ceil(MOST_BYTES * 1.4),
  example: { request: { ...(!at.endsWith('/me') && { user_id: aPatient }), file: aFile } },
  problems: { 413: 'More than 20 MiB', 415: 'Not a file that is read' },
});

export const REPORTS: Route[] = [
  upload('/v1/bloodwork', "Upload a patient's laboratory report"),
  upload('/v1/bloodwork/me', 'Upload an own laboratory report'),
  {
    method: 'GET',
    path: '/v1/bloodwork/me',
    status: [200],
    summary: 'List own laboratory reports',
    document: `query MyLabReports($status: [LabReportStatus!], $first: Int, $after: String) {
      result: myLabReports(status: $status, first: $first, after: $after) { nodes { ${REPORT} } ${PAGE} }
    }`,
    variables: { status: query('status') },
  },
  {
    method: 'GET',
    path: '/v1/bloodwork/{id}',
    status: [200],
    summary: 'Read a laboratory report',
    document: `query LabReport($id: ID!) { result: labReport(id: $id) { ${REPORT} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'GET',
    path: '/v1/bloodwork/{id}/file',
    status: [302],
    redirect: 'url',
    summary: 'Go to the file of a report, by a link that is good for 60 seconds',
    document: 'query LabReportFile($id: ID!) { labReport(id: $id) { result: file { url } } }',
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/bloodwork/{id}/review',
    status: [200],
    summary: 'Decide about rows that wait for a person',
    document: `mutation ReviewLabReport($input: ReviewLabReportInput!) { result: reviewLabReport(input: $input) { ${REPORT} } }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { rows: [{ position: 3, decision: 'accept', unit: 'mg/dL' }] } },
    problems: { 409: 'The report is not under review' },
  },
];
