/** Browsers of other origins: who may read what the API answers. Source: conventions 5, identity 2. */
import { beforeAll, describe, expect, test } from 'vitest';
import { originFault } from '../../subgraphs/identity/rules/origins.js';
import { DEMO, sharedPlatform, type SharedPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

/** Origin of the seeded browser app. */
const ORIGIN = 'http://localhost:5173';
const FOREIGN = 'https://evil.example';
const ROW = '/platform/v1/brands/main';

let p: SharedPlatform;
beforeAll(async () => {
  p = await sharedPlatform();
  await until(
    'the origins of clients',
    () => preflight(ROW, ORIGIN),
    ({ headers }) => 'access-control-allow-origin' in headers,
  );
});

const preflight = (path: string, origin: string) =>
  p.rest('OPTIONS', path, {
    headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
  });

describe('a preflight', () => {
  test.each([
    [ROW, 'GET, HEAD, OPTIONS'],
    ['/graphql', 'GET, OPTIONS, POST'],
  ])('of %s is allowed for the origin of an active client, never with credentials', async (path, methods) => {
    const { status, headers } = await preflight(path, ORIGIN);
    expect([status, headers.vary]).toEqual([204, 'Origin']);
    expect(headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, 'access-control-allow-methods': methods });
    expect(headers['access-control-allow-headers']).toMatch(/Authorization, Content-Type, Idempotency-Key/);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test.each([
    ['another origin', ROW, FOREIGN],
    ['no origin', ROW, 'null'],
    ['an origin that begins like one', ROW, `${ORIGIN}0`],
    ["people's pages", '/identity/v1/oauth/authorize', ORIGIN],
    ['an unknown path', '/platform/v1/nothing', ORIGIN],
    ['the start page', '/', ORIGIN],
  ])('for %s is not allowed', async (_what, path, origin) => {
    expect((await preflight(path, origin)).headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('an answer', () => {
  const ask = async (clientId: string, origin: string, path = ROW) => {
    const token = await p.userToken(DEMO, ['read:profile'], { clientId });
    return p.rest('GET', path, { token, headers: { origin, 'apollo-require-preflight': '1' } });
  };

  test.each([ROW, '/platform/v1/brands/none', '/identity/v1/admin/users', '/graphql?query={__typename}'])(
    "of %s names the origin of the token's client, whatever its status",
    async path => {
      const { headers } = await ask('demo-app', ORIGIN, path);
      expect(headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, vary: expect.stringContaining('Origin') });
      expect(headers['access-control-expose-headers']).toContain('X-Request-Id');
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );

  test("names no origin that is another client's or nobody's", async () => {
    for (const [client, origin] of [
      ['demo-partner-app', ORIGIN],
      ['demo-app', FOREIGN],
    ] as const)
      expect((await ask(client, origin)).headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('without a valid token names none, nor does a page', async () => {
    const answers = [
      await p.rest('GET', ROW, { headers: { origin: ORIGIN } }),
      await p.rest('GET', ROW, { headers: { origin: ORIGIN }, token: 'svc_x' }),
      await p.rest('GET', '/identity/v1/oauth/authorize', { headers: { origin: ORIGIN } }),
      await p.rest('GET', '/', { headers: { origin: ORIGIN } }),
    ];
    for (const { headers } of answers) expect(headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('the origins of a client', () => {
  const CLIENTS = '/identity/v1/admin/oauth-clients';
  const app = {
    client_id: 'browser-app',
    name: 'Browser app',
    kind: 'public',
    scopes: ['read:profile'],
    redirect_uris: ['https://app.example/cb'],
  };

  test('are registered, and known to the gateway while the client is active', async () => {
    const token = await p.serviceToken();
    const known = async () => {
      const internal = await p.internalToken('platform');
      const { data } = await p.graphql('{ clientOrigins { clientId origins } }', {}, { token: internal });
      return data.clientOrigins.find((one: { clientId: string }) => one.clientId === app.client_id)?.origins ?? null;
    };
    const made = await p.rest('POST', CLIENTS, { token, body: { ...app, allowed_origins: ['https://app.example'] } });
    expect([made.status, made.body.allowed_origins, await known()]).toEqual([201, ['https://app.example'], ['https://app.example']]);
    const change = (body: object) => p.rest('PATCH', `${CLIENTS}/${app.client_id}`, { token, body });
    expect([(await change({ status: 'disabled' })).status, await known()]).toEqual([200, null]);
    await change({ status: 'active' });
    expect([(await change({ allowed_origins: null })).body.allowed_origins, await known()]).toEqual([[], null]);
    const refused = await change({ allowed_origins: ['https://app.example/path'] });
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/allowed_origins/0']);
  });

  test('are told to internal clients only', async () => {
    const { errors } = await p.graphql('{ clientOrigins { clientId } }', {}, { token: await p.serviceToken() });
    expect(errors[0]!.extensions.code).toBe('FORBIDDEN');
  });

  test.each<[string, boolean, RegExp | null]>([
    ['https://app.example', true, null],
    ['https://app.example:8443', true, null],
    ['http://localhost:5173', false, null],
    ['http://localhost:5173', true, /https/],
    ['http://app.example', false, /https/],
    ['https://app.example/', true, /https:\/\/app\.example$/],
    ['https://app.example/path', true, /origin/],
    ['https://app.example:443', true, /origin/],
    ['https://APP.example', true, /origin/],
    ['https://user@app.example', true, /origin/],
    ['https://*.example', true, /wildcard/],
    ['null', true, /origin/],
    ['*', true, /origin/],
    ['app.example', true, /origin/],
    ['chrome-extension://abc', true, /origin/],
  ])('%s (production: %s): %s', (origin, production, fault) => {
    const found = originFault(origin, production);
    if (fault) expect(found).toMatch(fault);
    else expect(found).toBeNull();
  });
});
