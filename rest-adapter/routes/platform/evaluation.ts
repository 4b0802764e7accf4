import { body, query, type Route } from '../../route.js';

const brandId = '0190b3a0-0000-7000-8000-000000000001';

const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/flags/evaluate',
    status: [200],
    summary: 'Evaluate flags for a brand and a user',
    document:
      'query EvaluateFlags($input: EvaluateFlagsInput!) { result: evaluateFlags(input: $input) { key value variant reason errorCode revision } }',
    variables: { input: body() },
    example: {
      request: {
        keys: ['feature.clinical.retest-prompt', 'feature.nope'],
        brand_id: brandId,
        user_id: '0190b3a0-0000-7000-8000-0000000000a1',
      },
      response: {
        data: [
          { key: 'feature.clinical.retest-prompt', value: true, variant: 'on', reason: 'split', error_code: null, revision: 12 },
          { key: 'feature.nope', value: null, variant: null, reason: 'error', error_code: 'flag_not_found', revision: null },
        ],
      },
    },
  },
  {
    method: 'GET',
    path: '/v1/flags/snapshot',
    status: [200],
    summary: 'Read the flags that concern the calling service, to evaluate them in process',
    document: `query FlagSnapshot($knownRevision: Int, $wait: Int) {
      result: flagSnapshot(knownRevision: $knownRevision, wait: $wait) { revision flags { key variants offVariant defaultRule rules prerequisites enabled killed archived failClosed salt revision } }
    }`,
    variables: { knownRevision: query('revision'), wait: query('wait') },
    etag: true,
  },
  {
    method: 'POST',
    path: '/v1/flags/usage',
    status: [202],
    summary: 'Add to the counters of evaluations',
    document: 'mutation ReportFlagUsage($input: ReportFlagUsageInput!) { result: reportFlagUsage(input: $input) { accepted } }',
    variables: { input: body() },
    example: {
      request: { counts: [{ flag: 'feature.clinical.retest-prompt', variant: 'on', reason: 'SPLIT', brand_id: brandId, count: 120 }] },
      response: { accepted: 1 },
    },
  },
];

export default routes;
