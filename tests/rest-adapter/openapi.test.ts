import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { generateOpenApi, openApi } from '../../rest-adapter/documents/openapi.js';
import { planTables } from '../../rest-adapter/plan.js';
import { get, type Exceptions, type Route, type RouteTable } from '../../rest-adapter/route.js';
import { clinical, content, ME, plans, restFixture, schema, services, unruled, type Fixture } from './fixture.js';

type Doc = Record<string, any>;

const documents = openApi(plans, services);
const unified = documents.unified() as Doc;
const operation = (method: string, at: string): Doc => unified.paths[at][method];

describe('the files', () => {
  const files = generateOpenApi(plans, services);

  test('are one for all and one per service', () => expect([...files.keys()]).toEqual(['openapi.yaml', 'clinical.yaml', 'content.yaml']));

  test('are the documents', () => {
    expect(parse(files.get('openapi.yaml')!)).toEqual(JSON.parse(JSON.stringify(unified)));
    expect(parse(files.get('clinical.yaml')!)).toEqual(JSON.parse(JSON.stringify(documents.forService('clinical'))));
  });

  test('have the same bytes each time, whatever the order of the services', () => {
    expect([...generateOpenApi(plans, [...services].reverse())]).toEqual([...files]);
  });
});

describe('a document', () => {
  test('is OpenAPI 3.1 and describes each service by its tag', () => {
    expect(unified.openapi).toBe('3.1.0');
    expect(unified.tags).toEqual([
      { name: 'clinical', description: 'Health data.' },
      { name: 'content', description: 'Words.' },
    ]);
  });

  test('has every route, native path and probe, prefixed by the service in the unified one only', () => {
    const expected = [clinical, content].flatMap(({ service, routes }) => routes.map(route => `${route.method} /${service}${route.path}`));
    const found = Object.entries<Doc>(unified.paths).flatMap(([at, item]) =>
      Object.keys(item).map(method => `${method.toUpperCase()} ${at}`),
    );
    const others = ['clinical', 'content'].flatMap(slug => [`GET /${slug}/readyz`, `GET /${slug}/healthz`]);
    expect(found.sort()).toEqual([...expected, ...others, 'POST /clinical/v1/hooks/{vendor}'].sort());
    expect(Object.keys((documents.forService('content') as Doc).paths)).toContain('/v1/words');
    expect((documents.forService('content') as Doc).servers.map((server: Doc) => server.url)).toEqual([
      '/content',
      'https://content.{domain}',
    ]);
  });

  test('names an operation by its field, or as its row does', () => {
    const ids = [operation('post', '/clinical/v1/cycles'), operation('post', '/clinical/v1/cycles/{id}/stop')].map(one => one.operationId);
    expect(ids).toEqual(['startCycle', 'stopCycle']);
  });

  test('names who may call an operation', () => {
    expect(operation('post', '/clinical/v1/cycles').security).toEqual([
      { serviceToken: ['admin:clinical'] },
      { userToken: ['write:clinical'] },
    ]);
    expect(operation('get', '/clinical/v1/cycles/{id}').security).toEqual([
      { serviceToken: ['admin:clinical'] },
      { userToken: ['read:my_outcomes'] },
      { staffToken: [] },
    ]);
    expect(operation('get', '/clinical/v1/cycles/{id}').description).toContain('Staff need the permission `admin:clinical:read`.');
    expect(operation('get', '/clinical/v1/cycles').description).toContain('Internal clients: `comms`.');
    expect(operation('get', '/content/v1/users/me/settings').security).toEqual([{ userToken: ['read:profile', 'read:preferences'] }]);
    expect(operation('get', '/content/v1/words').security).toEqual([]);
    expect(operation('get', '/content/v1/dark').description).toContain('Behind the feature flag `feature.dark`');
    expect(operation('post', '/clinical/v1/sweep').description).toContain('within the last 600 s');
    expect(Object.keys(unified.components.securitySchemes.userToken.flows.authorizationCode.scopes)).toEqual([
      'read:inbox',
      'read:my_outcomes',
      'read:preferences',
      'read:profile',
      'write:clinical',
    ]);
  });

  test('shows parameters in wire form with their constraints', () => {
    const parameters = Object.fromEntries(operation('get', '/clinical/v1/cycles').parameters.map((one: Doc) => [one.name, one.schema]));
    expect(parameters).toMatchObject({
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      cursor: { type: 'string' },
      status: { type: 'array', items: { $ref: '#/components/schemas/CycleStatus' } },
      due_from: { type: 'string', format: 'date-time' },
      urgent: { type: 'boolean' },
    });
    expect(operation('get', '/clinical/v1/cycles/search').parameters[0]).toMatchObject({
      name: 'q',
      in: 'query',
      required: false,
      schema: { type: 'string', minLength: 2 },
    });
    expect(operation('post', '/clinical/v1/cycles/{id}/stop').parameters).toMatchObject([
      { name: 'id', in: 'path', required: true },
      { $ref: '#/components/parameters/IdempotencyKey' },
    ]);
  });

  test('shows bodies in wire form with constraints, defaults, descriptions and examples', () => {
    const body = operation('post', '/clinical/v1/cycles').requestBody;
    expect(body).toMatchObject({
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/StartCycleInput' }, example: { code: 'ldl_c' } } },
    });
    const { properties, required, additionalProperties } = unified.components.schemas.StartCycleInput;
    expect([required, additionalProperties]).toEqual([['patient_id', 'code', 'baseline'], false]);
    expect(properties).toMatchObject({
      patient_id: { description: 'The canonical user UUID.' },
      code: { pattern: '^[a-z][a-z0-9_]*$', maxLength: 48 },
      window_days: { minimum: 14, maximum: 365, default: 90 },
      status: { default: 'baseline_set' },
      tags: { minItems: 1, maxItems: 3, items: { maxLength: 5 } },
    });
  });

  test('takes merge patch on PATCH, and no field that the path gives', () => {
    const { content: media, required } = operation('patch', '/clinical/v1/settings/{cycleId}').requestBody;
    expect([Object.keys(media), required]).toEqual([['application/json', 'application/merge-patch+json'], false]);
    expect(Object.keys(media['application/json'].schema.properties)).toEqual(['code', 'baseline', 'tags', 'version']);
  });

  test('documents each success and each problem that can occur', () => {
    const statuses = (method: string, at: string): string[] => Object.keys(operation(method, at).responses);
    expect(statuses('post', '/clinical/v1/cycles')).toEqual([
      '200',
      '201',
      '400',
      '401',
      '403',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ]);
    expect(statuses('get', '/content/v1/words')).toEqual(['200', '400', '429', '500', '503']);
    expect(statuses('get', '/clinical/v1/cycles/{id}')).toEqual(['200', '304', '400', '401', '403', '404', '429', '500', '503']);
    expect(operation('get', '/clinical/v1/failing/{kind}').responses['402']).toEqual({
      $ref: '#/components/responses/PaymentDeclined',
      description: 'The processor declined',
    });
    expect(operation('post', '/clinical/v1/cycles').responses['201'].headers).toHaveProperty('Location');
    expect(operation('delete', '/clinical/v1/cycles/{id}').responses['204']).not.toHaveProperty('content');
  });

  test('defines every reference and has no component that nothing refers to', () => {
    const text = JSON.stringify(unified);
    const referred = new Set([...text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)].map(match => `${match[1]}/${match[2]}`));
    const defined = Object.entries<Doc>(unified.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, map]) => Object.keys(map).map(name => `${kind}/${name}`));
    expect(defined.sort()).toEqual([...referred].sort());
  });
});

describe('the generation refuses', () => {
  const read = (path: Route['path'], exceptions: Exceptions = {}) => get(path, 'cycle', 'id', 'Read', { as: 'same', ...exceptions });
  const documentOf = (table: RouteTable) => openApi(planTables(schema, [table]), services).unified();

  test('two operations of one name', () =>
    expect(() => documentOf({ service: 'clinical', routes: [read('/v1/x/{id}'), read('/v1/y/{id}')] })).toThrow(
      'operation name same stands twice',
    ));

  test('an operation without a rule', () => expect(() => documentOf(unruled)).toThrow('no @access rule'));

  test('a status that no problem has', () =>
    expect(() => documentOf({ service: 'clinical', routes: [read('/v1/x/{id}', { problems: { 418: 'teapot' } })] })).toThrow('418'));
});

describe('what is served is what is documented', () => {
  let rest: Fixture;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  beforeAll(async () => {
    rest = await restFixture();
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'api', ...unified } as AnySchema);
  });
  afterAll(() => rest.app.close());

  /** Faults of a value under the schema at this path of the document. */
  function faults(value: unknown, ...path: string[]): unknown {
    const pointer = path.map(part => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const validate = ajv.getSchema(`api#${encodeURI(pointer)}`)!;
    return validate(value) ? [] : validate.errors;
  }

  const NEW = { patient_id: ME, code: 'ldl_c', baseline: { value: 160, unit: 'mg/dL' } };
  const ANSWERS: readonly [method: string, path: string, url: string, token: string, json?: object][] = [
    ['post', '/clinical/v1/cycles', '/clinical/v1/cycles', 'svc+admin:clinical', NEW],
    ['get', '/clinical/v1/cycles', '/clinical/v1/cycles?cursor=more', 'svc+admin:clinical'],
    ['get', '/clinical/v1/cycles/search', '/clinical/v1/cycles/search?brand_id=b', 'svc+admin:clinical'],
    ['get', '/clinical/v1/cycles/{id}', '/clinical/v1/cycles/c1', 'svc+admin:clinical'],
    ['get', '/clinical/v1/cycles/{id}', '/clinical/v1/cycles/lost', 'svc+admin:clinical'],
    ['get', '/content/v1/words', '/content/v1/words', 'svc+x'],
    ['get', '/content/v1/users/me', '/content/v1/users/me', 'usr+read:profile'],
    ['get', '/content/v1/users/me', '/content/v1/users/me', 'usr+read:profile+read:account'],
    ['get', '/content/v1/users/me/settings', '/content/v1/users/me/settings', 'usr+read:profile+read:preferences'],
    ['get', '/content/v1/users/me/notes', '/content/v1/users/me/notes', 'usr+read:profile+read:inbox'],
  ];

  test.each(ANSWERS)('%s %s', async (method, at, url, token, json) => {
    const answer = await rest.call(method.toUpperCase(), url, { token, ...(json !== undefined && { json }) });
    expect(answer.statusCode).toBeLessThan(300);
    expect(
      faults(answer.json(), 'paths', at, method, 'responses', String(answer.statusCode), 'content', 'application/json', 'schema'),
    ).toEqual([]);
  });

  test('a problem', async () => {
    for (const url of ['/clinical/v1/cycles?x=1', '/clinical/v1/cycles/absent', '/clinical/v1/nope'])
      expect(faults((await rest.call('GET', url)).json(), 'components', 'schemas', 'Problem')).toEqual([]);
  });

  /** Bodies of a create; the document and the adapter must agree on each. */
  const BODIES: readonly unknown[] = [
    NEW,
    {},
    [],
    null,
    'x',
    { ...NEW, extra: 1 },
    { ...NEW, patientId: 'x' },
    { ...NEW, patient_id: '' },
    { ...NEW, patient_id: null },
    { ...NEW, code: 'A' },
    { ...NEW, code: 'x'.repeat(49) },
    { ...NEW, window_days: 14 },
    { ...NEW, window_days: 13 },
    { ...NEW, window_days: null },
    { ...NEW, window_days: 14.5 },
    { ...NEW, window_days: '90' },
    { ...NEW, status: 'retested' },
    { ...NEW, status: 'RETESTED' },
    { ...NEW, status: null },
    { ...NEW, tags: [] },
    { ...NEW, tags: ['a'] },
    { ...NEW, tags: ['123456'] },
    { ...NEW, tags: [null] },
    { ...NEW, tags: null },
    { ...NEW, baseline: null },
    { ...NEW, baseline: { value: -1, unit: 'g' } },
    { ...NEW, baseline: { value: 1 } },
    { ...NEW, doses: [{ value: 1, unit: 'g' }] },
    { ...NEW, doses: [{}] },
    { ...NEW, metadata: { anyThing: ['A'] } },
    { ...NEW, metadata: null },
    { ...NEW, metadata: 5 },
    { ...NEW, email: 'demo@example.test' },
    { ...NEW, email: 'demo' },
    { ...NEW, accepted: 1 },
    { ...NEW, total: 2 ** 53 },
    { ...NEW, total: 2 ** 53 - 1 },
    { ...NEW, currency: 'USD' },
    { ...NEW, currency: 'usd' },
    { ...NEW, born_on: '2000-02-29' },
    { ...NEW, born_on: '2001-02-29' },
    { ...NEW, collected_at: '2026-08-01T08:00:00.000Z' },
    { ...NEW, collected_at: '2026-08-01' },
    { ...NEW, parent: { name: 'a', children: [{ name: 'b' }] } },
    { ...NEW, parent: { name: 'a', children: [{}] } },
  ];

  test.each(BODIES.map(body => [JSON.stringify(body).slice(0, 160), body] as const))(
    'the document takes what the adapter takes: %s',
    async (_, body) => {
      const answer = await rest.call('POST', '/clinical/v1/cycles', { json: body });
      const isDocumented =
        (faults(body, 'paths', '/clinical/v1/cycles', 'post', 'requestBody', 'content', 'application/json', 'schema') as unknown[])
          .length === 0;
      expect(isDocumented).toBe(answer.statusCode === 201);
    },
  );
});
