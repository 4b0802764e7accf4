/** Requests that are meant to cost the gateway more than their sender; bench/hostile.mjs measures how soon each is refused. */
import { getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let token: string;
beforeAll(async () => {
  p = await platform({ env: { INTROSPECTION: 'on' } });
  token = await p.serviceToken();
});

const repeated = (times: number, part: (index: number) => string): string =>
  Array.from({ length: times }, (_, index) => part(index)).join(' ');
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const BRANDS = 'query ($first: Int) { brands(first: $first) { nodes { id } } }';

const documents: [string, string][] = [
  [
    'levels by fragments',
    `{ ...f0 } ${repeated(40, at => `fragment f${at} on Query { a { ...f${at + 1} } }`)} fragment f40 on Query { __typename }`,
  ],
  ['1,000 aliases of a field', `{ brands { nodes { ${repeated(1_000, at => `a${at}: id`)} } } }`],
  ['1,000 aliases of __typename', `{ ${repeated(1_000, at => `a${at}: __typename`)} }`],
  ['1,000 aliases of __typename below a fragment', `{ ...all } fragment all on Query { ${repeated(1_000, at => `a${at}: __typename`)} }`],
  ['60 directives on one field', `{ brands ${repeated(60, () => '@include(if: true)')} { nodes { id } } }`],
  ['60 unknown directives', `{ brands ${repeated(60, at => `@d${at}`)} { nodes { id } } }`],
  ['fragments that contain one another', '{ ...a } fragment a on Query { ...b } fragment b on Query { ...c } fragment c on Query { ...a }'],
  ['a fragment that contains itself', '{ brands { nodes { ...a } } } fragment a on Brand { id ...a }'],
  [
    '2^40 fields by doubling fragments',
    `{ ...f0 } ${repeated(40, at => `fragment f${at} on Query { ...f${at + 1} ...f${at + 1} }`)} fragment f40 on Query { __typename }`,
  ],
  [
    '200 fragments to compare',
    `{ brands { nodes { ${repeated(200, at => `...f${at}`)} } } } ${repeated(200, at => `fragment f${at} on Brand { id }`)}`,
  ],
  ['300 equal selections to compare', `{ brands { ${repeated(300, () => 'nodes { id slug }')} } }`],
  ['circular introspection', '{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }'],
  ['introspection in a circle of two', '{ __schema { types { fields { type { possibleTypes { name } } } } } }'],
  ['introspection again and again', `{ __schema { ${repeated(90, at => `a${at}: types { fields { name } }`)} } }`],
  ['the schema twice', '{ a: __schema { types { name } } b: __schema { types { name } } }'],
];

/** The answer has an error of the client's and no data. */
function expectRefused(
  answer: { status: number; body: { errors: { extensions: { code: string } }[]; data?: unknown } },
  status = 400,
): void {
  expect(answer.status).toBe(status);
  expect(answer.body.errors[0]!.extensions.code).not.toBe('INTERNAL');
  expect(answer.body.data ?? null).toBeNull();
}

describe('hostile documents are refused', () => {
  test.each(documents)('%s', async (_title, query) => {
    for (const headers of [{ accept: 'application/json' }, { accept: 'application/graphql-response+json' }])
      expectRefused(await p.rest('POST', '/graphql', { token, headers, body: { query } }));
  });

  test.each(documents.filter(([, query]) => query.length < 8_000))('%s, by GET', async (_title, query) => {
    const headers = { 'apollo-require-preflight': '1' };
    expectRefused(await p.rest('GET', `/graphql?query=${encodeURIComponent(query)}`, { token, headers }));
  });
});

describe('hostile variables are refused', () => {
  test('1 MB of them', async () => {
    const answer = await p.rest('POST', '/graphql', { token, body: { query: BRANDS, variables: { first: 'x'.repeat(1_000_000) } } });
    expect(answer.status).toBe(413);
  });

  test('100,000 elements of a wrong type get a short answer', async () => {
    const query = 'mutation ($input: CreateBrandInput!) { createBrand(input: $input) { id } }';
    const answer = await p.rest('POST', '/graphql', {
      token,
      body: { query, variables: { input: Array.from({ length: 100_000 }, () => 1) } },
    });
    expectRefused(answer);
    expect(JSON.stringify(answer.body).length).toBeLessThan(20_000);
  });

  test('100,000 levels', async () => {
    const text = `{"query":${JSON.stringify(BRANDS)},"variables":{"first":${nested(100_000)}}}`;
    expectRefused(await p.rest('POST', '/graphql', { token, body: text, headers: { 'content-type': 'application/json' } }));
  });

  test('levels by GET', async () => {
    const path = `/graphql?query=${encodeURIComponent(BRANDS)}&variables=${encodeURIComponent(`{"first":${nested(1_500)}}`)}`;
    expectRefused(await p.rest('GET', path, { token, headers: { 'apollo-require-preflight': '1' } }));
  });
});

describe('hostile requests are refused', () => {
  test.each([2, 5_000])('a batch of %i', async count => {
    expectRefused(await p.rest('POST', '/graphql', { token, body: Array.from({ length: count }, () => ({ query: '{ __typename }' })) }));
  });

  test('the same from an anonymous client', async () => {
    for (const [, query] of documents) expect((await p.rest('POST', '/graphql', { body: { query } })).status).toBeGreaterThanOrEqual(400);
  });
});

test('the usual introspection passes where it is on', async () => {
  for (const query of [
    getIntrospectionQuery(),
    getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true, oneOf: true }),
  ]) {
    const answer = await p.graphql(query, {}, { token });
    expect(answer.errors).toEqual([]);
    expect(answer.data.__schema.types.length).toBeGreaterThan(100);
  }
});

test("introspection beside data is answered, or refused as the caller's fault", async () => {
  const both = await p.graphql('{ __type(name: "Brand") { name } brands { nodes { id } } }', {}, { token });
  expect(both).toMatchObject({ status: 200, errors: [], data: { __type: { name: 'Brand' } } });
  const unknown = await p.graphql('{ __type(name: "Brand") { isOneOf } brands { nodes { id } } }', {}, { token });
  expect(unknown.errors[0]?.extensions.code ?? 'INVALID_REQUEST').toBe('INVALID_REQUEST');
});
