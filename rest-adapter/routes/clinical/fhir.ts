import { query, type Route } from '../../route.js';

const exported = (at: string, name: string, summary: string): Route => ({
  method: 'GET',
  path: at,
  status: [200],
  summary,
  document: at.endsWith('/me')
    ? `query ${name}($release: FhirExportRelease) { result: clinicalExport(release: $release) { resourceCount bundle } }`
    : `query ${name}($userId: ID, $release: FhirExportRelease) { result: clinicalExport(userId: $userId, release: $release) { resourceCount bundle } }`,
  variables: { release: query('release'), ...(!at.endsWith('/me') && { userId: query('user_id') }) },
});

export const FHIR: Route[] = [
  exported('/v1/fhir/export/me', 'MyClinicalExport', 'Export the own clinical record in FHIR'),
  exported('/v1/fhir/export', 'ClinicalExport', "Export a patient's clinical record in FHIR"),
];
