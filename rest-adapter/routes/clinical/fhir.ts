import { path, query, type Route } from '../../route.js';

const EXPORT = 'id status resourceCount bundle expiresAt';

const exported = (at: string, name: string, summary: string): Route => ({
  method: 'GET',
  path: at,
  status: [200, 202],
  location: '/v1/fhir/exports/{id}',
  summary: `${summary}; 202 above 1,000 resources, with where it will be`,
  document: at.endsWith('/me')
    ? `query ${name}($release: FhirExportRelease) { result: clinicalExport(release: $release) { ${EXPORT} } }`
    : `query ${name}($userId: ID, $release: FhirExportRelease) { result: clinicalExport(userId: $userId, release: $release) { ${EXPORT} } }`,
  variables: { release: query('release'), ...(!at.endsWith('/me') && { userId: query('user_id') }) },
});

export const FHIR: Route[] = [
  exported('/v1/fhir/export/me', 'MyClinicalExport', 'Export the own clinical record in FHIR'),
  exported('/v1/fhir/export', 'ClinicalExport', "Export a patient's clinical record in FHIR"),
  {
    method: 'GET',
    path: '/v1/fhir/exports/{id}',
    status: [200, 202],
    location: '/v1/fhir/exports/{id}',
    summary: 'Fetch an export of above 1,000 resources for an hour; 202 until it is made',
    document: `query ClinicalExportById($id: ID!) { result: clinicalExportById(id: $id) { ${EXPORT} } }`,
    variables: { id: path('id') },
  },
];
