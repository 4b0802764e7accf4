import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { claimsOf, emitted } from './oauth.js';

let p: TestPlatform;
let service: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  service = await p.serviceToken('admin:identity');
});

const STAFF = { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'] };
const issue = (body: object, token = service, headers = {}) =>
  p.rest('POST', '/identity/v1/tokens', {
    token,
    headers,
    body: { client_id: 'demo-m2m', name: 'nightly export', scopes: ['admin:identity'], expires_in: 86_400, ...body },
  });
const verify = (token: string, body: object) => p.rest('POST', '/identity/v1/sessions/verify', { token, body });
const roles = async (token: string): Promise<number> => (await p.rest('GET', '/identity/v1/rbac/roles', { token })).status;

describe('POST /v1/tokens', () => {
  test('issues a token that works, is bound to the newest secret, and is told without its value', async () => {
    const { status, body } = await issue({});
    expect([status, Object.keys(body).sort()]).toEqual([201, ['client_id', 'expires_at', 'id', 'name', 'scopes', 'token']]);
    const [secret] = await p.sql("select id from identity.oauth_client_secret where client_id = 'demo-m2m'");
    expect(claimsOf(body.token)).toMatchObject({
      jti: body.id,
      sub: 'demo-m2m',
      token_use: 'service',
      scope: 'admin:identity',
      csi: secret.id,
    });
    expect(await roles(body.token)).toBe(200);
    const events = (await emitted(p, 'identity.service_token.issued.v1')).filter(data => data.token_id === body.id);
    expect(events).toEqual([{ token_id: body.id, client_id: 'demo-m2m', scopes: ['admin:identity'], expires_at: body.expires_at }]);
    const traces = await p.sql('select * from identity.audit_log where target = $1', [body.id]);
    expect(JSON.stringify([events, traces, await p.sql('select * from identity.service_token')])).not.toContain(body.token.slice(-20));
    expect(await p.sql('select max(max_ttl_seconds) as longest from identity.signing_key')).toEqual([{ longest: 86_400 }]);
  });

  test('repeated with its Idempotency-Key tells the record without the value', async () => {
    const [first, again] = [await issue({}, service, { 'idempotency-key': 't1' }), await issue({}, service, { 'idempotency-key': 't1' })];
    expect([again.status, again.body]).toEqual([201, { ...first.body, token: null }]);
  });

  test("refuses scopes outside the client's, a life out of bounds, and clients that are not machines", async () => {
    const wrong = await issue({ client_id: 'svc-cash', scopes: ['admin:cash', 'admin:identity', 'read:profile'] });
    expect([wrong.status, wrong.body.errors.map((one: any) => one.pointer)]).toEqual([400, ['/scopes/1', '/scopes/2']]);
    expect((await issue({ scopes: [] })).status).toBe(400);
    expect((await issue({ expires_in: 299 })).status).toBe(400);
    expect((await issue({ expires_in: 31_536_001 })).status).toBe(400);
    expect((await issue({ client_id: 'demo-app', scopes: ['read:profile'] })).status).toBe(409);
    expect((await issue({ client_id: 'nobody' })).status).toBe(404);
  });

  test('by staff hands on no scope that they lack', async () => {
    const developer = await p.userToken(DEMO, ['read:profile'], {
      ...STAFF,
      roles: ['developer'],
      permissions: ['admin:identity:clients', 'admin:webhooks'],
    });
    expect((await issue({ scopes: ['admin:webhooks'] }, developer)).status).toBe(201);
    expect((await issue({ scopes: ['admin:identity'] }, developer)).body).toMatchObject({ code: 'forbidden' });
    expect((await issue({}, await p.userToken(DEMO, ['read:profile']))).status).toBe(403);
  });

  test('issues what can be listed and ended at once', async () => {
    const { token, id } = (await issue({ name: 'to end' })).body;
    const listed = await p.graphql('{ serviceTokens(clientId: "demo-m2m") { id name issuedBy revokedAt } }', {}, { token: service });
    expect(listed.data.serviceTokens).toContainEqual({ id, name: 'to end', issuedBy: 'service:demo-m2m', revokedAt: null });
    const end = () => p.graphql('mutation($id: ID!) { revokeServiceToken(id: $id) { revokedAt } }', { id }, { token: service });
    expect((await end()).data.revokeServiceToken.revokedAt).toMatch(/Z$/);
    await until(
      'the token to end',
      () => roles(token),
      status => status === 401,
    );
    expect((await end()).errors[0]!.extensions.code).toBe('NOT_FOUND');
  });
});

describe('POST /v1/sessions/verify', () => {
  test('tells a service about a user token, with the sign-in and the power in it', async () => {
    const token = await p.userToken(ADMIN, ['read:profile'], STAFF);
    const { status, body } = await verify(service, { token });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      active: true,
      reason: null,
      user: { id: ADMIN, status: 'active', handle: null, display_name: 'Admin' },
      session: { id: claimsOf(token).sid },
      client_id: 'demo-admin',
      scope: 'read:profile',
      amr: ['pwd', 'otp', 'mfa'],
      roles: ['owner'],
      first_party: true,
    });
  });

  test('tells a user token about itself only, and a service about a service token', async () => {
    const token = await p.userToken(DEMO, ['read:profile']);
    expect((await verify(token, {})).body).toMatchObject({ active: true, user: { id: DEMO }, roles: [], permissions: [] });
    expect((await verify(token, { token })).status).toBe(403);
    expect((await verify(service, { token: service })).body).toMatchObject({
      active: true,
      user: null,
      session: null,
      client_id: 'demo-m2m',
    });
    expect((await verify(service, {})).body.errors).toEqual([expect.objectContaining({ pointer: '/token' })]);
    expect((await verify(await p.serviceToken('admin:cash'), { token })).status).toBe(403);
  });

  test('answers 200 with the reason for every token that is worth nothing', async () => {
    const reason = async (token: string) => (await verify(service, { token })).body;
    const expected = (one: string) => expect.objectContaining({ active: false, reason: one, user: null, client_id: null });
    expect(await reason('usr_nonsense')).toEqual(expected('malformed'));
    const token = await p.userToken(DEMO, ['read:profile']);
    expect(await reason(`${token.slice(0, -4)}AAAA`)).toEqual(expected('malformed'));
    await p.sql('update identity."user" set status = \'suspended\' where id = $1', [DEMO]);
    expect(await reason(token)).toEqual(expected('user_not_active'));
    await p.sql('update identity."user" set status = \'active\' where id = $1', [DEMO]);
    await p.rest(
      'DELETE',
      `/identity/v1/me/grants/${(await p.sql("select id from identity.oauth_grant where user_id = $1 and client_id = 'demo-app'", [DEMO]))[0].id}`,
      {
        token: await p.userToken(DEMO, ['manage:connected_apps']),
      },
    );
    expect(await reason(token)).toEqual(expected('revoked'));
    const other = await p.userToken(DEMO, ['read:profile']);
    await p.clock('identity', { advance: 'PT2H' });
    expect(await reason(other)).toEqual(expected('expired'));
  });
});
