import { body, input, path, query, type Route } from '../../route.js';

const KEY = 'key description schema scopes readers sensitive';
const VALUE = 'id key brandId value version setBy setAt reason';

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/config',
    status: [200],
    summary: 'Read the configuration that concerns the calling service',
    document: `query EffectiveConfig($brandId: ID, $prefix: String) {
      result: effectiveConfig(brandId: $brandId, prefix: $prefix) { key value source version }
    }`,
    variables: { brandId: query('brand_id'), prefix: query('prefix') },
    etag: true,
  },
  {
    method: 'GET',
    path: '/v1/admin/config',
    status: [200],
    summary: 'List the keys of the configuration',
    document: `query ConfigKeys { result: configKeys { ${KEY} } }`,
  },
  {
    method: 'POST',
    path: '/v1/admin/config',
    status: [201, 200],
    location: '/v1/admin/config/{key}/history',
    summary: 'Define a key, or define it anew',
    document: `mutation DefineConfigKey($input: DefineConfigKeyInput!) { result: defineConfigKey(input: $input) { ${KEY} } }`,
    variables: { input: body() },
    example: {
      request: {
        key: 'comms.quiet_hours',
        description: 'No pushes then',
        schema: {
          type: 'object',
          required: ['from', 'to'],
          properties: { from: { type: 'string' }, to: { type: 'string' } },
          additionalProperties: false,
        },
        scopes: ['global', 'brand'],
        readers: ['comms'],
      },
    },
    problems: { 409: 'Current values do not fit the schema' },
  },
  {
    method: 'PUT',
    path: '/v1/admin/config/{key}',
    status: [200],
    summary: 'Set a value, for one brand or for all',
    document: `mutation SetConfig($input: SetConfigInput!) { result: setConfig(input: $input) { ${VALUE} } }`,
    variables: { input: input({ path: ['key'] }) },
    example: { request: { brand_id: null, value: { from: '21:00', to: '08:00' }, expected_version: 0, reason: 'default' } },
    problems: { 409: 'Another version is current' },
  },
  {
    method: 'GET',
    path: '/v1/admin/config/{key}/history',
    status: [200],
    summary: 'List the values of a key, newest first',
    document: `query ConfigHistory($key: String!, $brandId: ID, $first: Int, $after: String) {
      result: configHistory(key: $key, brandId: $brandId, first: $first, after: $after) { nodes { ${VALUE} } pageInfo { endCursor hasNextPage } }
    }`,
    variables: { key: path('key'), brandId: query('brand_id') },
  },
  {
    method: 'POST',
    path: '/v1/admin/config/{key}/rollback',
    status: [200],
    summary: 'Make an old value current again, as a new version',
    document: `mutation RollbackConfig($input: RollbackConfigInput!) { result: rollbackConfig(input: $input) { ${VALUE} } }`,
    variables: { input: input({ path: ['key'] }) },
    example: { request: { brand_id: null, version: 1, reason: 'the new one was wrong' } },
    problems: { 409: 'The old value does not fit the schema in force' },
  },
];

export default routes;
