/** Parameters of a GraphQL request beside its document. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedPlatform, type Answer, type SharedPlatform } from '../support/platform.js';

let p: SharedPlatform;
let token: string;
beforeAll(async () => {
  p = await sharedPlatform();
  token = await p.serviceToken();
});

const QUERY = '{ brands { nodes { id } } }';
const HASH = createHash('sha256').update(QUERY).digest('hex');

const post = (body: object): Promise<Answer> => p.rest('POST', '/graphql', { token, body });
const get = (parameters: Record<string, string>): Promise<Answer> =>
  p.rest('GET', `/graphql?${new URLSearchParams(parameters)}`, { token, headers: { 'graphql-require-preflight': '1' } });

describe('an empty operation name is none', () => {
  test('in a POST, however often it comes', async () => {
    for (const _time of [1, 2, 3, 4])
      expect(await post({ query: QUERY, operationName: '' })).toMatchObject({ status: 200, body: { data: { brands: {} } } });
  });

  test('in a GET', async () => {
    expect(await get({ query: QUERY, operationName: '' })).toMatchObject({ status: 200, body: { data: { brands: {} } } });
    const encoded = `/graphql?query=${encodeURIComponent(QUERY)}&operation%4eame=`;
    expect((await p.rest('GET', encoded, { token, headers: { 'graphql-require-preflight': '1' } })).status).toBe(200);
  });

  test('so it takes no mutation past the rule that a GET does not write', async () => {
    const mutation = 'mutation { createBrand(input: { slug: "by-get", name: "By GET" }) { id } }';
    for (const parameters of [{ query: mutation }, { query: mutation, operationName: '' }] as Record<string, string>[])
      expect(await get(parameters)).toMatchObject({
        status: 400,
        body: { errors: [{ message: expect.stringContaining('query operations') }] },
      });
  });

  test('and among several operations it is a 400, as an unknown name is', async () => {
    const query = 'query A { brands { nodes { id } } } query B { brands { nodes { slug } } }';
    for (const operationName of ['', null, undefined, 'C'])
      for (const _time of [1, 2, 3]) {
        const answer = await post({ query, operationName });
        expect(answer).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'INVALID_REQUEST' } }] } });
      }
  });
});

describe('a persisted query', () => {
  const malformed: unknown[] = [
    1,
    'x',
    true,
    [],
    {},
    { version: 1 },
    { version: 1, sha256Hash: 4711 },
    { version: 1, sha256Hash: ['a'] },
    { version: 1, sha256Hash: {} },
    { version: 1, sha256Hash: 'short' },
    { version: 2, sha256Hash: HASH },
    { version: '1', sha256Hash: HASH },
    { sha256Hash: HASH },
    { version: 1, sha256Hash: HASH.replace(/^./, 'z') },
  ];

  test.each(malformed)('%j is a 400 in the form of all errors', async persistedQuery => {
    for (const body of [{ query: QUERY }, {}] as Record<string, string>[])
      for (const send of [
        post({ ...body, extensions: { persistedQuery } }),
        get({ ...body, extensions: JSON.stringify({ persistedQuery }) }),
      ]) {
        const answer = await send;
        expect(answer.status).toBe(400);
        expect(answer.body.errors[0]).toMatchObject({ message: expect.any(String), extensions: { code: 'INVALID_REQUEST' } });
        expect(answer.body.errors[0].message).not.toMatch(/went wrong/);
      }
  });

  test.each([1, 'x', true, []])('extensions %j are a 400', async extensions => {
    expect(await post({ query: QUERY, extensions })).toMatchObject({
      status: 400,
      body: { errors: [{ extensions: { code: 'INVALID_REQUEST' } }] },
    });
  });

  test('whose hash is of another document is a 400', async () => {
    const sha256Hash = createHash('sha256').update('{ other }').digest('hex');
    expect((await post({ query: QUERY, extensions: { persistedQuery: { version: 1, sha256Hash } } })).status).toBe(400);
  });

  test('is registered with its document, and then answers by its hash alone', async () => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: HASH } };
    expect(await post({ extensions })).toMatchObject({ status: 400, body: { errors: [{ message: 'PersistedQueryNotFound' }] } });
    expect((await post({ query: QUERY, extensions })).status).toBe(200);
    expect(await post({ extensions })).toMatchObject({ status: 200, body: { data: { brands: {} } } });
    expect(await get({ extensions: JSON.stringify(extensions) })).toMatchObject({ status: 200 });
  });

  test('that is not valid is not registered', async () => {
    const query = '{ nothing }';
    const extensions = { persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') } };
    expect((await post({ query, extensions })).status).toBe(400);
    expect((await post({ extensions })).body.errors[0].message).toBe('PersistedQueryNotFound');
  });
});
