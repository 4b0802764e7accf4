import { buildSchema, getNamedType, isNonNullType, isObjectType, type GraphQLField, type GraphQLObjectType } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { sharedPlatform, type SharedPlatform } from '../support/platform.js';

/** Every list that needs no other argument, over GraphQL: documents with its cursor as `$after`. */
let p: SharedPlatform;
let token: string;
let lists: string[];
let nested: string[];

const hasPages = (field: GraphQLField<unknown, unknown>): boolean => {
  const type = getNamedType(field.type);
  const isList = field.args.some(({ name }) => name === 'after') && isObjectType(type) && type.getFields().pageInfo !== undefined;
  return isList && field.args.every(arg => !isNonNullType(arg.type) || arg.defaultValue !== undefined);
};

beforeAll(async () => {
  p = await sharedPlatform();
  token = await p.serviceToken();
  const schema = buildSchema(await readSupergraph(), { assumeValid: true });
  const roots = Object.values(schema.getQueryType()!.getFields()).filter(hasPages);
  lists = roots.map(({ name }) => `{ ${name}(after: $after) { pageInfo { hasNextPage } } }`);
  nested = roots.flatMap(root =>
    listsBelow(root).map(field => `{ ${root.name}(first: 3) { nodes { ${field}(after: $after) { pageInfo { hasNextPage } } } } }`),
  );
});

/** Lists of what a list consists of. */
function listsBelow(root: GraphQLField<unknown, unknown>): string[] {
  const { nodes } = (getNamedType(root.type) as GraphQLObjectType).getFields();
  const node = nodes && getNamedType(nodes.type);
  const fields = isObjectType(node) ? Object.values(node.getFields()) : [];
  return fields.filter(hasPages).map(({ name }) => name);
}

const KEYS: readonly unknown[] = ['2026', '+275760-09-13T00:00:00.000Z', 'x', 1.5, 1e300, -5, null, {}, 'a\0'];
const ID = '0190b3a0-0000-7000-8000-000000000001';

/** Lists that answer a made-up cursor with an error of ours. */
async function wrongOf(documents: readonly string[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const document of documents)
    for (const key of KEYS)
      for (const cursor of [[key], [key, ID], [ID, key], [key, key, ID]]) {
        const after = Buffer.from(JSON.stringify(cursor)).toString('base64url');
        const { errors } = await p.graphql(`query ($after: String) ${document}`, { after }, { token });
        const codes = errors.map(one => one.extensions?.code);
        if (codes.some(code => code === 'INTERNAL' || code === 'INTERNAL_SERVER_ERROR'))
          wrong.push(`${document} ${JSON.stringify(cursor)}`);
      }
  return wrong;
}

test('a cursor that was made up is never an error of ours', async () => {
  expect(lists.length).toBeGreaterThan(40);
  expect(await wrongOf(lists)).toEqual([]);
}, 240_000);

test('nor is one of a list inside a list', async () => {
  expect(nested.length).toBeGreaterThan(25);
  expect(await wrongOf(nested)).toEqual([]);
}, 240_000);
