import { beforeAll, describe, expect, test } from 'vitest';
import { LIMITS, parseLimited } from '../../gateway/limits/limits.js';
import { platform, type TestPlatform } from '../support/platform.js';

const deep = (levels: number): string => `${'{ a '.repeat(levels)}${'}'.repeat(levels)}`;
const repeated = (times: number, part: (index: number) => string): string =>
  Array.from({ length: times }, (_, index) => part(index)).join(' ');

/** Each fragment spreads the next one twice: 2^40 fields in 2 KB of text. */
const bomb = `{ ...f0 } ${repeated(40, index => `fragment f${index} on Query { ...f${index + 1} ...f${index + 1} }`)} fragment f40 on Query { brands { nodes { id } } }`;

const hostile: [string, string][] = [
  ['levels by nesting', deep(LIMITS.depth + 1)],
  [
    'levels by fragments',
    `{ ...f0 } ${repeated(20, index => `fragment f${index} on Query { a { ...f${index + 1} } }`)} fragment f20 on Query { a }`,
  ],
  ['aliases', `{ ${repeated(LIMITS.aliases + 1, index => `a${index}: __typename`)} }`],
  ['aliases below one field', `{ brands { ${repeated(LIMITS.aliases + 1, index => `a${index}: __typename`)} } }`],
  ['directives', `{ brands ${repeated(LIMITS.directives + 1, () => '@skip(if: false)')} { nodes { id } } }`],
  ['fields by doubling fragments', bomb],
  ['tokens', `{ brands { nodes { ${'id '.repeat(LIMITS.tokens)} } } }`],
  ['characters', `{ brands { nodes { id } } } # ${'x'.repeat(LIMITS.characters)}`],
  ['cyclic fragments', '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }'],
  ['root selections', `{ ${repeated(LIMITS.rootFields + 1, () => 'brands { nodes { id } }')} }`],
];

test.each(hostile)('a document with too many %s is refused before it is validated', (_name, document) => {
  expect(() => parseLimited(document)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});

test('a document at the limits passes', () => {
  expect(parseLimited(deep(LIMITS.depth)).definitions).toHaveLength(1);
});

describe('at the endpoint', () => {
  let p: TestPlatform;
  beforeAll(async () => {
    p = await platform({ services: ['platform'], env: { INTROSPECTION: 'off' } });
  });

  test.each(hostile)('too many %s answer 400 without data', async (_name, query) => {
    const answer = await p.graphql(query, {}, { token: await p.serviceToken() });
    expect(answer.status).toBe(400);
    expect(answer.errors[0]!.extensions.code).toBe('INVALID_REQUEST');
    expect(answer.data ?? null).toBeNull();
  });

  test('a batch is refused', async () => {
    const answer = await p.rest('POST', '/graphql', {
      token: await p.serviceToken(),
      body: [{ query: '{ __typename }' }, { query: '{ __typename }' }],
    });
    expect(answer.status).toBe(400);
  });

  test('introspection can be turned off', async () => {
    const answer = await p.graphql('{ __schema { types { name } } }', {}, { token: await p.serviceToken() });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).not.toContain('RetestCycle');
  });
});
