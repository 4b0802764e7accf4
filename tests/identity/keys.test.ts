import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { startPlatform, type Platform } from '../../gateway/composition/platform.js';
import { loadConfig } from '../../runtime/config.js';
import { SERVICES } from '../../subgraphs/services.js';
import { freePort } from '../support/platform.js';
import { claimsOf, credentials, headerOf, introspect, M2M, post } from './oauth.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));

const issue = async (scope = 'admin:identity'): Promise<string> => (await credentials(p, { scope })).body.access_token;
const published = async (): Promise<string[]> =>
  (await p.rest('GET', '/identity/.well-known/jwks.json')).body.keys.map((key: { kid: string }) => key.kid);
const admin = async (token: string, url = ''): Promise<number> => (await p.rest('GET', `${url}/identity/v1/admin/users`, { token })).status;

describe('two engines on one database', () => {
  let other: Platform;
  let otherUrl: string;
  beforeAll(async () => {
    const port = await freePort();
    otherUrl = `http://localhost:${port}`;
    const env = { ...p.env, PORT: String(port), BASE_URL: otherUrl, IDENTITY_ISSUER: `${p.url}/identity`, ROLES: 'subgraphs,gateway,rest' };
    other = await startPlatform({ config: loadConfig(env), services: SERVICES });
  });
  afterAll(() => other.stop());

  const at = async (url: string, path: string, form: Record<string, string>) => {
    const answer = await fetch(`${url}/identity/v1/oauth/${path}`, { method: 'POST', body: new URLSearchParams(form) });
    const text = await answer.text();
    return { status: answer.status, body: text ? JSON.parse(text) : null };
  };
  const adminAt = async (url: string, token: string) =>
    (await fetch(`${url}/identity/v1/admin/users`, { headers: { authorization: `Bearer ${token}` } })).status;

  test('sign with one set of keys: a token of either is good at both', async () => {
    const theirs = (await at(otherUrl, 'token', { grant_type: 'client_credentials', ...M2M, scope: 'admin:identity' })).body
      .access_token as string;
    const ours = await issue();
    expect(headerOf(theirs).kid).toBe(headerOf(ours).kid);
    expect(claimsOf(theirs).iss).toBe(claimsOf(ours).iss);
    expect([await admin(theirs), await adminAt(otherUrl, ours)]).toEqual([200, 200]);
    expect((await introspect(p, theirs)).active).toBe(true);
  });

  test('publish the same canonical metadata', async () => {
    const [ours, theirs] = await Promise.all(
      [p.url, otherUrl].map(async url => (await fetch(`${url}/identity/.well-known/openid-configuration`)).json()),
    );
    expect(theirs).toEqual(ours);
  });

  test('honour a revocation made at the other, introspection at once and the endpoints within 15 seconds', async () => {
    const token = await issue();
    expect(await adminAt(otherUrl, token)).toBe(200);
    await post(p, 'revoke', { ...M2M, token });
    expect((await at(otherUrl, 'introspect', { ...M2M, token })).body).toEqual({ active: false });
    await until(
      'the other process to refuse',
      () => adminAt(otherUrl, token),
      status => status === 401,
      15_000,
    );
  }, 20_000);

  test('count failed authentications together, and emit the event of an hour once', async () => {
    const form = { grant_type: 'client_credentials', client_id: 'svc-follows', client_secret: 'wrong' };
    for (let n = 0; n < 20; n++) await at(n % 2 ? otherUrl : p.url, 'token', form);
    expect([(await at(p.url, 'token', form)).status, (await at(otherUrl, 'token', form)).status]).toEqual([429, 429]);
    const right = {
      grant_type: 'client_credentials',
      client_id: 'svc-messaging',
      client_secret: 'test-secret-of-messaging-0123456789abcdef',
    };
    await Promise.all([p.url, otherUrl, p.url, otherUrl].map(url => at(url, 'token', right)));
    const events = await p.sql(
      "select 1 from events.outbox where type = 'identity.service_token.issued.v1' and data->>'client_id' = 'svc-messaging'",
    );
    expect(events).toHaveLength(1);
  });
});

describe('signing keys', () => {
  test('are sealed at rest', async () => {
    const [row] = await p.sql('select * from identity.signing_key');
    expect(row.public_jwk).not.toHaveProperty('d');
    expect(row.private_sealed.toString('utf8')).not.toContain('"d"');
  });

  test('a token that lives longer keeps its key longer', async () => {
    await p.sql("update identity.oauth_client set access_token_ttl_seconds = 31536000 where id = 'svc-ai'");
    const { body } = await post(p, 'token', {
      grant_type: 'client_credentials',
      client_id: 'svc-ai',
      client_secret: 'test-secret-of-ai-0123456789abcdef',
    });
    expect(body.expires_in).toBe(31_536_000);
    const [row] = await p.sql('select max_ttl_seconds from identity.signing_key where kid = $1', [headerOf(body.access_token).kid]);
    expect(row.max_ttl_seconds).toBe(31_536_000);
  });

  test('a new one is published on day 89, signs from day 90 on, and the old one stays while its tokens live', async () => {
    const before = await issue();
    const first = headerOf(before).kid as string;
    await p.clock('identity', { advance: 'P88D' });
    expect(await published()).toEqual([first]);
    await p.clock('identity', { advance: 'P1D' });
    const both = await published();
    expect(both).toEqual([first, expect.any(String)]);
    expect(headerOf(await issue()).kid).toBe(first);
    await p.clock('identity', { advance: 'P1D' });
    const after = await issue();
    expect(headerOf(after).kid).toBe(both[1]);
    expect(await published()).toEqual(both);
    const keys = createLocalJWKSet((await p.rest('GET', '/identity/.well-known/jwks.json')).body);
    for (const token of [before, after]) await jwtVerify(token.slice(4), keys, { currentDate: new Date(claimsOf(token).iat * 1000) });
    await p.clock('identity', { advance: 'P364D' });
    expect(await published()).toContain(first);
    await p.clock('identity', { advance: 'P2D' });
    expect(await published()).not.toContain(first);
  });

  test('tokens are dated by the clock of identity, and no other service is moved', async () => {
    const [{ now }] = await p.sql('select now from identity.test_clock');
    const token = await issue();
    expect(claimsOf(token).iat).toBe(Math.floor(now.getTime() / 1000));
    expect((await introspect(p, token)).active).toBe(true);
    expect(await admin(token)).toBe(200);
    expect(Math.abs(Date.now() - performance.timeOrigin - performance.now())).toBeLessThan(5_000);
    const [{ platform_clock }] = await p.sql('select count(*)::int as platform_clock from platform.test_clock');
    expect(platform_clock).toBe(0);
  });

  test('an expired token is inactive by the clock of identity', async () => {
    const token = await p.userToken(DEMO, ['read:profile']);
    expect((await introspect(p, token)).active).toBe(true);
    await p.clock('identity', { advance: 'PT3601S' });
    expect(await introspect(p, token)).toEqual({ active: false });
  });
});

test.each([
  [
    'another key than the one that sealed them',
    Buffer.alloc(32, 9).toString('base64'),
    /signing keys in the database were sealed with another TOKEN_SIGNING_KEK/,
  ],
  ['a key that is too short', 'c2hvcnQ=', /TOKEN_SIGNING_KEK must be 32 bytes in base64/],
])('a process that has %s does not start, and says why', async (_case, kek, message) => {
  const env = { ...p.env, PORT: String(await freePort()), TOKEN_SIGNING_KEK: kek, ROLES: 'subgraphs,gateway,rest' };
  await expect(startPlatform({ config: loadConfig(env), services: SERVICES })).rejects.toThrow(message);
});

test('a process with another secret than its database knows does not wait for identity, and says which', async () => {
  const addresses = { PORT: String(await freePort()), GATEWAY_URL: p.url, SUBGRAPH_URL_IDENTITY: p.url };
  const env = { ...p.env, ...addresses, ROLES: 'relay', INTERNAL_CLIENT_SECRET_PLATFORM: 'another' };
  await expect(startPlatform({ config: loadConfig(env), services: SERVICES })).rejects.toThrow(
    /identity refuses svc-platform: .* another INTERNAL_CLIENT_SECRET_PLATFORM/,
  );
});
