import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { eraseUser } from '../../runtime/erasure/erasure.js';
import { giveConsent } from '../../subgraphs/identity/commands/consent.js';
import type { Context } from '../../runtime/request/context.js';
import { endUnusedFamilies } from '../../subgraphs/identity/commands/unused-families.js';
import { OAuthClientKind, OAuthClientTokenEndpointAuthMethod } from '../../subgraphs/identity/entities/client.js';
import { redirectFault } from '../../subgraphs/identity/rules/redirects.js';
import { registrationFaults } from '../../subgraphs/identity/rules/client-registration.js';
import { retire } from '../../subgraphs/identity/rules/client-secrets.js';
import identity from '../../subgraphs/identity/index.js';
import { atOnce, waitingIn } from '../support/locks.js';
import { ADMIN, DEMO, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { credentials, introspect } from './oauth.js';

let p: TestPlatform;
let service: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  service = await p.serviceToken('admin:identity');
});

const STAFF = { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'] };
const BASE = '/identity/v1/admin/oauth-clients';
const create = (body: object, token = service, headers = {}) => p.rest('POST', BASE, { token, body, headers });
const patch = (id: string, body: object, token = service) => p.rest('PATCH', `${BASE}/${id}`, { token, body });
const rotate = (id: string, body: object = {}, headers = {}) =>
  p.rest('POST', `${BASE}/${id}/rotate-secret`, { token: service, body, headers });
const machine = (client_id: string, more: object = {}) =>
  create({ client_id, name: 'Machine', kind: 'machine', scopes: ['admin:webhooks'], ...more });
const tokenOf = (client_id: string, client_secret: string) => credentials(p, { client_id, client_secret });
const app = (client_id: string, scopes: string[], more: object = {}) =>
  create({ client_id, name: 'App', kind: 'public', scopes, redirect_uris: ['https://app.example/callback'], ...more });
const me = async (token: string): Promise<number> => (await p.rest('GET', '/identity/v1/users/me', { token })).status;
const dies = (token: string) =>
  until(
    'the token to end',
    () => me(token),
    status => status === 401,
  );

describe('a redirect address', () => {
  test.each([
    ['https://app.example/cb', null],
    ['https://app.example/cb?a=1', null],
    ['http://127.0.0.1:1234/cb', null],
    ['http://[::1]/cb', null],
    ['com.example.app:/cb', null],
    ['http://app.example/cb', /https/],
    ['https://app.example/cb#x', /fragment/],
    ['https://*.app.example/cb', /wildcard/],
    ['https://user@app.example/cb', /credentials/],
    ['myapp:/cb', /dot/],
    ['javascript:alert(1)', /dot/],
    ['/cb', /absolute/],
  ])('%s: %s', (uri, fault) => (fault ? expect(redirectFault(uri, true)).toMatch(fault) : expect(redirectFault(uri, true)).toBeNull()));

  test('on localhost is for development', () => {
    expect(redirectFault('http://localhost:5173/cb', false)).toBeNull();
    expect(redirectFault('http://localhost:5173/cb', true)).toMatch(/https/);
  });
});

test('the faults of a registration are all named', () => {
  const faults = registrationFaults(
    {
      kind: OAuthClientKind.MACHINE,
      scopes: ['admin:cash', 'read:profile'],
      redirectUris: ['http://x.example/'],
      postLogoutRedirectUris: [],
      allowedOrigins: [],
      firstParty: false,
      staffAccess: true,
      serviceSlug: null,
      accessTokenTtlSeconds: 300,
      tokenExchange: false,
      tokenEndpointAuthMethod: OAuthClientTokenEndpointAuthMethod.NONE,
      jwks: null,
      jwksUri: null,
    },
    true,
  );
  expect(faults.map(one => one.field)).toEqual([
    'redirectUris',
    'staffAccess',
    'staffAccess',
    'scopes/1',
    'tokenEndpointAuthMethod',
    'redirectUris/0',
  ]);
});

describe('the secrets of a rotation', () => {
  const NOW = new Date('2026-06-01T12:00:00.000Z');
  const secret = (id: string, createdAt: string, expiresAt: string | null = null) => ({
    id,
    createdAt: new Date(createdAt),
    expiresAt: expiresAt ? new Date(expiresAt) : null,
  });
  const [old, young] = [secret('old', '2026-01-01', '2026-06-01T13:00:00.000Z'), secret('young', '2026-05-01')];
  test.each([
    ['one', [young], 60, false, [['young', '2026-06-01T12:01:00.000Z']], false],
    ['one at once', [young], 0, false, [['young', '2026-06-01T12:00:00.000Z']], false],
    ['two', [old, young], 60, false, [], true],
    [
      'two with force',
      [old, young],
      60,
      true,
      [
        ['old', '2026-06-01T12:00:00.000Z'],
        ['young', '2026-06-01T12:01:00.000Z'],
      ],
      false,
    ],
    [
      'one and a dead one',
      [secret('dead', '2025-01-01', '2026-06-01T12:00:00.000Z'), young],
      60,
      false,
      [['young', '2026-06-01T12:01:00.000Z']],
      false,
    ],
    ['one that ends earlier', [old], 86_400, false, [['old', '2026-06-01T13:00:00.000Z']], false],
  ] as const)('with %s alive end in time', (_what, secrets, overlapSeconds, force, ends, refused) => {
    const found = retire([...secrets], { overlapSeconds, force }, NOW);
    expect(found.ends.map(one => [one.secret.id, one.at.toISOString()])).toEqual(ends);
    expect(found.refused).toBe(refused);
  });
});

describe('the address of the keys of a client', () => {
  test.each([
    ['https://169.254.169.254/keys', 'must not lead into a private network'],
    ['https://10.0.0.7/keys', 'must not lead into a private network'],
    ['https://[::1]/keys', 'must not lead into a private network'],
    ['https://2130706433/keys', 'must not lead into a private network'],
    ['https://localhost/keys', 'must not lead into a private network'],
    ['https://vault.internal/keys', 'must not lead into a private network'],
    ['https://keys.example:8443/keys', 'must be an https URL on port 443'],
    ['http://keys.example/keys', 'must be an https URL on port 443'],
    ['https://user:word@keys.example/keys', 'must not hold a user name or password'],
  ])('%s is refused when it is stored', async (jwks_uri, message) => {
    const signing = { token_endpoint_auth_method: 'private_key_jwt' };
    const made = await machine('m-keys', { ...signing, jwks_uri });
    expect([made.status, made.body.errors]).toEqual([400, [{ pointer: '/jwks_uri', message }]]);
    await machine('m-kept', { ...signing, jwks_uri: 'https://keys.example/keys' });
    const changed = await patch('m-kept', { jwks_uri });
    expect([changed.status, changed.body.errors]).toEqual([400, [{ pointer: '/jwks_uri', message }]]);
  });
});

describe('POST /v1/admin/oauth-clients', () => {
  test('registers a client whose secret is told once and works', async () => {
    const made = await machine('m-first', {});
    expect(made).toMatchObject({
      status: 201,
      body: { id: 'm-first', kind: 'machine', client_secret: expect.any(String), status: 'active' },
    });
    expect((await tokenOf('m-first', made.body.client_secret)).status).toBe(200);
    const read = await p.rest('GET', `${BASE}/m-first`, { token: service });
    expect(read.body.secrets).toEqual([expect.objectContaining({ hint: made.body.client_secret.slice(-4), status: 'active' })]);
    expect(JSON.stringify(read.body)).not.toContain(made.body.client_secret);
    expect(JSON.stringify(await p.sql("select * from identity.audit_log where target = 'm-first'"))).not.toContain(made.body.client_secret);
    expect((await machine('m-first')).status).toBe(409);
  });

  test('repeated with its Idempotency-Key tells the client without the secret', async () => {
    const body = { client_id: 'm-again', name: 'Again', kind: 'machine', scopes: ['admin:cash'] };
    const [first, again] = [
      await create(body, service, { 'idempotency-key': 'k1' }),
      await create(body, service, { 'idempotency-key': 'k1' }),
    ];
    expect([first.status, again.status, again.body.id, again.body.client_secret]).toEqual([201, 201, 'm-again', null]);
  });

  test('lists every violation', async () => {
    const { status, body } = await create({
      name: 'x',
      kind: 'public',
      scopes: ['admin:cash'],
      redirect_uris: ['http://x.example'],
      staff_access: true,
      homepage_url: 'http://x.example',
    });
    expect(status).toBe(400);
    expect(body.errors.map((one: any) => one.pointer).sort()).toEqual(['/homepage_url', '/redirect_uris/0', '/scopes/0', '/staff_access']);
  });

  test('by staff gives no machine scope that they lack, and nothing that is reserved to owners', async () => {
    const developer = await p.userToken(DEMO, ['read:profile'], {
      ...STAFF,
      roles: ['developer'],
      permissions: ['admin:identity:clients', 'admin:webhooks'],
    });
    const body = { name: 'x', kind: 'machine', scopes: ['admin:webhooks'] };
    expect((await create(body, developer)).status).toBe(201);
    expect((await create({ ...body, scopes: ['admin:cash'] }, developer)).body).toMatchObject({ code: 'forbidden' });
    expect((await create({ ...body, first_party: true }, developer)).body).toMatchObject({ code: 'forbidden' });
    const owner = await p.userToken(ADMIN, ['read:profile'], STAFF);
    expect((await create({ ...body, first_party: true }, owner)).status).toBe(201);
    expect((await create(body, await p.userToken(DEMO, ['read:profile']))).status).toBe(403);
  });
});

describe('GET /v1/admin/oauth-clients', () => {
  const list = async (query: string) => (await p.rest('GET', `${BASE}?${query}`, { token: service })).body;
  test('filters and pages', async () => {
    const all = ['demo-admin', 'demo-app', 'demo-m2m', 'demo-messages', 'demo-partner-app'];
    expect((await list('q=demo-')).data.map((one: any) => one.id)).toEqual(all);
    expect((await list('q=demo-&kind=public')).data.map((one: any) => one.id)).toEqual(['demo-admin', 'demo-app', 'demo-messages']);
    expect((await list('q=demo-&first_party=false')).data.map((one: any) => one.id)).toEqual(['demo-m2m', 'demo-partner-app']);
    const first = await list('q=demo-&limit=3');
    const second = await list(`q=demo-&limit=3&cursor=${first.next_cursor}`);
    expect([...first.data, ...second.data].map((one: any) => one.id)).toEqual(all);
    expect(second.next_cursor).toBeNull();
  });
});

describe('a rotation of a secret', () => {
  test('lets both work for the overlap; then the old one and its tokens are dead, those of the new one live', async () => {
    const { client_secret: old } = (await machine('m-rotate')).body;
    const oldToken = (await tokenOf('m-rotate', old)).body.access_token;
    const rotated = await rotate('m-rotate', { overlap_seconds: 60 });
    expect(rotated).toMatchObject({ status: 200, body: { client_id: 'm-rotate', previous: [{ expires_at: expect.any(String) }] } });
    const fresh = rotated.body.client_secret;
    await p.clock('identity', { advance: 'PT59S' });
    expect([(await tokenOf('m-rotate', old)).status, (await tokenOf('m-rotate', fresh)).status]).toEqual([200, 200]);
    expect((await introspect(p, oldToken)).active).toBe(true);
    const freshToken = (await tokenOf('m-rotate', fresh)).body.access_token;
    await p.clock('identity', { advance: 'PT2S' });
    expect(await tokenOf('m-rotate', old)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect((await introspect(p, oldToken)).active).toBe(false);
    expect((await introspect(p, freshToken)).active).toBe(true);
  });

  test('without overlap stops the tokens of the old secret everywhere', async () => {
    const { client_secret: old } = (await machine('m-stop', { scopes: ['admin:identity'] })).body;
    const oldToken = (await tokenOf('m-stop', old)).body.access_token;
    const ask = async (token: string) => (await p.rest('GET', '/identity/v1/rbac/roles', { token })).status;
    expect(await ask(oldToken)).toBe(200);
    const fresh = (await rotate('m-stop', { overlap_seconds: 0 })).body.client_secret;
    await until(
      'the old token to end',
      () => ask(oldToken),
      status => status === 401,
    );
    expect(await ask((await tokenOf('m-stop', fresh)).body.access_token)).toBe(200);
  });

  test('is refused while two are alive, unless forced; and for a client without secrets', async () => {
    await machine('m-two');
    expect((await rotate('m-two')).status).toBe(200);
    expect((await rotate('m-two')).status).toBe(409);
    expect((await rotate('m-two', { force: true })).body.previous).toHaveLength(1);
    expect((await rotate('demo-app')).status).toBe(409);
    expect((await rotate('nobody')).status).toBe(404);
    expect((await rotate('m-two', { overlap_seconds: 2_592_001 })).status).toBe(400);
  });

  test('repeated with its Idempotency-Key tells no secret', async () => {
    await machine('m-key');
    const [first, again] = [await rotate('m-key', {}, { 'idempotency-key': 'r1' }), await rotate('m-key', {}, { 'idempotency-key': 'r1' })];
    expect(again.body).toEqual({ ...first.body, client_secret: null });
    expect(await p.sql("select 1 from identity.oauth_client_secret where client_id = 'm-key'")).toHaveLength(2);
  });
});

describe('PATCH /v1/admin/oauth-clients/{client_id}', () => {
  test('narrows scopes: sign-ins that hold them end, others live on', async () => {
    await app('a-narrow', ['read:profile', 'read:live']);
    const [both, one] = await Promise.all([
      p.userToken(DEMO, ['read:profile', 'read:live'], { clientId: 'a-narrow' }),
      p.userToken(DEMO, ['read:profile'], { clientId: 'a-narrow' }),
    ]);
    expect((await patch('a-narrow', { scopes: ['read:profile'] })).body.scopes).toEqual(['read:profile']);
    await dies(both!);
    expect(await me(one!)).toBe(200);
    const told = await p.sql(
      "select data from events.outbox where type = 'identity.grant.changed.v1' and data->>'client_id' = 'a-narrow' order by seq desc limit 1",
    );
    expect(told[0].data).toMatchObject({ reason: 'scopes_changed', scopes: ['read:profile'], status: 'active' });
  });

  test('disables a client: its tokens die; enabled again it works, old tokens stay dead', async () => {
    const { client_secret: secret } = (await machine('m-off', { scopes: ['admin:identity'] })).body;
    const token = (await tokenOf('m-off', secret)).body.access_token;
    const ask = async (one: string) => (await p.rest('GET', '/identity/v1/rbac/roles', { token: one })).status;
    expect((await patch('m-off', { status: 'disabled' })).body.status).toBe('disabled');
    await until(
      'the token to end',
      () => ask(token),
      status => status === 401,
    );
    await until(
      'the client to be refused',
      async () => (await tokenOf('m-off', secret)).status,
      status => status === 401,
    );
    await patch('m-off', { status: 'active' });
    await p.clock('identity', { advance: 'PT2S' });
    expect(await ask((await tokenOf('m-off', secret)).body.access_token)).toBe(200);
    expect(await ask(token)).toBe(401);
  });

  test('refuses a lost version, a state that is not for it, and a client that is not there', async () => {
    const { version } = (await app('a-version', ['read:profile'])).body;
    expect((await patch('a-version', { name: 'One', version })).status).toBe(200);
    expect(await patch('a-version', { name: 'Two', version })).toMatchObject({ status: 409, body: { reason: 'version_conflict' } });
    expect((await patch('a-version', { status: 'deleted' })).status).toBe(400);
    expect((await patch('nobody', { name: 'x' })).status).toBe(404);
  });
});

describe('DELETE /v1/admin/oauth-clients/{client_id}', () => {
  test('ends consents and tokens, keeps the row, and spares the clients of services', async () => {
    await app('a-gone', ['read:profile']);
    const token = await p.userToken(DEMO, ['read:profile'], { clientId: 'a-gone' });
    expect((await p.rest('DELETE', `${BASE}/a-gone`, { token: service })).status).toBe(204);
    await dies(token);
    expect(await p.sql("select status, revoked_by from identity.oauth_grant where client_id = 'a-gone'")).toEqual([
      { status: 'revoked', revoked_by: 'system' },
    ]);
    expect((await p.rest('GET', `${BASE}/a-gone`, { token: service })).body.status).toBe('deleted');
    expect((await p.rest('DELETE', `${BASE}/a-gone`, { token: service })).status).toBe(404);
    expect((await p.rest('DELETE', `${BASE}/svc-cash`, { token: service })).status).toBe(409);
  });
});

const consent = (userId: string, clientId: string, granted: string[]) =>
  p.host('identity').transaction(ctx => giveConsent(ctx, userId, clientId, { granted }));

describe('an app that more people let in than one transaction may tell', () => {
  const PEOPLE = 1_200;
  const TOGETHER = 400;
  const [LIVE, PROFILE, CONTENT] = ['read:live', 'read:profile', 'read:content'] as const;
  /** People who let the app in, each on a device that holds both scopes and on one that holds the profile only. */
  const LET_IN = `
    with person as (insert into identity."user" (id, status, created_at, updated_at)
      select gen_random_uuid(), 'active', now(), now() from generate_series(1, ${PEOPLE}) returning id),
    consent as (insert into identity.oauth_grant (id, user_id, client_id, scopes, status, granted_at, created_at, updated_at)
      select gen_random_uuid(), id, $1, '{read:live,read:profile}', 'active', now(), now(), now() from person returning id, user_id),
    family as (insert into identity.token_family (id, grant_id, user_id, client_id, scopes, created_at, last_used_at)
      select gen_random_uuid()::text, c.id, c.user_id, $1, held.scopes, now(), now()
      from consent c, (values ('{read:live,read:profile}'::text[]), ('{read:profile}')) held(scopes) returning id)
    insert into identity.oauth_artifact (model, id_hash, family_id, payload, created_at, expires_at)
      select 'RefreshToken', sha256(id::bytea), id, '{}', now(), now() + interval '1 day' from family`;
  const popular = async (id: string) => {
    await app(id, [CONTENT, LIVE, PROFILE]);
    await p.sql(LET_IN, [id]);
  };
  const change = async (id: string, scopes: string[]) => (await patch(id, { scopes })).status;
  const remove = async (id: string) => (await p.rest('DELETE', `${BASE}/${id}`, { token: service })).status;
  const tellAll = () => p.clock('identity', { advance: 'PT1S' });

  /** Keeps the timer back, which takes turns by this lock, so that only what a request tells itself is told. */
  async function untold<T>(work: () => Promise<T>): Promise<T> {
    const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
    await other.connect();
    await other.query("select pg_advisory_lock(hashtextextended('timer:identity:identity.due_grants', 13))");
    try {
      return await work();
    } finally {
      await other.end();
    }
  }

  /** Events of an app by what they say: how many, and of how many grants. */
  const told = (id: string) =>
    p.sql(
      `select count(*)::int as events, count(distinct data->>'grant_id')::int as grants, data->>'reason' as reason, data->>'status' as status,
         (data->>'version')::int as version, data->>'scopes' as scopes from events.outbox
       where type = 'identity.grant.changed.v1' and data->>'client_id' = $1 and data->>'reason' <> 'consented' group by 3, 4, 5, 6 order by 5, 6`,
      [id],
    );
  const line = (count: number, version: number, ...scopes: string[]) => ({
    events: count,
    grants: count,
    reason: scopes.length ? 'scopes_changed' : 'client_removed',
    status: scopes.length ? 'active' : 'revoked',
    version,
    scopes: JSON.stringify(scopes),
  });
  const toldOf = async (userId: string) =>
    (await p.sql("select data from events.outbox where type = 'identity.grant.changed.v1' and user_id = $1 order by seq", [userId])).map(
      ({ data }) => [data.version, data.reason, data.scopes],
    );
  const versions = (id: string) =>
    p.sql('select version, status, count(*)::int as grants from identity.oauth_grant where client_id = $1 group by 1, 2 order by 1', [id]);
  /** What lives of an app: families by what they hold, with their refresh tokens. */
  const living = (id: string) =>
    p.sql(
      `select f.scopes, count(*)::int as families, count(a.id_hash)::int as tokens from identity.token_family f
       left join identity.oauth_artifact a on a.family_id = f.id where f.client_id = $1 and f.ended_at is null group by 1`,
      [id],
    );
  const tokensLeft = async (id: string) =>
    (
      await p.sql(
        'select 1 from identity.oauth_artifact a join identity.token_family f on f.id = a.family_id where f.client_id = $1 and f.ended_at is not null',
        [id],
      )
    ).length;
  /** Users whose turn to be told comes last. */
  const lastOf = async (id: string, count: number): Promise<string[]> =>
    (await p.sql('select user_id from identity.oauth_grant where client_id = $1 order by id desc limit $2', [id, count])).map(
      ({ user_id }) => user_id,
    );

  test('keeps its scopes narrowed: sign-ins that hold what it lost end at once, and the change of each grant is told once', async () => {
    await popular('a-popular');
    const [both, one] = [
      await p.userToken(DEMO, [LIVE, PROFILE], { clientId: 'a-popular' }),
      await p.userToken(DEMO, [PROFILE], { clientId: 'a-popular' }),
    ];
    await untold(async () => {
      expect(await change('a-popular', [PROFILE])).toBe(200);
      expect(await living('a-popular')).toEqual([{ scopes: [PROFILE], families: PEOPLE + 1, tokens: PEOPLE }]);
      expect(await tokensLeft('a-popular')).toBe(0);
      await dies(both);
      expect(await me(one)).toBe(200);
      expect(await told('a-popular')).toEqual([line(TOGETHER, 2, PROFILE)]);
    });
    for (let times = 0; times < 2; times++) {
      await tellAll();
      expect(await told('a-popular')).toEqual([line(PEOPLE + 1, 2, PROFILE)]);
    }
    expect(await versions('a-popular')).toEqual([{ version: 2, status: 'active', grants: PEOPLE + 1 }]);
  });

  test('is changed a second time before all are told of the first: one event tells both', async () => {
    await popular('a-twice');
    await untold(async () => {
      expect([await change('a-twice', [PROFILE]), await change('a-twice', [LIVE])]).toEqual([200, 200]);
      expect(await told('a-twice')).toEqual([line(TOGETHER, 2, PROFILE), line(TOGETHER, 3, LIVE)]);
      expect(await living('a-twice')).toEqual([]);
    });
    await tellAll();
    expect(await told('a-twice')).toEqual([line(PEOPLE - TOGETHER, 2, LIVE), line(TOGETHER, 2, PROFILE), line(TOGETHER, 3, LIVE)]);
  });

  const REQUEST = '0190b3a0-0000-7000-8000-00000000f001';
  const erase = (userId: string) =>
    p.host('identity').transaction(ctx => eraseUser(ctx, identity.erase, { userId, requestId: REQUEST, scope: 'full' }));
  const DEVICE = `insert into identity.token_family (id, grant_id, user_id, client_id, scopes, created_at, last_used_at)
    select gen_random_uuid()::text, id, user_id, client_id, $3, now(), now() from identity.oauth_grant where user_id = $1 and client_id = $2`;
  const device = (userId: string, id: string, scopes: string[]) => p.sql(DEVICE, [userId, id, scopes]);
  /** Lets the devices of somebody go unused for 90 days, beside another one that lives on. */
  async function leaveDevice(userId: string, id: string, scopes: string[] = [PROFILE]): Promise<void> {
    await p.sql("update identity.token_family set last_used_at = now() - interval '100 days' where user_id = $1 and ended_at is null", [
      userId,
    ]);
    await device(userId, id, scopes);
    await p.host('identity').transaction(ctx => endUnusedFamilies(ctx, ctx.now()));
  }

  test('whoever revokes, consents anew, leaves a device unused or is erased before being told hears nothing wrong', async () => {
    await popular('a-meanwhile');
    const [revoking, consenting, leaving, erased] = (await lastOf('a-meanwhile', 4)) as [string, string, string, string];
    await untold(async () => {
      expect(await change('a-meanwhile', [CONTENT, PROFILE])).toBe(200);
      const own = await p.userToken(revoking, ['manage:connected_apps']);
      const { data } = (await p.rest('GET', '/identity/v1/me/grants', { token: own })).body;
      const { id, effective_scopes: scopes } = data.find((grant: any) => grant.client.id === 'a-meanwhile');
      expect(scopes).toEqual([PROFILE]);
      expect((await p.rest('DELETE', `/identity/v1/me/grants/${id}`, { token: own })).status).toBe(204);
      await consent(consenting, 'a-meanwhile', [CONTENT]);
      await leaveDevice(leaving, 'a-meanwhile');
      await erase(erased);
    });
    await tellAll();
    expect((await toldOf(revoking)).slice(1)).toEqual([[2, 'user_revoked', []]]);
    expect(await toldOf(consenting)).toEqual([
      [2, 'scopes_changed', [CONTENT, PROFILE]],
      [3, 'scopes_changed', [CONTENT, PROFILE]],
    ]);
    expect(await toldOf(leaving)).toEqual([[3, 'scopes_changed', [PROFILE]]]);
    expect(await toldOf(erased)).toEqual([[2, 'user_erased', []]]);
    expect((await told('a-meanwhile')).find(({ version, scopes }) => version === 2 && scopes === JSON.stringify([PROFILE]))).toMatchObject({
      events: PEOPLE - 4,
      grants: PEOPLE - 4,
    });
  });

  test('a consent whose last device is left unused while another one signs in does not expire', async () => {
    await app('a-race', [PROFILE]);
    const who = randomUUID();
    await p.sql(`insert into identity."user" (id, status, created_at, updated_at) values ($1, 'active', now(), now())`, [who]);
    await consent(who, 'a-race', [PROFILE]);
    await p.sql(DEVICE.replace('now(), now()', "now(), now() - interval '100 days'"), [who, 'a-race', [PROFILE]]);
    const signIn = async (ctx: Context): Promise<void> => {
      await ctx.sql('update identity.oauth_grant set last_used_at = now() where user_id = $1', [who]);
      await ctx.sql(DEVICE, [who, 'a-race', [PROFILE]]);
    };
    const host = p.host('identity');
    await atOnce({ p, host, waitsIn: 'oauth_grant' }, signIn, ctx => endUnusedFamilies(ctx, ctx.now()));
    expect((await toldOf(who)).map(([, reason]) => reason)).not.toContain('expired');
  });

  test('of a consent that a device left unused a narrowing tells what is left where another device uses it, and its end where none is left', async () => {
    await app('a-stale', [LIVE, PROFILE]);
    const people = [randomUUID(), randomUUID()] as const;
    for (const who of people) {
      await p.sql(`insert into identity."user" (id, status, created_at, updated_at) values ($1, 'active', now(), now())`, [who]);
      await consent(who, 'a-stale', [LIVE, PROFILE]);
      await device(who, 'a-stale', [PROFILE]);
    }
    await leaveDevice(people[0], 'a-stale', [PROFILE]);
    await leaveDevice(people[1], 'a-stale', [LIVE]);
    expect(await change('a-stale', [PROFILE])).toBe(200);
    expect((await toldOf(people[0])).slice(1)).toEqual([[3, 'scopes_changed', [PROFILE]]]);
    expect((await toldOf(people[1])).slice(1)).toEqual([[3, 'expired', []]]);
  });

  const ACTIVE = 'query($userIds: [ID!]!) { activeGrants(userIds: $userIds) { clientId } }';
  const activeOf = async (userIds: string[]) =>
    (await p.graphql(ACTIVE, { userIds }, { token: await p.internalToken('webhooks') })).data.activeGrants;

  test('is deleted: its consents and tokens end at once, and the end of each is told once', async () => {
    await popular('a-removed');
    const token = await p.userToken(DEMO, [PROFILE], { clientId: 'a-removed' });
    const [erased, ...people] = (await lastOf('a-removed', 3)) as [string, string, string];
    await untold(async () => {
      expect(await remove('a-removed')).toBe(204);
      expect([await living('a-removed'), await tokensLeft('a-removed')]).toEqual([[], 0]);
      expect(await versions('a-removed')).toEqual([{ version: 2, status: 'revoked', grants: PEOPLE + 1 }]);
      expect(await activeOf(people)).toEqual([]);
      const apps = await p.rest('GET', '/identity/v1/users/me/connected-apps', {
        token: await p.userToken(DEMO, ['manage:connected_apps']),
      });
      expect(apps.body.data.map((one: any) => one.client.id)).not.toContain('a-removed');
      await dies(token);
      expect(await introspect(p, token)).toEqual({ active: false });
      expect(await told('a-removed')).toEqual([line(TOGETHER, 2)]);
      await erase(erased);
      expect(await toldOf(erased)).toEqual([[2, 'client_removed', []]]);
    });
    for (let times = 0; times < 2; times++) {
      await tellAll();
      expect(await told('a-removed')).toEqual([line(PEOPLE + 1, 2)]);
    }
    const audited = `select count(*)::int as rows, count(distinct target)::int as grants from identity.audit_log
      where action = 'grant.revoked' and details->>'client_id' = 'a-removed'`;
    expect(await p.sql(audited)).toEqual([{ rows: PEOPLE + 1, grants: PEOPLE + 1 }]);
    const [deleted] = await p.sql("select details from identity.audit_log where action = 'oauth_client.deleted' and target = 'a-removed'");
    expect(deleted.details).toEqual({ grants: PEOPLE + 1, families: 2 * PEOPLE + 1 });
  });
});

test('a consent that is given while its app is deleted comes too late', async () => {
  await app('a-late', ['read:profile']);
  const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
  await other.connect();
  await other.query("begin; select 1 from identity.oauth_client where id = 'a-late' for update");
  await other.query("update identity.oauth_client set status = 'deleted' where id = 'a-late'");
  const given = consent(DEMO, 'a-late', ['read:profile']).then(
    () => 'given',
    error => error.message,
  );
  await waitingIn(p, 'oauth_');
  await other.query('commit');
  await other.end();
  expect([await given, await p.sql("select 1 from identity.oauth_grant where client_id = 'a-late'")]).toEqual([
    'There is no app a-late',
    [],
  ]);
});

describe('an agreement', () => {
  const SET = 'mutation($i: SetClientAgreementInput!) { setClientAgreement(input: $i) { id status scopes } }';
  const END = 'mutation($id: ID!) { endClientAgreement(id: $id) { id status } }';
  const set = (input: object, token = service) =>
    p.graphql(SET, { i: { clientId: 'demo-partner-app', documentVersion: '1', signedBy: 'Legal', ...input } }, { token });
  const PHI = ['read:biomarkers', 'read:profile'];
  const told = async () =>
    (
      await p.sql(
        "select data from events.outbox where type = 'identity.grant.changed.v1' and data->>'client_id' = 'demo-partner-app' order by seq",
      )
    ).map(row => row.data.scopes);

  test('opens health-data scopes; its end stops them at once, keeps the consent, and its renewal restores them', async () => {
    const made = await set({ scopes: ['read:biomarkers'] });
    expect(made.data.setClientAgreement).toMatchObject({ status: 'IN_FORCE', scopes: ['read:biomarkers'] });
    const [phi, plain] = [
      await p.userToken(DEMO, PHI, { clientId: 'demo-partner-app' }),
      await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-partner-app' }),
    ];
    const ended = await p.graphql(END, { id: made.data.setClientAgreement.id }, { token: service });
    expect(ended.data.endClientAgreement.status).toBe('ENDED');
    await dies(phi);
    expect(await me(plain)).toBe(200);
    expect(
      await p.sql("select distinct end_reason from identity.token_family where client_id = 'demo-partner-app' and ended_at is not null"),
    ).toEqual([{ end_reason: 'phi_agreement_ended' }]);
    expect(await p.sql("select scopes from identity.oauth_grant where client_id = 'demo-partner-app'")).toEqual([{ scopes: PHI }]);
    await set({ scopes: ['read:biomarkers'] });
    expect(await told()).toEqual([PHI, ['read:profile'], PHI]);
  });

  test('that runs out ends like one that is ended', async () => {
    await p.sql("update identity.oauth_client_agreement set expires_at = now() + interval '1 hour' where ended_at is null");
    const phi = await p.userToken(DEMO, PHI, { clientId: 'demo-partner-app' });
    await p.clock('identity', { advance: 'PT2H' });
    await dies(phi);
    expect((await told()).at(-1)).toEqual(['read:profile']);
  });

  test('is made by services and owners, for health-data scopes', async () => {
    expect((await set({ scopes: ['read:profile'] })).errors[0]!.extensions.errors).toEqual([
      expect.objectContaining({ pointer: '/input/scopes/0' }),
    ]);
    const admin = await p.userToken(DEMO, ['read:profile'], { ...STAFF, roles: ['admin'], permissions: ['admin:identity:clients'] });
    expect((await set({ scopes: ['read:biomarkers'] }, admin)).errors[0]!.extensions.code).toBe('INSUFFICIENT_SCOPE');
    const owner = await p.userToken(ADMIN, ['read:profile'], STAFF);
    expect((await set({ scopes: ['read:clinical'] }, owner)).data.setClientAgreement.status).toBe('IN_FORCE');
  });
});
