/** What auditors of GraphQL endpoints look for, in development and with the settings of production. */
import { beforeAll, describe, expect, test } from 'vitest';
import { platform, type Answer, type TestPlatform } from '../support/platform.js';

/** Where a finding may be: nowhere, or in development. */
type Where = 'nowhere' | 'development';

interface Check {
  name: string;
  where: Where;
  /** Whether the endpoint shows the weakness. */
  finds(p: TestPlatform, token: string | null): Promise<boolean>;
}

const repeated = (times: number, part: (at: number) => string): string => Array.from({ length: times }, (_, at) => part(at)).join(' ');

const post = (p: TestPlatform, token: string | null, query: unknown, headers?: Record<string, string>): Promise<Answer> =>
  p.rest('POST', '/graphql', { token, headers, body: Array.isArray(query) ? query : { query } });
const get = (p: TestPlatform, token: string | null, query: string): Promise<Answer> =>
  p.rest('GET', `/graphql?query=${encodeURIComponent(query)}`, { token });

const answers = ({ body }: Answer): boolean => Boolean(body?.data && Object.values(body.data as object).some(Boolean));
const says = ({ body }: Answer, text: RegExp): boolean => text.test(JSON.stringify(body));

const CHECKS: Check[] = [
  {
    name: 'alias overloading',
    where: 'nowhere',
    finds: async (p, token) => answers(await post(p, token, `query cop { ${repeated(101, at => `alias${at}: __typename`)} }`)),
  },
  {
    name: 'batches in an array',
    where: 'nowhere',
    finds: async (p, token) => {
      const { body } = await post(
        p,
        token,
        Array.from({ length: 10 }, () => ({ query: 'query cop { __typename }' })),
      );
      return Array.isArray(body) && body.length >= 10;
    },
  },
  {
    name: 'directive overloading',
    where: 'nowhere',
    finds: async (p, token) => (await post(p, token, `query cop { __typename ${repeated(10, () => '@aa')} }`)).body.errors.length >= 10,
  },
  {
    name: 'field duplication',
    where: 'nowhere',
    finds: async (p, token) => answers(await post(p, token, `query cop { ${repeated(500, () => '__typename')} }`)),
  },
  {
    name: 'circular introspection',
    where: 'nowhere',
    finds: async (p, token) =>
      answers(
        await post(p, token, 'query cop { __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }'),
      ),
  },
  {
    name: 'circular fragments',
    where: 'nowhere',
    finds: async (p, token) =>
      !says(
        await post(p, token, 'query { __schema { ...A } } fragment A on __Schema { __typename ...B } fragment B on __Schema { ...A }'),
        /"errors"/,
      ),
  },
  { name: 'queries by GET', where: 'nowhere', finds: async (p, token) => answers(await get(p, token, 'query cop { __typename }')) },
  { name: 'mutations by GET', where: 'nowhere', finds: async (p, token) => answers(await get(p, token, 'mutation cop { __typename }')) },
  {
    name: 'queries in a form (CSRF)',
    where: 'nowhere',
    finds: async (p, token) =>
      answers(
        await p.rest('POST', '/graphql', {
          token,
          body: 'query=query%20cop%20%7B%20__typename%20%7D',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      ),
  },
  {
    name: 'trace mode',
    where: 'nowhere',
    finds: async (p, token) =>
      says(
        await post(p, token, 'query cop { __typename }', { 'apollo-federation-include-trace': 'ftv1', 'apollo-tracing': '1' }),
        /trac|ftv1/i,
      ),
  },
  {
    name: 'unhandled errors',
    where: 'nowhere',
    finds: async (p, token) => says(await post(p, token, 'qwerty cop { abc }'), /exception|stacktrace|node_modules|\.js/i),
  },
  {
    name: 'field suggestions',
    where: 'development',
    finds: async (p, token) => says(await post(p, token, 'query cop { __schema { directive } }'), /did you mean/i),
  },
  {
    name: 'suggestions for root fields, arguments, types and enum values',
    where: 'development',
    finds: async (p, token) => {
      const documents = ['{ brand }', '{ brands(firts: 1) { nodes { id } } }', '{ brands { nodes { ... on Brnd { id } } } }'];
      const found = await Promise.all(documents.map(async query => says(await post(p, token, query), /did you mean/i)));
      return found.some(Boolean);
    },
  },
  {
    name: 'introspection',
    where: 'development',
    finds: async (p, token) => answers(await post(p, token, 'query cop { __schema { types { name fields { name } } } }')),
  },
  {
    name: 'introspection of one type',
    where: 'development',
    finds: async (p, token) => answers(await post(p, token, 'query cop { __type(name: "Brand") { name } }')),
  },
  {
    name: 'a page for queries',
    where: 'development',
    finds: async (p, token) => {
      const pages = ['/graphql', '/graphiql', '/playground', '/console', '/'];
      const found = await Promise.all(pages.map(path => p.rest('GET', path, { token, headers: { accept: 'text/html' } })));
      return found.some(({ body }) => /graphiql|playground|altair/i.test(String(body)));
    },
  },
  {
    name: 'the name of the engine',
    where: 'nowhere',
    finds: async (p, token) => {
      const sent = [
        post(p, token, 'query cop { __schema { types { name } } }'),
        post(p, token, 'query @skip { __typename }'),
        post(p, token, ''),
        p.rest('POST', '/graphql', { token, body: {} }),
        p.rest('GET', '/graphql', { token }),
        p.rest('PUT', '/graphql', { token, body: {} }),
      ];
      return (await Promise.all(sent)).some(({ body, headers }) =>
        /apollo|fastify|express|graphql-js/i.test(JSON.stringify([body, headers])),
      );
    },
  },
];

describe.each(['production', 'development'])('%s', settings => {
  let p: TestPlatform;
  let token: string;
  beforeAll(async () => {
    p = await platform({ services: [], env: settings === 'production' ? { INTROSPECTION: 'off', GRAPHIQL: 'off' } : {} });
    token = await p.serviceToken();
  });

  test.each(CHECKS)('$name: found $where', async ({ finds, where }) => {
    const expected = where === settings;
    expect(await finds(p, token)).toBe(expected);
    if (!expected) expect(await finds(p, null)).toBe(false);
  });

  test('a document with a thousand errors gets a short answer', async () => {
    const { status, body } = await post(p, token, `{ brands { nodes { ${repeated(900, at => `n${at}`)} } } }`);
    expect(status).toBe(400);
    expect(body.errors.length).toBeLessThan(10);
    expect(JSON.stringify(body).length).toBeLessThan(5_000);
  });
});
