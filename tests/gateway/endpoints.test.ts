import { buildASTSchema, parse } from 'graphql';
import { request } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { ruleOnNode } from '../../runtime/access/rules.js';
import { BRAND, DEMO, sharedPlatform, type SharedPlatform } from '../support/platform.js';

let p: SharedPlatform;
let token: string;
beforeAll(async () => {
  p = await sharedPlatform();
  token = await p.serviceToken();
});

describe('addresses', () => {
  test('the gateway form and the host form of an address answer the same', async () => {
    const path = '/v1/brands/main';
    const byPath = await p.rest('GET', `/platform${path}`, { token });
    const byHost = await p.rest('GET', path, { token, headers: { host: `platform.localhost:${new URL(p.url).port}` } });
    expect(byPath.status).toBe(200);
    expect(byHost.body).toEqual(byPath.body);
  });

  test('X-Forwarded-Host does not choose a service', async () => {
    expect((await p.rest('GET', '/v1/brands/main', { token, headers: { 'x-forwarded-host': 'platform.localhost' } })).status).toBe(404);
  });

  test('an unknown address is a 404 problem, a wrong method a 405 with Allow', async () => {
    expect(await p.rest('GET', '/platform/v1/nothing', { token })).toMatchObject({
      status: 404,
      body: { type: '/problems/not_found', code: 'not_found' },
    });
    const wrong = await p.rest('DELETE', '/platform/v1/brands/main', { token });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.allow).toContain('GET');
  });

  test.each(['identity', 'platform', 'clinical', 'webhooks', 'events', 'entitlements'])(
    '/%s/readyz and /healthz answer without a token',
    async slug => {
      const { status, body } = await p.rest('GET', `/${slug}/readyz`);
      expect(`${status} ${JSON.stringify(body)}`).toMatch(/^200 .*"status":"ok"/); // as a text, so that a failure names the check
      expect((await p.rest('GET', `/${slug}/healthz`)).status).toBe(200);
    },
  );

  test('metrics are served once, in the Prometheus text form', async () => {
    const answer = await p.rest('GET', '/metrics');
    expect(answer.headers['content-type']).toContain('text/plain');
    expect(answer.body).toContain('gateway_fetch_seconds_bucket');
  });
});

test('a subgraph tells its SDL, every rule in it, where introspection is on', async () => {
  const answer = await p.rest('POST', '/platform/graphql', { token, body: { query: '{ _service { sdl } }' } });
  const schema = buildASTSchema(parse(answer.body.data._service.sdl), { assumeValidSDL: true });
  expect(ruleOnNode(schema.getQueryType()!.getFields().brand!.astNode)).toMatchObject({ service: expect.any(String) });
});

describe('requests', () => {
  test("every answer bears the caller's request id, or a new one where it is not valid", async () => {
    expect((await p.rest('GET', '/platform/v1/brands', { token, headers: { 'x-request-id': 'r-42' } })).headers['x-request-id']).toBe(
      'r-42',
    );
    const bad = await p.rest('GET', '/platform/v1/brands', { token, headers: { 'x-request-id': 'a b<c>' } });
    expect(bad.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect((await p.graphql('{ __typename }', {}, { token, headers: { 'x-request-id': 'g-1' } })).headers['x-request-id']).toBe('g-1');
  });

  test('two Authorization headers are refused', async () => {
    const answer = await request(`${p.url}/platform/v1/brands`, {
      headers: ['authorization', `Bearer ${token}`, 'authorization', `Bearer ${token}`],
    });
    await answer.body.dump();
    expect(answer.statusCode).toBe(401);
  });

  test.each(['Bearer', 'Basic abc', 'Bearer a b', 'Bearer eyJhbGciOiJub25lIn0.e30.', 'Bearer svc_eyJhbGciOiJub25lIn0.e30.'])(
    '%s is a 401 with its challenge',
    async authorization => {
      const answer = await p.rest('GET', '/platform/v1/brands', { headers: { authorization } });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    },
  );

  test('a token in the query or body is ignored', async () => {
    expect((await p.rest('GET', `/platform/v1/brands?access_token=${token}`)).status).toBe(401);
  });

  test('a body that is too large is a 413, another media type a 415, broken JSON a 400', async () => {
    const post = (body: string, type: string) =>
      p.rest('POST', '/clinical/v1/biomarkers', { token, body, headers: { 'content-type': type } });
    expect((await post(`"${'x'.repeat(1_100_000)}"`, 'application/json')).status).toBe(413);
    expect((await post('<a/>', 'application/xml')).status).toBe(415);
    expect((await post('{', 'application/json')).status).toBe(400);
  });
});

describe('GraphQL', () => {
  const query = 'query ($id: ID!) { user(id: $id) { id brand { id slug } } brands { nodes { id } } }';

  test('one query joins services', async () => {
    const answer = await p.graphql(query, { id: DEMO }, { token });
    expect(answer).toMatchObject({ status: 200, data: { user: { id: DEMO, brand: { id: BRAND, slug: 'main' } } } });
  });

  test('a GET answers a query and refuses a mutation', async () => {
    const ok = await p.rest('GET', `/graphql?query=${encodeURIComponent('{ brands { nodes { id } } }')}`, {
      token,
      headers: { 'apollo-require-preflight': '1' },
    });
    expect(ok.status).toBe(200);
    const mutation = encodeURIComponent('mutation { killFeatureFlag(input: {key: "x", reason: "because"}) { key } }');
    expect(
      (await p.rest('GET', `/graphql?query=${mutation}`, { token, headers: { 'apollo-require-preflight': '1' } })).status,
    ).toBeGreaterThanOrEqual(400);
  });

  test('a simple cross-site POST is refused (CSRF)', async () => {
    const answer = await p.rest('POST', '/graphql', {
      token,
      body: JSON.stringify({ query: '{ __typename }' }),
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });

  test('an error bears code, path and no internals', async () => {
    const answer = await p.graphql('{ brands { nodes { id } } }');
    expect(answer.status).toBe(401);
    expect(answer.errors).toEqual([{ message: 'A bearer token is required', extensions: { code: 'UNAUTHENTICATED' } }]);
  });

  test('a refused variable is named, its value is not repeated', async () => {
    const answer = await p.graphql('query ($id: ID!) { user(id: $id) { id } }', { id: { secret: 'canary-160' } }, { token });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).not.toContain('canary-160');
  });

  test('a browser gets GraphiQL, with no third-party request', async () => {
    const page = await p.rest('GET', '/graphql', { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(page.headers['content-security-policy']).toContain("script-src 'self'");
    const links = [...String(page.body).matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(match => match[1]!);
    expect(links.filter(link => !link.startsWith('/'))).toEqual([]);
    for (const link of links) expect((await p.rest('GET', link)).status).toBe(200);
  });
});
