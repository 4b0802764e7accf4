import { buildSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { planTables } from '../../rest-adapter/plan.js';
import { body, bodyKey, constant, input, path, query, type Route } from '../../rest-adapter/route.js';
import { clinical, content, schema } from './fixture.js';

const READ: Route = {
  method: 'GET',
  path: '/v1/things/{id}',
  status: [200],
  summary: 'Read a thing',
  document: 'query Thing($id: ID!) { result: cycle(id: $id) { id } }',
  variables: { id: path('id') },
};
const WRITE: Route = {
  method: 'POST',
  path: '/v1/things',
  status: [201],
  summary: 'Make a thing',
  document: 'mutation Make($input: StartCycleInput!) { result: startCycle(input: $input) { id } }',
  variables: { input: body() },
};

const planning =
  (...routes: Route[]) =>
  () =>
    planTables(schema, [{ service: 'clinical', routes }]);

test('rows that fit are planned in their order', () => {
  const keys = planTables(schema, [clinical, content]).map(plan => plan.key);
  expect(keys).toEqual([
    ...clinical.routes.map(({ method, path: at }) => `${method} /clinical${at}`),
    ...content.routes.map(({ method, path: at }) => `${method} /content${at}`),
  ]);
});

describe('a row that does not fit stops the start and names itself', () => {
  const REFUSED: readonly (readonly [title: string, route: Route, reason: RegExp])[] = [
    [
      'a field that the schema lacks',
      { ...READ, document: 'query Thing($id: ID!) { result: cycle(id: $id) { nope } }' },
      /Cannot query field "nope"/,
    ],
    ['no field aliased result', { ...READ, document: 'query Thing($id: ID!) { cycle(id: $id) { id } }' }, /no field is aliased "result"/],
    ['two root fields', { ...READ, document: 'query Thing($id: ID!) { result: cycle(id: $id) { id } me { id } }' }, /alone on its way/],
    [
      'two operations',
      { ...READ, document: 'query A($id: ID!) { result: cycle(id: $id) { id } } query B($id: ID!) { result: cycle(id: $id) { id } }' },
      /one query or mutation/,
    ],
    ['a variable without a source', { ...READ, variables: {} }, /nothing gives \$id/],
    ['a source without a variable', { ...READ, variables: { id: path('id'), other: query('other') } }, /the document has no \$other/],
    ['a path parameter that nothing uses', { ...READ, path: '/v1/things/{id}/{part}' }, /\{part\} of the path is not used/],
    ['a path source that the path lacks', { ...READ, path: '/v1/things', variables: { id: path('id') } }, /the path has no \{id\}/],
    [
      'a list that is switched off but has $first',
      {
        ...READ,
        list: false,
        path: '/v1/things',
        document: 'query L($first: Int) { result: cycles(first: $first) { nodes { id } pageInfo { endCursor } } }',
        variables: {},
      },
      /nothing gives \$first/,
    ],
    [
      'a body read twice',
      {
        ...WRITE,
        document: 'mutation M($input: StartCycleInput!, $b: StartCycleInput!) { result: startCycle(input: $input) { id } }',
        variables: { input: body(), b: body() },
      },
      /never used|read twice/,
    ],
    [
      'a whole body beside single keys',
      {
        ...WRITE,
        document: 'mutation M($id: ID!, $name: String!) { result: renameCycle(id: $id, name: $name) }',
        variables: { id: body(), name: bodyKey('name') },
      },
      /the body is read twice/,
    ],
    [
      'an input field that nothing gives',
      { ...WRITE, variables: { input: input({ body: false, query: ['code'] }) } },
      /nothing gives StartCycleInput.patientId/,
    ],
    [
      'an input field that the type lacks',
      { ...WRITE, variables: { input: input({ query: ['nope'] }) } },
      /StartCycleInput has no field nope/,
    ],
    ['an input source for a scalar', { ...READ, variables: { id: input({ path: ['id'] }) } }, /\$id is not an input object/],
    ['a Location that the answer lacks', { ...WRITE, location: '/v1/things/{code}' }, /Location needs code/],
    ['a redirect with another status', { ...READ, redirect: 'id' }, /a redirect has the status 302 alone/],
    ['a redirect with a status beside', { ...READ, status: [302, 200], redirect: 'id' }, /a redirect has the status 302 alone/],
    ['a 302 that says not where', { ...READ, status: [302] }, /a redirect has the status 302 alone/],
    ['a redirect that the answer lacks', { ...READ, status: [302], redirect: 'url' }, /the redirect needs url/],
    ['a document that does not parse', { ...READ, document: 'query {' }, /Syntax Error/],
  ];

  test.each(REFUSED)('%s', (_, route, reason) => {
    expect(planning(route)).toThrow(reason);
    if (!/Syntax/.test(reason.source)) expect(planning(route)).toThrow(`${route.method} /clinical${route.path}`);
  });

  test('a path that stands twice', () =>
    expect(planning(READ, { ...READ, summary: 'again' })).toThrow('GET /clinical/v1/things/{id} stands twice'));

  test('one path with two names for its parameter', () => {
    const remove: Route = {
      ...READ,
      method: 'DELETE',
      path: '/v1/things/{thingId}',
      document: 'mutation D($id: ID!) { result: deleteCycle(id: $id) }',
      variables: { id: path('thingId') },
    };
    expect(planning(READ, remove)).toThrow('DELETE /clinical/v1/things/{thingId}: the same path is also written /v1/things/{id}');
  });
});

test('a variable inside an input literal has the field constraint', () => {
  const route: Route = {
    ...WRITE,
    path: '/v1/things/{id}/stop',
    document:
      'mutation Stop($id: ID!, $why: String, $action: StopAction!) { result: changeCycle(input: { id: $id, reason: $why, action: $action }) }',
    variables: { id: path('id'), why: bodyKey('why'), action: constant('STOP') },
  };
  const [plan] = planning(route)();
  const found: object[] = [];
  const values = plan!.variables.read({ params: { id: 'c1' }, query: {}, headers: {}, body: { why: 'no' } }, found as never);
  expect(values).toMatchObject({ id: 'c1', action: 'STOP' });
  expect(found).toEqual([{ pointer: '/why', message: 'must have at least 3 characters' }]);
  expect(plan!.wirePointer('/input/reason')).toBe('/why');
  expect(plan!.wirePointer('/input/id')).toBe('/id');
  expect(plan!.wirePointer('/elsewhere/camelCase')).toBe('/elsewhere/camel_case');
});

test('an input of which exactly one key counts says so', () => {
  const oneOf = buildSchema('input By @oneOf { email: String handle: String } type Query { lookup(by: By!): String }');
  const route: Route = {
    ...READ,
    path: '/v1/lookup',
    document: 'query L($by: By!) { result: lookup(by: $by) }',
    variables: { by: input({ body: false, query: ['email', 'handle'] }) },
  };
  const [plan] = planTables(oneOf, [{ service: 'identity', routes: [route] }]);
  const read = (given: Record<string, string>) => {
    const found: { pointer: string }[] = [];
    plan!.variables.read({ params: {}, query: given, headers: {}, body: undefined }, found as never);
    return found;
  };
  expect(read({ email: 'a' })).toEqual([]);
  expect(read({})).toHaveLength(1);
  expect(read({ email: 'a', handle: 'b' })).toHaveLength(1);
});

test("a subgraph's pointer to a list argument names the query parameter, at the root and below it", () => {
  const plans = planTables(schema, [clinical, content]);
  for (const key of ['GET /clinical/v1/cycles', 'GET /content/v1/users/me/notes']) {
    const plan = plans.find(one => one.key === key)!;
    expect([plan.wirePointer('/after'), plan.wirePointer('/first')]).toEqual(['/cursor', '/limit']);
  }
  expect(plans.find(one => one.key === 'GET /clinical/v1/cycles')!.wirePointer('/status/1')).toBe('/status/1');
  expect(plans.find(one => one.key === 'GET /clinical/v1/cycles/search')!.wirePointer('/filter/minValue')).toBe('/min_value');
});
