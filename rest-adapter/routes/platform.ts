import { body, input, path, query, type RouteTable } from '../route.js';

const BRAND = `id slug name legalName status isDefault defaultLocale locales defaultCurrency currencies countries timeZone
  domains { id host purpose status verifiedAt } theme { primaryColor accentColor logoUrl faviconUrl fontFamily }
  supportEmail supportUrl taxInclusivePrices legalVersion version`;

const FLAG = `key description kind valueType variants { name value } offVariant defaultRule { variant rollout { variant basisPoints } }
  rules { position conditions { attribute operator values } serve { variant } rollout { variant basisPoints } }
  prerequisites { key variant } enabled killed failClosed protected guard salt permanent expiresOn archivedAt owner readers revision`;

const SERVICE = 'slug name purpose maturity productionReady critical';

const brandId = '0190b3a0-0000-7000-8000-000000000001';

const table: RouteTable = {
  service: 'platform',
  routes: [
    {
      method: 'GET',
      path: '/v1/brands',
      status: [200],
      summary: 'List brands',
      document: `query Brands($status: BrandStatus, $ids: [ID!], $first: Int, $after: String) {
        result: brands(status: $status, ids: $ids, first: $first, after: $after) { nodes { ${BRAND} } pageInfo { endCursor hasNextPage } }
      }`,
      variables: { status: query('status'), ids: query('ids') },
    },
    {
      method: 'GET',
      path: '/v1/brands/resolve',
      status: [200],
      summary: 'Find the brand of a host',
      document:
        'query ResolveBrand($host: String!) { result: brandByHost(host: $host) { slug name theme { primaryColor accentColor logoUrl faviconUrl fontFamily } locales } }',
      variables: { host: query('host') },
      problems: { 404: 'No active brand has verified this host', 429: 'More than 60 lookups a minute from this address' },
    },
    {
      method: 'GET',
      path: '/v1/brands/{slug}',
      status: [200],
      summary: 'Read a brand',
      document: `query Brand($slug: String!) { result: brand(slug: $slug) { ${BRAND} } }`,
      variables: { slug: path('slug') },
    },
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
      document: `query FlagSnapshot {
        result: flagSnapshot { revision flags { key variants offVariant defaultRule rules prerequisites enabled killed archived failClosed salt revision } }
      }`,
      etag: true,
    },
    {
      method: 'GET',
      path: '/v1/admin/flags',
      status: [200],
      summary: 'List flags',
      document: `query FeatureFlags($protected: Boolean, $keys: [String!], $owner: String, $archived: Boolean) {
        result: featureFlags(protected: $protected, keys: $keys, owner: $owner, archived: $archived) { ${FLAG} }
      }`,
      variables: { protected: query('protected'), keys: query('keys'), owner: query('owner'), archived: query('archived') },
    },
    {
      method: 'GET',
      path: '/v1/admin/flags/{key}',
      status: [200],
      summary: 'Read a flag',
      document: `query FeatureFlag($key: String!) { result: featureFlag(key: $key) { ${FLAG} } }`,
      variables: { key: path('key') },
    },
    {
      method: 'POST',
      path: '/v1/admin/flags/{key}/kill',
      status: [200],
      summary: 'Serve the off variant of a flag to everyone at once',
      document: `mutation KillFeatureFlag($input: KillFeatureFlagInput!) { result: killFeatureFlag(input: $input) { ${FLAG} } }`,
      variables: { input: input({ path: ['key'] }) },
      example: { request: { reason: 'error rate' } },
    },
    {
      method: 'GET',
      path: '/v1/services',
      status: [200],
      summary: 'List the services of the suite',
      document: `query PlatformServices($maturity: PlatformServiceMaturity, $productionReady: Boolean) {
        result: platformServices(maturity: $maturity, productionReady: $productionReady) { ${SERVICE} }
      }`,
      variables: { maturity: query('maturity'), productionReady: query('production_ready') },
    },
    {
      method: 'GET',
      path: '/v1/services/{slug}',
      status: [200],
      summary: 'Read a service of the suite',
      document: `query PlatformService($slug: String!) { result: platformService(slug: $slug) { ${SERVICE} } }`,
      variables: { slug: path('slug') },
    },
    {
      method: 'POST',
      path: '/v1/admin/test-clock',
      status: [200],
      summary: "Move this service's manual clock (development and tests)",
      document: 'mutation SetPlatformClock($input: SetClockInput!) { result: setPlatformClock(input: $input) { now } }',
      variables: { input: body() },
    },
  ],
};

export default table;
