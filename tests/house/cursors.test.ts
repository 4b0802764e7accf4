import { buildSchema, getNamedType, isNonNullType, isObjectType, type GraphQLField } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { readSupergraph } from '../../gateway/compose.js';
import { sharedPlatform, type SharedPlatform } from '../support/platform.js';

/** Every list that needs no other argument, over GraphQL. */
let p: SharedPlatform;
let token: string;
let lists: string[];

const hasPages = (field: GraphQLField<unknown, unknown>): boolean => {
  const type = getNamedType(field.type);
  const isList = field.args.some(({ name }) => name === 'after') && isObjectType(type) && type.getFields().pageInfo !== undefined;
  return isList && field.args.every(arg => !isNonNullType(arg.type) || arg.defaultValue !== undefined);
};

beforeAll(async () => {
  p = await sharedPlatform();
  token = await p.serviceToken();
  const schema = buildSchema(await readSupergraph(), { assumeValid: true });
  lists = Object.values(schema.getQueryType()!.getFields())
    .filter(hasPages)
    .map(({ name }) => name);
});

const KEYS: readonly unknown[] = ['2026', '+275760-09-13T00:00:00.000Z', 'x', 1.5, 1e300, -5, null, {}, 'a\0'];
const ID = '0190b3a0-0000-7000-8000-000000000001';

test('a cursor that was made up is never an error of ours', async () => {
  expect(lists.length).toBeGreaterThan(40);
  const wrong: string[] = [];
  for (const list of lists)
    for (const key of KEYS)
      for (const cursor of [[key], [key, ID], [ID, key], [key, key, ID]]) {
        const after = Buffer.from(JSON.stringify(cursor)).toString('base64url');
        const { errors } = await p.graphql(
          `query ($after: String) { ${list}(after: $after) { pageInfo { hasNextPage } } }`,
          { after },
          { token },
        );
        const codes = errors.map(one => one.extensions?.code);
        if (codes.some(code => code === 'INTERNAL' || code === 'INTERNAL_SERVER_ERROR')) wrong.push(`${list} ${JSON.stringify(cursor)}`);
      }
  expect(wrong).toEqual([]);
}, 240_000);
