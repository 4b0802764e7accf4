import { buildSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { rowList } from '../../rest-adapter/documents/rows.js';
import { planTables, type Plan } from '../../rest-adapter/plan.js';
import { del, get, patch, post, put, type Route } from '../../rest-adapter/route.js';
import { clinical, content, plans } from './fixture.js';

const schema = buildSchema(`
  directive @constraint(min: Int, max: Int, minLength: Int) on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
  scalar JSON
  enum Colour { DEEP_RED BLUE }
  enum Action { PAUSE STOP }
  type PageInfo { endCursor: String hasNextPage: Boolean! }
  type LeafConnection { nodes: [Leaf!]! pageInfo: PageInfo! }
  type Leaf { id: ID! code: String! colour: Colour veins(first: Int! = 20, after: String, minWidth: Float): LeafConnection! stats(window: Int! = 7): JSON link: Link }
  type Link { url: String! }
  type Person { id: ID! leaf(id: ID!): Leaf settings(version: Int): Leaf badges: [Leaf!]! leaves(first: Int! = 20, after: String): LeafConnection! }
  union Outcome = Leaf | Link
  input LeafFilter { q: String ownerId: ID! userId: ID colours: [Colour!] }
  input LookupInput @oneOf { email: String handle: String }
  input NestedFilter { inner: LeafFilter }
  input MakeLeafInput { code: String! colour: Colour = BLUE userId: ID }
  input ChangeLeafInput { id: ID! action: Action! reason: String @constraint(minLength: 3) }
  input NameLeafInput { id: ID! }
  input PatchLeafInput { key: ID! patch: LeafPatch! version: Int! = 1 }
  input LeafPatch { colour: Colour minWidth: Float @constraint(min: 1) }
  type Query {
    leaf(id: ID!, wait: Int): Leaf
    leafOf(userId: ID, key: String!): Leaf
    leavesOf(userId: ID!, colours: [Colour!], first: Int! = 20, after: String): LeafConnection!
    leaves(colours: [Colour!], order: Colour! = BLUE, first: Int! = 20, after: String): LeafConnection!
    filtered(filter: LeafFilter!): [Leaf!]!
    nested(filter: NestedFilter): [Leaf!]!
    lookup(by: LookupInput!): Leaf
    first(first: Int!): [Leaf!]!
    checkLeaves(input: LeafFilter!): [Leaf!]!
    me: Person
    user(id: ID!): Person
    version: String!
  }
  type Mutation {
    makeLeaf(input: MakeLeafInput!): Leaf!
    makeLeaves(input: [MakeLeafInput!]!): [Leaf!]!
    changeLeaf(input: ChangeLeafInput!, dryRun: Boolean): Outcome!
    nameLeaf(input: NameLeafInput!): Leaf!
    renameLeaf(id: ID!, name: String! @constraint(minLength: 2), note: String): Leaf!
    patchLeaf(input: PatchLeafInput!): Leaf!
    deleteLeaf(id: ID!, reason: String): Leaf
    sweep: Leaf!
  }
`);

const planning =
  (...routes: Route[]) =>
  (): Plan[] =>
    planTables(schema, [{ service: 'clinical', routes }]);
const planOf = (...routes: Route[]): Plan => planning(...routes)()[0]!;
/** What the checked-in list shows of a row: operationId, statuses, Location and parameters. */
const derived = (...routes: Route[]): string =>
  rowList([planOf(...routes)])
    .trim()
    .split('\n')
    .at(-1)!
    .replace(/^\S+ \S+ \| /, '');

test('rows that fit are planned in their order', () => {
  expect(plans.map(plan => plan.key)).toEqual([
    ...clinical.routes.map(({ method, path }) => `${method} /clinical${path}`),
    ...content.routes.map(({ method, path }) => `${method} /content${path}`),
  ]);
});

describe('the parameters of a row', () => {
  const DERIVED: readonly (readonly [title: string, route: Route, line: string])[] = [
    [
      'a query argument comes from the path, else from the query string',
      get('/v1/leaves/{id}', 'leaf', 'id', ''),
      'leaf | 200 | path id: ID!, query wait: Int',
    ],
    [
      'a name of the path is in snake_case',
      get('/v1/leaves/{user_id}', 'leavesOf', 'id', ''),
      'leavesOf | 200 | path user_id: ID!, query colours: [Colour!], query limit: Int, query cursor: String',
    ],
    [
      'an argument of the path is never optional',
      get('/v1/users/{user_id}/{key}', 'leafOf', 'id', ''),
      'leafOf | 200 | path user_id: ID!, path key: String!',
    ],
    [
      'an argument with a default is optional, a page has limit and cursor',
      get('/v1/leaves', 'leaves', 'id', ''),
      'leaves | 200 | query colours: [Colour!], query order: Colour, query limit: Int, query cursor: String',
    ],
    ['first of what is no page is a parameter like any other', get('/v1/leaves', 'first', 'id', ''), 'first | 200 | query first: Int!'],
    ['userId is not derived below a me segment', get('/v1/leaves/me/{key}', 'leafOf', 'id', ''), 'leafOf | 200 | path key: String!'],
    [
      'nor from a filter',
      get('/v1/leaves/me', 'filtered', 'id', ''),
      'filtered | 200 | query q: String, query owner_id: ID!, query colours: [Colour!]',
    ],
    [
      'the fields of a filter are query parameters',
      get('/v1/owners/{owner_id}/leaves', 'filtered', 'id', ''),
      'filtered | 200 | path owner_id: ID!, query q: String, query user_id: ID, query colours: [Colour!]',
    ],
    [
      'a nested answer takes the arguments of all fields on its way',
      get('/v1/leaves/{id}/veins', 'leaf.veins', 'id', ''),
      'leafVeins | 200 | path id: ID!, query wait: Int, query min_width: Float, query limit: Int, query cursor: String',
    ],
    ['me takes none', get('/v1/users/me/settings', 'me.settings', 'id', ''), 'mySettings | 200 | query version: Int'],
    [
      "a mutation's input is the body",
      post('/v1/leaves', 'makeLeaf', 'id', ''),
      'makeLeaf | 200 | body code: String!, body colour: Colour, body user_id: ID',
    ],
    [
      'less what the path gives',
      post('/v1/leaves/{id}/change', 'changeLeaf', '... on Leaf { id }', '', { omit: ['dryRun'] }),
      'changeLeaf | 200 | path id: ID!, body action: Action!, body reason: String',
    ],
    [
      'and less constants',
      post('/v1/leaves/{id}/stop', 'changeLeaf', '... on Leaf { id }', '', { constant: { action: 'STOP', dryRun: false } }),
      'changeLeaf | 200 | path id: ID!, constant action = "STOP", body reason: String, constant dryRun = false',
    ],
    ['where the path gives all of it no body is read', put('/v1/leaves/{id}', 'nameLeaf', 'id', ''), 'nameLeaf | 200 | path id: ID!'],
    [
      'scalar arguments of a mutation are keys of the body',
      post('/v1/leaves/{id}/rename', 'renameLeaf', 'id', ''),
      'renameLeaf | 200 | path id: ID!, body name: String!, body note: String',
    ],
    ['a DELETE reads no body', del('/v1/leaves/{id}', 'deleteLeaf', 'id', ''), 'deleteLeaf | 204 | path id: ID!, query reason: String'],
    [
      'a query may have a body, because its question is long',
      post('/v1/leaves/check', 'checkLeaves', 'id', ''),
      'checkLeaves | 200 | body q: String, body owner_id: ID!, body user_id: ID, body colours: [Colour!]',
    ],
    ['an operation may have no parameter', post('/v1/sweep', 'sweep', 'id', ''), 'sweep | 200 |'],
  ];

  test.each(DERIVED)('%s', (_, route, line) => expect(derived(route)).toBe(line));
});

describe('an exception', () => {
  const EXCEPTIONS: readonly (readonly [title: string, route: Route, line: string])[] = [
    [
      'path names an argument',
      get('/v1/leaves/{leaf_id}', 'leaf', 'id', '', { path: { leaf_id: 'id' }, omit: ['wait'] }),
      'leaf | 200 | path leaf_id: ID!',
    ],
    [
      'path names a field of the input',
      patch('/v1/leaves/{leaf_id}', 'nameLeaf', 'id', '', { path: { leaf_id: 'id' } }),
      'nameLeaf | 200 | path leaf_id: ID!',
    ],
    [
      'query names an argument',
      get('/v1/leaves', 'leavesOf', 'id', '', { query: { owner: 'userId' }, omit: ['colours'] }),
      'leavesOf | 200 | query owner: ID!, query limit: Int, query cursor: String',
    ],
    [
      'query takes a field out of the body',
      post('/v1/leaves', 'makeLeaf', 'id', '', { query: { owner: 'userId' } }),
      'makeLeaf | 200 | query owner: ID, body code: String!, body colour: Colour',
    ],
    [
      'constant gives an argument',
      get('/v1/leaf', 'leaf', 'id', '', { constant: { id: 'l1' } }),
      'leaf | 200 | constant id = "l1", query wait: Int',
    ],
    [
      'omit leaves a field of the body out',
      post('/v1/leaves', 'makeLeaf', 'id', '', { omit: ['userId'] }),
      'makeLeaf | 200 | body code: String!, body colour: Colour',
    ],
    [
      'body: false leaves the rest of the input out',
      post('/v1/leaves/{id}/stop', 'changeLeaf', '... on Leaf { id }', '', { body: false, constant: { action: 'STOP' } }),
      'changeLeaf | 200 | path id: ID!, constant action = "STOP"',
    ],
    [
      'spread makes the fields of a field keys of the body',
      patch('/v1/leaves/{key}', 'patchLeaf', 'id', '', { spread: 'patch' }),
      'patchLeaf | 200 | path key: ID!, body colour: Colour, body min_width: Float, body version: Int',
    ],
    [
      'as is the operationId',
      get('/v1/leaves/{id}', 'leaf', 'id', '', { as: 'readLeaf', omit: ['wait'] }),
      'readLeaf | 200 | path id: ID!',
    ],
    ['status', post('/v1/sweep', 'sweep', 'id', '', { status: [202, 200] }), 'sweep | 202, 200 |'],
    ['location', post('/v1/sweep', 'sweep', 'id', '', { status: 202, location: '/v1/sweeps/{id}' }), 'sweep | 202 at /v1/sweeps/{id} |'],
    ['redirect', get('/v1/leaves/{id}/link', 'leaf.link', 'url', '', { redirect: 'url', omit: ['wait'] }), 'leafLink | 302 | path id: ID!'],
  ];

  test.each(EXCEPTIONS)('%s', (_, route, line) => expect(derived(route)).toBe(line));

  test('body: true reads a body where there is nothing left for it, or on a DELETE', () => {
    for (const make of [put, del]) {
      const { input } = planOf(make('/v1/leaves/{id}', 'nameLeaf', 'id', '', { body: true }));
      expect(input.body).toMatchObject({ kind: 'whole', without: new Set(['id']), required: false });
    }
  });
});

test.each([
  ['leaf', get('/v1/leaves/{id}', 'leaf', 'id', '')],
  ['mySettings', get('/v1/users/me/settings', 'me.settings', 'id', '')],
  ['userBadges', get('/v1/users/{id}/badges', 'user.badges', 'id', '')],
  ['me', get('/v1/users/me', 'me', 'id', '')],
  ['makeLeaf', post('/v1/links', 'makeLeaf.link', 'url', '')],
])('the operationId %s is derived from the fields of a GET, else from the root field', (id, route) => {
  expect(planOf(route).operationName).toBe(id.charAt(0).toUpperCase() + id.slice(1));
});

describe('the document', () => {
  test.each([
    [
      'query Leaf($id: ID!, $wait: Int) { result: leaf(id: $id, wait: $wait) { id colour } }',
      get('/v1/leaves/{id}', 'leaf', 'id colour', ''),
    ],
    ['query Version { result: version }', get('/v1/version', 'version', null, '')],
    [
      'query MyLeaves($first: Int, $after: String) { me { result: leaves(first: $first, after: $after) { nodes { id } pageInfo { endCursor hasNextPage } } } }',
      get('/v1/users/me/leaves', 'me.leaves', 'id', ''),
    ],
    [
      'mutation PatchLeaf($key: ID!, $colour: Colour, $minWidth: Float, $version: Int) { result: patchLeaf(input: { key: $key, patch: { colour: $colour, minWidth: $minWidth }, version: $version }) { id } }',
      patch('/v1/leaves/{key}', 'patchLeaf', 'id', '', { spread: 'patch' }),
    ],
  ])('%s', (source, route) => expect(planOf(route).source).toBe(source));
});

describe('the Location of what is created', () => {
  const create = (path: Route['path']) => post(path, 'makeLeaf', 'id code', '', { status: 201 });
  const LOCATIONS: readonly (readonly [title: string, made: Route, read: Route, location: string | null])[] = [
    ['is where a GET row reads one', create('/v1/leaves'), get('/v1/leaves/{id}', 'leaf', 'id', ''), '/v1/leaves/{id}'],
    [
      'has the name of the answer',
      create('/v1/leaves'),
      get('/v1/leaves/{leaf_id}', 'leaf', 'id', '', { path: { leaf_id: 'id' } }),
      '/v1/leaves/{id}',
    ],
    ['has no me', create('/v1/leaves/me'), get('/v1/leaves/{id}', 'leaf', 'id', ''), '/v1/leaves/{id}'],
    ['is left out where the answer lacks the name', create('/v1/leaves'), get('/v1/leaves/{key}', 'leafOf', 'id', ''), null],
    ['is no part of it', create('/v1/leaves'), get('/v1/leaves/{id}/veins', 'leaf.veins', 'id', ''), null],
    ['is not what is only written', create('/v1/leaves'), put('/v1/leaves/{id}', 'nameLeaf', 'id', ''), null],
    ['is for 201 and 202 alone', post('/v1/leaves', 'makeLeaf', 'id', ''), get('/v1/leaves/{id}', 'leaf', 'id', ''), null],
  ];

  test.each(LOCATIONS)('%s', (_, made, read, location) => expect(planOf(made, read).location).toBe(location));
});

describe('a row that does not fit stops the start and names itself', () => {
  const LEAF = get('/v1/leaves/{id}', 'leaf', 'id', '');
  const MAKE = post('/v1/leaves', 'makeLeaf', 'id', '');
  const REFUSED: readonly (readonly [title: string, route: Route, reason: string])[] = [
    ['a root field that the schema lacks', { ...LEAF, field: 'nope' }, 'Query has no field nope'],
    ['a mutation asked by GET', get('/v1/leaves', 'makeLeaf', 'id', ''), 'Query has no field makeLeaf'],
    ['a nested field that the type lacks', { ...LEAF, field: 'leaf.nope' }, 'Leaf has no field nope'],
    ['a field below a leaf', { ...LEAF, field: 'leaf.code.length' }, 'code has no fields of its own'],
    ['a selected field that the type lacks', { ...LEAF, selection: 'nope' }, 'Cannot query field "nope" on type "Leaf"'],
    ['an object without a selection', { ...LEAF, selection: null }, 'must have a selection of subfields'],
    ['a selection of what has no fields', get('/v1/version', 'version', 'id', ''), 'must not have a selection'],
    ['a selection that does not parse', { ...LEAF, selection: 'id }' }, 'Syntax Error'],
    ['a path parameter that nothing takes', get('/v1/leaves/{id}/{part}', 'leaf', 'id', ''), 'no argument or input field is named part'],
    [
      'a renamed path parameter that the path lacks',
      get('/v1/leaf', 'leaf', 'id', '', { path: { leaf_id: 'id' } }),
      'the path has no {leaf_id}',
    ],
    [
      'a query parameter of an argument that is not there',
      get('/v1/leaves/{id}', 'leaf', 'id', '', { query: { x: 'nope' } }),
      'no argument or input field is named nope',
    ],
    [
      'a constant of an argument that is not there',
      post('/v1/leaves', 'makeLeaf', 'id', '', { constant: { nope: 1 } }),
      'no argument or input field is named nope',
    ],
    ['an omission of an argument that is not there', { ...MAKE, omit: ['nope'] }, 'no argument or input field is named nope'],
    ['a required argument that is omitted', { ...LEAF, path: '/v1/leaf', omit: ['id'] }, 'nothing gives id'],
    ['a required field that is omitted', { ...MAKE, omit: ['code'] }, 'nothing gives MakeLeafInput.code'],
    ['a required field without a body', { ...MAKE, body: false }, 'nothing gives MakeLeafInput.code'],
    ['a required userId below me', get('/v1/leaves/me', 'leavesOf', 'id', ''), 'nothing gives userId'],
    ['a required key without a body', { ...post('/v1/leaves/{id}/rename', 'renameLeaf', 'id', ''), body: false }, 'nothing gives name'],
    ['an object as a query parameter', get('/v1/leaves', 'nested', 'id', ''), 'inner is an object, which no parameter can be'],
    ['a whole body beside single keys', post('/v1/leaves/{id}/change', 'changeLeaf', '... on Leaf { id }', ''), 'the body is read twice'],
    ['a spread of a field that the input lacks', { ...MAKE, spread: 'nope' }, 'input has no field nope'],
    ['a spread of a field without fields', { ...MAKE, spread: 'code' }, 'code has no fields of its own'],
    ['two arguments of one name', get('/v1/users/{id}/leaf', 'user.leaf', 'id', ''), 'two arguments are named id'],
    [
      'a Location that the answer lacks',
      { ...MAKE, status: 201, location: '/v1/leaves/{colour}' },
      'Location needs colour, which the answer lacks',
    ],
    ['a redirect with another status', { ...LEAF, redirect: 'id', status: 200 }, 'a redirect has the status 302 alone'],
    ['a redirect with a status beside', { ...LEAF, redirect: 'id', status: [302, 200] }, 'a redirect has the status 302 alone'],
    ['a 302 without an address', { ...LEAF, status: 302 }, 'a redirect has the status 302 alone'],
    ['a redirect that the answer lacks', { ...LEAF, redirect: 'url' }, 'the redirect needs url, which the answer lacks'],
  ];

  test.each(REFUSED)('%s', (_, route, reason) =>
    expect(planning(route)).toThrow(new RegExp(`${route.method} /clinical${route.path}: .*${reason}`.replace(/[{}()[\]]/g, '\\$&'))),
  );

  test('a path that stands twice', () =>
    expect(planning(LEAF, { ...LEAF, as: 'again' })).toThrow('GET /clinical/v1/leaves/{id} stands twice'));

  test('one path with two names for its parameter', () =>
    expect(planning(LEAF, del('/v1/leaves/{leafId}', 'deleteLeaf', 'id', '', { path: { leafId: 'id' } }))).toThrow(
      'DELETE /clinical/v1/leaves/{leafId}: the same path is also written /v1/leaves/{id}',
    ));
});

/** Values of a request, and the pointers of what is wrong with it. */
function readBy({ input }: Plan, request: { params?: object; query?: object; body?: unknown }) {
  const found: { pointer: string; message: string }[] = [];
  const values = input.read({ params: {}, query: {}, body: undefined, ...request } as never, found);
  return { values, found };
}

test('a field that is spread has its own constraint and its own pointer', () => {
  const plan = planOf(patch('/v1/leaves/{key}', 'patchLeaf', 'id', '', { spread: 'patch' }));
  const { values, found } = readBy(plan, { params: { key: 'l1' }, body: { min_width: 0, colour: 'blue' } });
  expect(values).toMatchObject({ key: 'l1', colour: 'BLUE' });
  expect(found).toEqual([{ pointer: '/min_width', message: 'must be at least 1' }]);
  expect(['/input/patch/minWidth', '/input/key', '/input/patch', '/elsewhere/camelCase'].map(plan.wirePointer)).toEqual([
    '/min_width',
    '/key',
    '',
    '/elsewhere/camel_case',
  ]);
});

test('an input of which exactly one key counts is refused with none or two', () => {
  const plan = planOf(get('/v1/lookup', 'lookup', 'id', ''));
  const violations = (query: object) => readBy(plan, { query }).found;
  expect(violations({ email: 'a' })).toEqual([]);
  expect(violations({})).toHaveLength(1);
  expect(violations({ email: 'a', handle: 'b' })).toHaveLength(1);
});

test("a subgraph's pointer to an argument names the parameter, at the root and below it", () => {
  const pointers = (key: string, ...of: string[]) => of.map(plans.find(plan => plan.key === key)!.wirePointer);
  expect(pointers('GET /clinical/v1/cycles', '/after', '/first', '/status/1')).toEqual(['/cursor', '/limit', '/status/1']);
  expect(pointers('GET /content/v1/users/me/notes', '/after', '/first')).toEqual(['/cursor', '/limit']);
  expect(pointers('GET /clinical/v1/cycles/search', '/filter/minValue')).toEqual(['/min_value']);
  expect(pointers('PATCH /clinical/v1/settings/{cycleId}', '/input/id', '/input/baseline/unit', '/input')).toEqual([
    '/cycleId',
    '/baseline/unit',
    '',
  ]);
});
