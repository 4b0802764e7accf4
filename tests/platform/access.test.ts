import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { CYCLE } from './flag-fixtures.js';

/** Who calls: every kind of caller that the contract tells apart. */
const CALLERS = ['nobody', 'user', 'other staff', 'reading staff', 'flag staff', 'other service', 'operator'] as const;
type Caller = (typeof CALLERS)[number];

let p: TestPlatform;
let tokens: Record<Caller, string | null>;

beforeAll(async () => {
  p = await platform({ services: ['platform'] });
  const staff = (permission: string) => p.userToken(DEMO, ['read:profile'], { permissions: [permission] });
  tokens = {
    nobody: null,
    user: await p.userToken(DEMO, ['read:profile']),
    'other staff': await staff('admin:content'),
    'reading staff': await staff('admin:platform:read'),
    'flag staff': await staff('admin:platform:flags'),
    'other service': await p.serviceToken('admin:cash'),
    operator: await p.serviceToken('admin:platform'),
  };
});

/** Status by caller, in the order of `CALLERS`. */
const ANY_TOKEN = [401, 200, 200, 200, 200, 200, 200];
const SERVICES = [401, 403, 403, 403, 403, 200, 200];
const OPERATORS = [401, 403, 403, 403, 200, 403, 200];
const EVERYBODY = [200, 200, 200, 200, 200, 200, 200];

interface Row {
  rest: readonly [string, string, object?];
  graphql: string;
  statuses: number[];
}

const ROWS: Record<string, Row> = {
  brands: { rest: ['GET', '/v1/brands'], graphql: '{ brands { nodes { id } } }', statuses: ANY_TOKEN },
  brand: { rest: ['GET', '/v1/brands/main'], graphql: '{ brand(slug: "main") { id } }', statuses: ANY_TOKEN },
  brandByHost: {
    rest: ['GET', '/v1/brands/resolve?host=main.example'],
    graphql: '{ brandByHost(host: "main.example") { name } }',
    statuses: EVERYBODY,
  },
  evaluateFlags: {
    rest: ['POST', '/v1/flags/evaluate', { keys: [CYCLE] }],
    graphql: `{ evaluateFlags(input: { keys: ["${CYCLE}"] }) { value } }`,
    statuses: ANY_TOKEN,
  },
  flagSnapshot: { rest: ['GET', '/v1/flags/snapshot'], graphql: '{ flagSnapshot { revision } }', statuses: SERVICES },
  featureFlags: { rest: ['GET', '/v1/admin/flags'], graphql: '{ featureFlags { key } }', statuses: OPERATORS },
  featureFlag: { rest: ['GET', `/v1/admin/flags/${CYCLE}`], graphql: `{ featureFlag(key: "${CYCLE}") { key } }`, statuses: OPERATORS },
  killFeatureFlag: {
    rest: ['POST', `/v1/admin/flags/${CYCLE}/kill`, { reason: 'error rate' }],
    graphql: `mutation { killFeatureFlag(input: { key: "${CYCLE}", reason: "error rate" }) { key } }`,
    statuses: OPERATORS,
  },
  platformServices: { rest: ['GET', '/v1/services'], graphql: '{ platformServices { slug } }', statuses: ANY_TOKEN },
  platformService: { rest: ['GET', '/v1/services/cash'], graphql: '{ platformService(slug: "cash") { slug } }', statuses: ANY_TOKEN },
};

/** The code that goes with a status, as GraphQL shows it. */
const CODES: Record<number, string[]> = { 200: [], 401: ['UNAUTHENTICATED'], 403: ['FORBIDDEN', 'INSUFFICIENT_SCOPE'] };

describe.each(Object.entries(ROWS))('%s', (field, { rest: [method, path, body], graphql, statuses }) => {
  test.each(CALLERS.map((caller, index) => [caller, statuses[index]!] as const))('answers %s over REST with %i', async (caller, status) => {
    const answer = await p.rest(method, `/platform${path}`, { token: tokens[caller], body });
    expect(answer.status).toBe(status);
    if (status >= 400) expect(answer.headers['content-type']).toContain('application/problem+json');
  });

  test('answers each of them over GraphQL as over REST, and without data where it refuses', async () => {
    for (const [index, caller] of CALLERS.entries()) {
      const { data, errors } = await p.graphql(graphql, {}, { token: tokens[caller] });
      const codes = errors.map(({ extensions }) => extensions.code);
      const allowed = CODES[statuses[index]!]!;
      expect(allowed.length === 0 ? codes.length === 0 : allowed.includes(codes[0]!), `${caller}: ${codes.join()}`).toBe(true);
      if (allowed.length) expect(data?.[field] ?? null).toBeNull();
    }
  });
});

test('a wrong scope is named, so that the caller knows what to ask for', async () => {
  const { status, body, headers } = await p.rest('GET', '/platform/v1/admin/flags', { token: tokens['other service'] });
  expect([status, body.code]).toEqual([403, 'insufficient_scope']);
  expect(headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="admin:platform"');
});

test('a reference to a flag is resolved for operators only', async () => {
  const query = `{ _entities(representations: [{ __typename: "FeatureFlag", key: "${CYCLE}" }]) { ... on FeatureFlag { key } } }`;
  const seen = await Promise.all(
    CALLERS.filter(caller => caller !== 'nobody').map(async caller => {
      const { body } = await p.rest('POST', '/platform/graphql', { token: tokens[caller], body: { query } });
      return body.data._entities[0]?.key ?? null;
    }),
  );
  expect(seen).toEqual([null, null, null, CYCLE, null, CYCLE]);
});

test('the clock is for machine clients of the service only', async () => {
  const body = { now: '2030-01-01T00:00:00.000Z' };
  const post = (caller: Caller) => p.rest('POST', '/platform/v1/admin/test-clock', { token: tokens[caller], body });
  expect((await post('nobody')).status).toBe(401);
  for (const caller of ['user', 'flag staff', 'other service'] as const) expect((await post(caller)).status).toBe(403);
  expect(await post('operator')).toMatchObject({ status: 200, body });
});
