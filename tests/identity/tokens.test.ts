import { createRemoteJWKSet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { claimsOf, credentials, emitted, headerOf, introspect, M2M, PARTNER, post } from './oauth.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));

const INACTIVE = { active: false };

describe('client_credentials', () => {
  test('a machine client gets a svc_ token with the scope it asked for, and it verifies against the key set', async () => {
    const { status, headers, body } = await credentials(p, { scope: 'admin:clinical' });
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^svc_eyJ/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'admin:clinical',
    });
    const keys = createRemoteJWKSet(new URL(`${p.url}/identity/.well-known/jwks.json`));
    const { protectedHeader, payload } = await jwtVerify(body.access_token.slice(4), keys, { typ: 'at+jwt', algorithms: ['ES256'] });
    expect(protectedHeader).toEqual({ typ: 'at+jwt', alg: 'ES256', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: `${p.url}/identity`,
      aud: 'urn:platform:api',
      iat: expect.any(Number),
      exp: payload.iat! + 3600,
      jti: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      sub: 'demo-m2m',
      client_id: 'demo-m2m',
      token_use: 'service',
      scope: 'admin:clinical',
      csi: expect.any(String),
    });
  });

  test('without scope the token has all scopes of the client', async () => {
    const { body } = await credentials(p);
    const [client] = await p.sql("select scopes from identity.oauth_client where id = 'demo-m2m'");
    expect(body.scope.split(' ')).toEqual(client.scopes);
  });

  test('HTTP Basic authenticates as well as the form does', async () => {
    const basic = `Basic ${Buffer.from('demo-m2m:demo-m2m-secret').toString('base64')}`;
    const { status } = await post(p, 'token', { grant_type: 'client_credentials' }, { authorization: basic });
    expect(status).toBe(200);
  });

  test('an internal client is told by its service_slug', async () => {
    const claims = claimsOf(await p.internalToken('webhooks'));
    expect(claims).toMatchObject({ client_id: 'svc-webhooks', service_slug: 'webhooks', scope: 'admin:identity admin:webhooks' });
  });

  test.each([
    ['a user scope', 'read:profile', 'read:profile'],
    ['an unknown scope among known ones', 'admin:clinical admin:nope', 'admin:nope'],
    ['several', 'x y', 'x y'],
  ])('%s is invalid_scope and named, never dropped', async (_case, scope, named) => {
    const { status, body } = await credentials(p, { scope });
    expect([status, body.error, body.scope]).toEqual([400, 'invalid_scope', named]);
  });

  test.each([
    ['an unknown client', { client_id: 'nobody-here', client_secret: 'x' }],
    ['a wrong secret', { client_id: 'demo-m2m', client_secret: 'wrong' }],
    ['a secret for a client that has none', { client_id: 'demo-app', client_secret: 'x' }],
    ['no secret for a client that has one', { client_id: 'demo-m2m' }],
  ])('%s is the same 401 invalid_client', async (_case, who) => {
    const { status, body } = await post(p, 'token', { grant_type: 'client_credentials', ...(who as Record<string, string>) });
    expect([status, body]).toEqual([401, { error: 'invalid_client', error_description: 'client authentication failed' }]);
  });

  test('a wrong Basic secret is challenged', async () => {
    const basic = `Basic ${Buffer.from('demo-m2m:wrong').toString('base64')}`;
    const { status, headers } = await post(p, 'token', { grant_type: 'client_credentials' }, { authorization: basic });
    expect([status, String(headers['www-authenticate'])]).toEqual([401, expect.stringMatching(/^Basic /)]);
  });

  test.each([
    [
      'the same parameter twice',
      [...Object.entries(M2M), ['grant_type', 'client_credentials'], ['scope', 'admin:ai'], ['scope', 'admin:ai']],
    ],
    ['the grant type twice', [...Object.entries(M2M), ['grant_type', 'client_credentials'], ['grant_type', 'password']]],
    [
      'the secret twice',
      [
        ['client_id', 'demo-m2m'],
        ['client_secret', 'demo-m2m-secret'],
        ['client_secret', 'x'],
        ['grant_type', 'client_credentials'],
      ],
    ],
    ['no grant type', Object.entries(M2M)],
    ['two ways to authenticate', [...Object.entries(M2M), ['grant_type', 'client_credentials'], ['client_assertion', 'x']]],
  ] as [string, [string, string][]][])('%s is invalid_request', async (name, form) => {
    const { status, body } = await post(p, 'token', form, name.startsWith('two') ? { authorization: 'Basic eDp5' } : {});
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  test.each(['password', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code'])('grant type %s is not offered', async grant_type => {
    const { status, body } = await post(p, 'token', { ...M2M, grant_type });
    expect([status, body.error]).toEqual([400, 'unsupported_grant_type']);
  });

  test('a client of the code flow has no client_credentials', async () => {
    const { status, body } = await post(p, 'token', { ...PARTNER, grant_type: 'client_credentials' });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  test('another audience than ours is invalid_target', async () => {
    const { status, body } = await credentials(p, { resource: 'urn:other:api' });
    expect([status, body.error]).toEqual([400, 'invalid_target']);
  });

  test('a JSON body is invalid_request', async () => {
    const { status, body } = await p.rest('POST', '/identity/v1/oauth/token', { body: { grant_type: 'client_credentials', ...M2M } });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  test('a body that is far too long is refused as invalid_request', async () => {
    const { status, body } = await credentials(p, { scope: 'x'.repeat(100_000) });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  test.each(['GET', 'PUT', 'DELETE'])('%s on the token endpoint is not among its methods', async method => {
    const { status, body } = await p.rest(
      method,
      '/identity/v1/oauth/token?grant_type=client_credentials&client_id=demo-m2m&client_secret=demo-m2m-secret',
    );
    expect([404, 405]).toContain(status);
    expect(body.access_token).toBeUndefined();
  });

  test('paths of flows that are not offered are unknown', async () => {
    for (const path of ['/v1/oauth/register', '/v1/oauth/device', '/v1/oauth/authorize/x/y'])
      expect((await p.rest('GET', `/identity${path}`)).status).toBe(404);
  });

  test('a browser may call only from where the client is sent back to', async () => {
    const from = (origin: string) => post(p, 'revoke', { ...PARTNER, token: 'x' }, { origin });
    expect((await from('http://localhost:5174')).status).toBe(200);
    expect((await from('https://evil.example')).body.error).toBe('invalid_request');
  });

  test('a token that is refused shows no secret and no token in the answer', async () => {
    const { body } = await post(p, 'token', { grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'hunter2-hunter2' });
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });
});

describe('state of a client', () => {
  const client = { client_id: 'svc-cash', client_secret: 'test-secret-of-cash-0123456789abcdef' };
  const status = async (): Promise<number> => (await post(p, 'token', { grant_type: 'client_credentials', ...client })).status;

  test('a disabled client is refused within seconds, and works again when it is enabled', async () => {
    expect(await status()).toBe(200);
    await p.sql("update identity.oauth_client set status = 'disabled' where id = 'svc-cash'");
    await until('the disabled client to be refused', status, value => value === 401, 2_000);
    await p.sql("update identity.oauth_client set status = 'active' where id = 'svc-cash'");
    expect(await status()).toBe(200);
  });

  test('a new secret works at once, also when the client was used a moment ago', async () => {
    expect(await status()).toBe(200);
    await p.sql(
      `insert into identity.oauth_client_secret (id, client_id, hash, hint, created_at)
       values (gen_random_uuid(), 'svc-cash', sha256('another-secret'), 'cret', now())`,
    );
    expect((await post(p, 'token', { grant_type: 'client_credentials', ...client, client_secret: 'another-secret' })).status).toBe(200);
  });

  test('a secret is refused from the end of its overlap on, by the clock of identity', async () => {
    const [{ now }] = await p.sql('select coalesce((select now from identity.test_clock), now()) as now');
    const end = new Date(now.getTime() + 3_600_000);
    await p.sql('update identity.oauth_client_secret set expires_at = $1 where client_id = $2 and hash = sha256($3)', [
      end,
      client.client_id,
      client.client_secret,
    ]);
    await p.clock('identity', { now: new Date(end.getTime() - 1000).toISOString() });
    await until('the overlap to be known', status, value => value === 200, 2_000);
    await p.clock('identity', { now: end.toISOString() });
    await until('the end of the overlap to be known', status, value => value === 401, 2_000);
  });

  test('where a secret was used can be seen', async () => {
    const read = async () => (await p.rest('GET', '/identity/v1/admin/oauth-clients/demo-m2m', { token: await p.serviceToken() })).body;
    const client = await until('the time of use', read, value => value.last_used_at !== null);
    expect(client.secrets).toEqual([expect.objectContaining({ hint: 'cret', status: 'active', last_used_at: client.last_used_at })]);
    expect(JSON.stringify(client)).not.toMatch(/hash|demo-m2m-secret/);
  });
});

describe('introspection', () => {
  test('tells a client all about its own token', async () => {
    const { body } = await credentials(p, { scope: 'admin:ai' });
    const { csi: _csi, ...claims } = claimsOf(body.access_token);
    expect(await introspect(p, body.access_token)).toEqual({ active: true, ...claims, token_type: 'Bearer' });
  });

  test('tells clients with admin:identity and internal clients about a user token, its own app too', async () => {
    const token = await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-partner-app', amr: ['pwd', 'otp', 'mfa'] });
    const { sub, sid, auth_time, amr, scope } = claimsOf(token);
    const internal = { client_id: 'svc-analytics', client_secret: 'test-secret-of-analytics-0123456789abcdef' };
    for (const as of [M2M, PARTNER, internal]) {
      expect(await introspect(p, token, as)).toMatchObject({
        active: true,
        token_use: 'user',
        client_id: 'demo-partner-app',
        sub,
        sid,
        auth_time,
        amr,
        scope,
      });
    }
  });

  test('everybody else gets exactly active: false', async () => {
    expect(await introspect(p, await p.serviceToken('admin:ai'), PARTNER)).toEqual(INACTIVE);
    expect(await introspect(p, await p.userToken(DEMO, ['read:profile']), PARTNER)).toEqual(INACTIVE);
  });

  test.each([
    ['an unknown opaque token', async () => 'nothing-at-all'],
    ['a bare JWT without prefix', async () => (await p.serviceToken('admin:ai')).slice(4)],
    ['the other prefix', async () => `usr_${(await p.serviceToken('admin:ai')).slice(4)}`],
    ['a changed signature', async () => `${(await p.serviceToken('admin:ai')).slice(0, -3)}AAA`],
    ['the id of a living token', async () => claimsOf(await p.serviceToken('admin:ai')).jti as string],
  ])('%s is inactive', async (_case, token) => {
    expect(await introspect(p, await token())).toEqual(INACTIVE);
  });

  test('needs a client that authenticates, and one token', async () => {
    expect((await post(p, 'introspect', { token: 'x' })).status).toBe(400);
    expect((await post(p, 'introspect', { client_id: 'demo-m2m', client_secret: 'wrong', token: 'x' })).status).toBe(401);
    expect((await post(p, 'introspect', M2M)).body.error).toBe('invalid_request');
    expect((await post(p, 'introspect', [...Object.entries(M2M), ['token', 'x'], ['token', 'y']])).body.error).toBe('invalid_request');
    expect((await p.rest('POST', '/identity/v1/oauth/introspect', { body: { ...M2M, token: 'x' } })).body.error).toBe('invalid_request');
  });
});

describe('discovery', () => {
  const EVIL = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
    'x-forwarded-prefix': '/evil',
  };

  test('is the same on every address and whatever headers the request bears, and every URL starts with the issuer', async () => {
    const host = { host: `identity.localhost:${new URL(p.url).port}`, ...EVIL };
    const ways: [string, Record<string, string>][] = [
      ['/identity/.well-known/openid-configuration', {}],
      ['/identity/.well-known/openid-configuration', EVIL],
      ['/.well-known/openid-configuration', host],
      ['/identity/.well-known/oauth-authorization-server', EVIL],
      ['/.well-known/oauth-authorization-server/identity', {}],
    ];
    const answers = await Promise.all(ways.map(([path, headers]) => p.rest('GET', path, { headers })));
    expect(answers.map(answer => answer.status)).toEqual(ways.map(() => 200));
    for (const { body } of answers) expect(body).toEqual(answers[0]!.body);
    const urls = Object.values(answers[0]!.body).filter(value => typeof value === 'string' && /^https?:/.test(value));
    expect(urls.length).toBeGreaterThanOrEqual(5);
    for (const url of urls) expect(url).toMatch(new RegExp(`^${p.url}/identity`));
  });

  test('announces what is offered and nothing else', async () => {
    const { body } = await p.rest('GET', '/identity/.well-known/openid-configuration');
    expect(body).toMatchObject({
      issuer: `${p.url}/identity`,
      token_endpoint: `${p.url}/identity/v1/oauth/token`,
      introspection_endpoint: `${p.url}/identity/v1/oauth/introspect`,
      revocation_endpoint: `${p.url}/identity/v1/oauth/revoke`,
      jwks_uri: `${p.url}/identity/.well-known/jwks.json`,
      authorization_endpoint: `${p.url}/identity/v1/oauth/authorize`,
      grant_types_supported: expect.arrayContaining(['client_credentials', 'authorization_code', 'refresh_token']),
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      code_challenge_methods_supported: ['S256'],
    });
    for (const absent of ['registration_endpoint', 'device_authorization_endpoint', 'userinfo_endpoint', 'end_session_endpoint'])
      expect(body).not.toHaveProperty(absent);
  });

  test('the key set holds public keys only and may be kept for five minutes', async () => {
    const { headers, body } = await p.rest('GET', '/identity/.well-known/jwks.json');
    expect(headers['cache-control']).toBe('public, max-age=300');
    for (const key of body.keys) expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    expect(body.keys.map((key: { kid: string }) => key.kid)).toContain(headerOf(await p.serviceToken()).kid);
  });
});

describe('identity.service_token.issued.v1', () => {
  const fresh = { client_id: 'svc-follows', client_secret: 'test-secret-of-follows-0123456789abcdef' };
  const issue = async (): Promise<string> => (await post(p, 'token', { grant_type: 'client_credentials', ...fresh })).body.access_token;
  const ours = async (): Promise<any[]> =>
    (await emitted(p, 'identity.service_token.issued.v1')).filter(data => data.client_id === 'svc-follows');

  test('is emitted for the first token per client, secret and scope set in each clock hour, and holds no token', async () => {
    const tokens = await Promise.all(Array.from({ length: 5 }, issue));
    const [first, ...more] = await ours();
    expect(more).toEqual([]);
    expect(tokens.map(token => claimsOf(token).jti)).toContain(first.token_id);
    expect(first).toMatchObject({
      client_id: 'svc-follows',
      scopes: ['admin:follows', 'admin:identity'],
      expires_at: expect.stringMatching(/Z$/),
    });
    await p.clock('identity', { advance: 'PT1H' });
    const later = await issue();
    expect((await ours()).map(data => data.token_id)).toEqual([first.token_id, claimsOf(later).jti]);
    expect(JSON.stringify(await ours())).not.toMatch(/eyJ|test-secret/);
  });
});

describe('failed client authentication', () => {
  const right = { client_id: 'svc-live', client_secret: 'test-secret-of-live-0123456789abcdef' };
  const attempt = (form: Record<string, string>) => post(p, 'token', { grant_type: 'client_credentials', ...form });

  test('after 20 failures in a minute a client must wait, also with the right secret; others need not', async () => {
    for (let n = 0; n < 20; n++) expect((await attempt({ ...right, client_secret: `wrong${n}` })).status).toBe(401);
    const refused = await attempt(right);
    expect([refused.status, refused.body.error]).toEqual([429, 'temporarily_unavailable']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await attempt(M2M)).status).toBe(200);
    await p.clock('identity', { advance: 'PT61S' });
    expect((await attempt(right)).status).toBe(200);
  });

  test('a client that does not exist is throttled like one that does', async () => {
    for (let n = 0; n < 20; n++) expect((await attempt({ client_id: 'no-such-client', client_secret: 'x' })).status).toBe(401);
    expect((await attempt({ client_id: 'no-such-client', client_secret: 'x' })).status).toBe(429);
  });

  test('no address of a caller is kept', async () => {
    const rows = await p.sql('select * from identity.failed_client_auth');
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row.key).toHaveLength(32);
  });
});

test('a failure of ours is server_error without internals, and passes when its cause has passed', async () => {
  const fresh = () =>
    post(p, 'token', {
      grant_type: 'client_credentials',
      client_id: 'svc-content',
      client_secret: 'test-secret-of-content-0123456789abcdef',
    });
  await p.sql('alter table identity.oauth_client rename to elsewhere');
  const { status, body } = await fresh();
  await p.sql('alter table identity.elsewhere rename to oauth_client');
  expect([status, body.error]).toEqual([500, 'server_error']);
  expect(JSON.stringify(body)).not.toMatch(/relation|select|oauth_client/);
  expect((await fresh()).status).toBe(200);
});

test('tokens of two users have different subjects and families', async () => {
  const [one, two] = [claimsOf(await p.userToken(DEMO, ['read:profile'])), claimsOf(await p.userToken(DEMO2, ['read:profile']))];
  expect([one.sub, two.sub]).toEqual([DEMO, DEMO2]);
  expect(one.gid).not.toBe(two.gid);
});
