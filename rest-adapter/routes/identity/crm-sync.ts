import { query, type Route } from '../../route.js';

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/crm-sync/candidates',
    status: [200],
    summary: 'List users who have changed, for a CRM',
    document: `query CrmSyncCandidates($since: DateTime, $first: Int, $after: String) {
      result: crmSyncCandidates(since: $since, first: $first, after: $after) {
        nodes { userId change reasons contact { email displayName phone locale timeZone countryCode } marketingConsent status changedAt hash }
        pageInfo { endCursor hasNextPage }
      }
    }`,
    variables: { since: query('since') },
  },
];

export default routes;
