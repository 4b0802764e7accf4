import { buildSchema, Kind, parse, type OperationDefinitionNode } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { MAX_OBJECTS, objectsOf } from '../../gateway/limits/cost.js';
import { sharedPlatform, type SharedPlatform } from '../support/platform.js';

const schema = buildSchema(`
  type Query { user: User users(first: Int = 20, after: String): UserConnection! }
  type UserConnection { nodes: [User!]! pageInfo: PageInfo! }
  type PageInfo { hasNextPage: Boolean! }
  interface Named { name: String }
  type User implements Named { name: String brand: Brand roles: [Role!]! friends(first: Int): UserConnection! tags: [String!]! }
  type Brand { name: String }
  type Role { name: String }
`);

function objects(source: string, variables = {}): number {
  const document = parse(source);
  const operation = document.definitions.find(one => one.kind === Kind.OPERATION_DEFINITION) as OperationDefinitionNode;
  return objectsOf(schema, document, operation, variables);
}

test.each([
  ['one object', '{ user { name tags } }', {}, 1],
  ['an object below it', '{ user { name brand { name } } }', {}, 2],
  ['a list without a page', '{ user { roles { name } } }', {}, 11],
  [
    'a page of the schema’s size: the connection, its rows and its page info',
    '{ users { nodes { name } pageInfo { hasNextPage } } }',
    {},
    22,
  ],
  ['a page of a given size', '{ users(first: 3) { nodes { name } } }', {}, 4],
  ['a page of a variable’s size', 'query($n: Int) { users(first: $n) { nodes { name } } }', { n: 7 }, 8],
  ['a variable that is missing: the schema’s', 'query($n: Int) { users(first: $n) { nodes { name } } }', {}, 21],
  ['pages in pages', '{ users(first: 10) { nodes { friends(first: 10) { nodes { name } } } } }', {}, 121],
  ['fragments', '{ users(first: 2) { nodes { ...f } } } fragment f on Named { ... on User { brand { name } } }', {}, 5],
  ['an alias twice', '{ a: user { name } b: user { name } }', {}, 2],
])('%s', (_title, source, variables, count) => {
  expect(objects(source, variables)).toBe(count);
});

describe('at the endpoint', () => {
  let p: SharedPlatform;
  beforeAll(async () => {
    p = await sharedPlatform();
  });
  const brands = 'brands(first: $n) { nodes { id oauthClients { id secrets { id } } } }';

  test('a document that asks for too many objects answers 400 the first and the third time', async () => {
    const token = await p.serviceToken('admin:identity');
    const query = `query($n: Int!) { a: ${brands} b: ${brands} c: ${brands} }`;
    for (const n of [100, 100, 100]) {
      const answer = await p.graphql(query, { n }, { token });
      expect([answer.status, answer.errors[0]!.extensions.reason]).toEqual([400, 'DOCUMENT_TOO_COMPLEX']);
      expect(answer.errors[0]!.message).toContain(`more than ${MAX_OBJECTS}`);
    }
    expect((await p.graphql(query, { n: 2 }, { token })).data?.a.nodes).toHaveLength(2);
  });
});
