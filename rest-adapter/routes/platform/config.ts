import { get, post, put, type Route } from '../../route.js';

const KEY = 'key description schema scopes readers sensitive';
const VALUE = 'id key brandId value version setBy setAt reason';

const routes: Route[] = [
  get('/v1/config', 'effectiveConfig', 'key value source version', 'Read the configuration that concerns the calling service', {
    etag: true,
  }),
  get('/v1/admin/config', 'configKeys', KEY, 'List the keys of the configuration'),
  post('/v1/admin/config', 'defineConfigKey', KEY, 'Define a key, or define it anew', {
    status: [201, 200],
    location: '/v1/admin/config/{key}/history',
    problems: { 409: 'Current values do not fit the schema' },
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
  }),
  put('/v1/admin/config/{key}', 'setConfig', VALUE, 'Set a value, for one brand or for all', {
    problems: { 409: 'Another version is current' },
    example: { request: { brand_id: null, value: { from: '21:00', to: '08:00' }, expected_version: 0, reason: 'default' } },
  }),
  get('/v1/admin/config/{key}/history', 'configHistory', VALUE, 'List the values of a key, newest first'),
  post('/v1/admin/config/{key}/rollback', 'rollbackConfig', VALUE, 'Make an old value current again, as a new version', {
    problems: { 409: 'The old value does not fit the schema in force' },
    example: { request: { brand_id: null, version: 1, reason: 'the new one was wrong' } },
  }),
];

export default routes;
