/** A document that comes again is answered without @apollo/server; the answers must be equal. */
import { request } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, sharedPlatform, type SharedPlatform } from '../support/platform.js';

let p: SharedPlatform;
let token: string;
beforeAll(async () => {
  p = await sharedPlatform();
  token = await p.serviceToken();
});

interface Sent {
  body: unknown;
  token?: string | null;
  accept?: string;
}

async function post({ body, token: bearer, accept }: Sent) {
  const headers = {
    'content-type': 'application/json',
    ...(bearer && { authorization: `Bearer ${bearer}` }),
    ...(accept && { accept }),
    'x-request-id': 'hot-1',
  };
  const answer = await request(`${p.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { date: _date, 'keep-alive': _keepAlive, ...shown } = answer.headers;
  return { status: answer.statusCode, headers: shown, body: (await answer.body.json()) as object };
}

const joined = 'query Hot($id: ID!) { user(id: $id) { id brand { id slug } } brands { nodes { id } } }';

const cases: [string, () => Sent][] = [
  ['an answer over two services', () => ({ body: { query: joined, variables: { id: DEMO } }, token })],
  [
    'an answer to one of several operations',
    () => ({ body: { query: 'query A { brands { nodes { id } } } query B { brands { nodes { slug } } }', operationName: 'B' }, token }),
  ],
  [
    'no operation named among several',
    () => ({ body: { query: 'query A { brands { nodes { id } } } query B { brands { nodes { slug } } }' }, token }),
  ],
  ['nobody', () => ({ body: { query: '{ brands { nodes { id } } }' } })],
  ['a caller without the scope', () => ({ body: { query: '{ __typename me { id } }' }, token })],
  ['a variable of a wrong type', () => ({ body: { query: joined, variables: { id: { secret: 'canary' } } }, token })],
  ['a variable that is missing', () => ({ body: { query: joined }, token })],
  ['variables that are no object', () => ({ body: { query: joined, variables: [1] }, token })],
  ['a document that is not valid', () => ({ body: { query: '{ brands { nodes { nothing } } }' }, token })],
  ['a document that is no GraphQL', () => ({ body: { query: '{ brands ' }, token })],
  ['introspection', () => ({ body: { query: '{ __type(name: "Brand") { name } }' }, token })],
  ['another media type', () => ({ body: { query: '{ brands { nodes { id } } }' }, token, accept: 'application/graphql-response+json' })],
];

describe('the third answer is the first one', () => {
  test.each(cases)('%s', async (_title, sent) => {
    const first = await post(sent());
    await post(sent());
    const third = await post(sent());
    expect({ ...third, headers: { ...third.headers, 'content-length': 0 } }).toEqual({
      ...first,
      headers: { ...first.headers, 'content-length': 0 },
    });
  });
});

test('a token that ended is refused however hot the document is', async () => {
  const sent = { body: { query: '{ brands { nodes { name } } }' }, token };
  for (const _time of [1, 2, 3]) expect((await post(sent)).status).toBe(200);
  expect((await post({ ...sent, token: `${token}x` })).status).toBe(401);
});
