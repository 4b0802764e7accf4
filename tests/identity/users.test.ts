import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, BRAND, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let service: string;
let staff: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'], manualClock: false });
  service = await p.serviceToken('admin:identity');
  staff = await p.userToken(ADMIN, ['read:profile'], {
    clientId: 'demo-admin',
    roles: ['support'],
    permissions: ['admin:identity:read'],
    amr: ['pwd', 'mfa'],
  });
});

const NOBODY = '0190b3a0-0000-7000-8000-00000000dead';
const setStatus = (id: string, status: string) => p.sql('update identity."user" set status = $2 where id = $1', [id, status]);
const setVisibility = (id: string, visibility: string) =>
  p.sql('update identity.user_profile set visibility = $2 where user_id = $1', [id, visibility]);

/** Another account, as sign-up would leave it. */
async function makeUser(n: number, more: { status?: string; phone?: string } = {}): Promise<string> {
  const id = `0190b3a0-0000-7000-8000-${String(n).padStart(12, '0')}`;
  const at = new Date(Date.UTC(2026, 0, 1, 0, 0, n));
  await p.sql('insert into identity."user" (id, status, phone, created_at, updated_at) values ($1, $2, $3, $4, $4)', [
    id,
    more.status ?? 'active',
    more.phone ?? null,
    at,
  ]);
  await p.sql('insert into identity.user_email (user_id, email, email_key) values ($1, $2, $3)', [
    id,
    `Person${n}@Example.test`,
    `person${n}@example.test`,
  ]);
  await p.sql("insert into identity.user_profile (user_id, handle, display_name, joined_on) values ($1, $2, $3, '2026-01-01')", [
    id,
    `person_${n}`,
    `Person 100% ${n}`,
  ]);
  return id;
}

describe('GET /v1/users/me', () => {
  const get = (token: string | null) => p.rest('GET', '/identity/v1/users/me', { token });

  test('shows contact data and status with read:account', async () => {
    const { status, body } = await get(await p.userToken(DEMO, ['read:profile', 'read:account']));
    expect(status).toBe(200);
    expect(body).toEqual({
      id: DEMO,
      status: 'active',
      profile: {
        handle: 'demo',
        display_name: 'Demo',
        bio: null,
        pronouns: null,
        location: null,
        website_url: null,
        avatar_url: null,
        avatar_versions: [],
        visibility: 'members',
        joined_on: expect.stringMatching(/^\d{4}-\d{2}-01$/),
      },
      email: 'demo@example.test',
      email_verified: true,
      phone_verified: false,
      mfa_enabled: false,
      brand_id: BRAND,
      created_at: expect.stringMatching(/Z$/),
    });
  });

  test('leaves those keys out with read:profile alone', async () => {
    const { body } = await get(await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-partner-app' }));
    expect(Object.keys(body).sort()).toEqual(['brand_id', 'created_at', 'id', 'profile']);
  });

  test.each([
    ['no token', async () => null, 401, 'unauthenticated'],
    ['a service token', async () => service, 403, 'forbidden'],
    ['a user token without either scope', () => p.userToken(DEMO, ['read:inbox']), 403, 'insufficient_scope'],
    ['a user token with a scope of another part of the account', () => p.userToken(DEMO, ['read:preferences']), 403, 'insufficient_scope'],
  ] as [string, () => Promise<string | null>, number, string][])('answers %s with %s', async (_case, token, status, code) => {
    const answer = await get(await token());
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test('settings need read:preferences', async () => {
    const settings = (token: string) => p.rest('GET', '/identity/v1/users/me/settings', { token });
    const { status, body } = await settings(await p.userToken(DEMO, ['read:preferences']));
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        locale: 'en',
        time_zone: 'UTC',
        unit_system: 'metric',
        marketing_consent: { granted: false, at: null, source: null },
      }),
    ]);
    expect((await settings(await p.userToken(DEMO, ['read:profile', 'read:account']))).body.code).toBe('insufficient_scope');
  });
});

test('a time zone is told from the default: unset until somebody gives it, and again after null', async () => {
  const token = await p.userToken(DEMO2, ['manage:preferences', 'read:preferences']);
  const settings = (body?: object) => p.rest(body ? 'PATCH' : 'GET', '/identity/v1/users/me/settings', { token, body });
  expect((await settings()).body).toMatchObject({ time_zone: 'UTC', time_zone_set_at: null });
  expect((await settings({ theme: 'dark' })).body.time_zone_set_at).toBeNull();
  expect((await settings({ time_zone: 'UTC' })).body).toMatchObject({ time_zone: 'UTC', time_zone_set_at: expect.stringMatching(/Z$/) });
  expect((await settings({ time_zone: null, theme: null })).body).toMatchObject({ time_zone: 'UTC', time_zone_set_at: null });
  const i = { email: 'zoned@example.test', emailVerified: true, timeZone: 'Asia/Tokyo' };
  const { data } = await p.graphql(
    'mutation($i: CreateUserInput!) { createUser(input: $i) { settings { timeZone timeZoneSetAt } } }',
    { i },
    { token: service },
  );
  expect(data.createUser.settings).toEqual({ timeZone: 'Asia/Tokyo', timeZoneSetAt: expect.stringMatching(/Z$/) });
});

describe('staff who look at their own account', () => {
  const own = (path: string, token: string) => p.rest('GET', `/identity${path}`, { token });
  const withScopes = (...scopes: string[]) =>
    p.userToken(ADMIN, scopes, { clientId: 'demo-admin', roles: ['support'], permissions: ['admin:identity'], amr: ['pwd', 'mfa'] });
  const PARTS = [
    ['/v1/users/me/settings', 'read:preferences'],
    ['/v1/users/me/addresses', 'read:account'],
    ['/v1/me/grants', 'manage:connected_apps'],
  ] as const;

  test.each(PARTS)('%s needs %s of their app, whatever their permissions are', async (path, scope) => {
    const refused = await own(path, await withScopes('read:profile'));
    expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_scope']);
    expect(refused.headers['www-authenticate']).toBe(`Bearer error="insufficient_scope", scope="${scope}"`);
    expect((await own(path, await withScopes('read:profile', scope))).status).toBe(200);
  });

  test('see contact data and status with read:account only', async () => {
    expect(Object.keys((await own('/v1/users/me', await withScopes('read:profile'))).body).sort()).toEqual([
      'brand_id',
      'created_at',
      'id',
      'profile',
    ]);
    expect((await own('/v1/users/me', await withScopes('read:profile', 'read:account'))).body.email).toBe('admin@example.test');
  });

  test.each(PARTS)('GraphQL asks the same of them as %s, and no list breaks over it', async (path, scope) => {
    const part = { settings: 'settings { locale }', addresses: 'addresses { nodes { id } }', grants: 'grants { id }' }[
      path.split('/').at(-1)!
    ];
    const { errors } = await p.graphql(`{ me { ${part} } }`, {}, { token: await withScopes('read:profile') });
    expect(errors[0]!.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE', scope });
    const list = await p.graphql(`{ users(first: 100) { nodes { id email ${part} } } }`, {}, { token: await withScopes('read:profile') });
    expect(list.errors).toEqual([]);
    expect(list.data.users.nodes).toContainEqual(expect.objectContaining({ id: ADMIN, email: 'admin@example.test' }));
  });

  test('as administrators they see it as they see any other', async () => {
    const token = await withScopes('read:profile');
    for (const path of [`/${ADMIN}`, '/lookup?email=admin@example.test', `?q=${ADMIN}`]) {
      const { body } = await own(`/v1/admin/users${path}`, token);
      expect([path, (body.data?.[0] ?? body).email]).toEqual([path, 'admin@example.test']);
    }
    expect((await own(`/v1/admin/users/${ADMIN}/settings`, token)).body).toMatchObject({ locale: 'en' });
  });
});

describe('profiles', () => {
  const profile = (id: string, token: string) => p.rest('GET', `/identity/v1/users/${id}/profile`, { token });
  const byHandle = (handle: string, token: string) => p.rest('GET', `/identity/v1/users/by-handle/${handle}`, { token });
  const plainMachine = () => p.serviceToken('admin:content');

  test.each([
    ['public', [200, 200, 200, 200]],
    ['members', [200, 200, 404, 200]],
    ['private', [404, 200, 404, 200]],
  ])('a %s profile answers another user, its owner, a machine and an administrator with %s', async (visibility, expected) => {
    await setVisibility(DEMO2, visibility);
    const callers = [await p.userToken(DEMO, ['read:inbox']), await p.userToken(DEMO2, ['read:inbox']), await plainMachine(), service];
    for (const read of [(token: string) => profile(DEMO2, token), (token: string) => byHandle('DEMO2', token)])
      expect(await Promise.all(callers.map(async token => (await read(token)).status))).toEqual(expected);
    await setVisibility(DEMO2, 'members');
  });

  test.each(['pending', 'suspended', 'banned', 'erasing'])('the profile of a %s user is a 404 like that of nobody', async status => {
    const id = await makeUser(status.length, { status });
    const token = await p.userToken(DEMO, ['read:profile']);
    const [hidden, nobody] = [await profile(id, token), await profile(NOBODY, token)];
    expect([hidden.status, nobody.status]).toEqual([404, 404]);
    const { request_id: _one, ...body } = hidden.body;
    expect(nobody.body).toMatchObject(body);
    expect((await profile(id, service)).status).toBe(200);
    for (const table of ['user_profile', 'user_email']) await p.sql(`delete from identity.${table} where user_id = $1`, [id]);
    await p.sql('delete from identity."user" where id = $1', [id]);
  });

  test('ids and handles that cannot exist are 404', async () => {
    for (const path of ['/v1/users/not-a-uuid/profile', '/v1/users/by-handle/no_such_handle', '/v1/users/by-handle/%25'])
      expect((await p.rest('GET', `/identity${path}`, { token: service })).status).toBe(404);
  });
});

describe('administration', () => {
  const get = (path: string, token: string | null = service) => p.rest('GET', `/identity/v1/admin/users${path}`, { token });

  test.each([
    ['no token', async () => null, 401, 'unauthenticated'],
    ['a service token of another service', () => p.serviceToken('admin:clinical'), 403, 'insufficient_scope'],
    ['a user token, even of the account itself', () => p.userToken(DEMO, ['read:account', 'read:profile']), 403, 'forbidden'],
    [
      'staff without the permission',
      () => p.userToken(ADMIN, ['read:profile'], { clientId: 'demo-admin', roles: ['finance'], permissions: ['admin:payments'] }),
      403,
      'insufficient_scope',
    ],
  ] as [string, () => Promise<string | null>, number, string][])('is closed to %s', async (_case, token, status, code) => {
    for (const path of ['', '/lookup?handle=demo', `/${DEMO}`, `/${DEMO}/settings`]) {
      const answer = await get(path, await token());
      expect([path, answer.status, answer.body.code]).toEqual([path, status, code]);
    }
  });

  test('shows an account to S and to staff who may read', async () => {
    for (const token of [service, staff]) {
      const { status, body } = await get(`/${DEMO}`, token);
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({ id: DEMO, status: 'active', email: 'demo@example.test', email_verified: true, phone: null, version: 1 }),
      ]);
    }
    expect((await get(`/${DEMO}/settings`, staff)).body).toMatchObject({ locale: 'en', version: 1 });
    expect((await get(`/${NOBODY}`)).status).toBe(404);
    expect((await get('/not-a-uuid')).status).toBe(404);
  });

  test('finds an account by exactly one identifier', async () => {
    const id = await makeUser(50, { phone: '+493012345678' });
    await p.sql(
      "insert into identity.external_identity (id, user_id, provider, subject, created_at) values (gen_random_uuid(), $1, 'acme', 'a|7', now())",
      [id],
    );
    for (const query of [
      'email=PERSON50@example.TEST',
      'phone=%2B493012345678',
      'handle=Person_50',
      'external_provider=acme&external_id=a%7C7',
    ])
      expect([query, (await get(`/lookup?${query}`)).body.id]).toEqual([query, id]);
    for (const query of ['email=nobody@example.test', 'phone=%2B4930999', 'handle=nobody', 'external_provider=acme&external_id=b'])
      expect([query, (await get(`/lookup?${query}`)).status]).toEqual([query, 404]);
    for (const query of ['', 'email=a@b.c&handle=demo', 'external_provider=acme', 'phone=123', 'nickname=x'])
      expect([query, (await get(`/lookup?${query}`)).body.code]).toEqual([query, 'invalid_request']);
  });

  test('lists accounts newest first, page by page, by any filter', async () => {
    for (let n = 61; n <= 65; n++) await makeUser(n, { status: n === 63 ? 'suspended' : 'active' });
    const ids = async (query: string): Promise<string[]> =>
      (await get(`?${query}`)).body.data.map((user: { id: string }) => Number(user.id.slice(-2)));
    expect(await ids('q=person6')).toEqual([65, 64, 63, 62, 61]);
    expect(await ids('q=PERSON_63')).toEqual([63]);
    expect(await ids(`q=${encodeURIComponent('Person 100% 6')}`)).toEqual([65, 64, 63, 62, 61]);
    expect(await ids('q=person6&status=suspended')).toEqual([63]);
    expect(await ids('q=person6&status=active&created_after=2026-01-01T00:01:02.000Z&created_before=2026-01-01T00:01:05.000Z')).toEqual([
      64,
    ]);
    expect(await ids('q=0190b3a0-0000-7000-8000-000000000061')).toEqual([61]);
    expect(await ids(`q=person6&brand_id=${BRAND}`)).toEqual([]);
    expect(await ids('q=%25')).toEqual([]);
    const first = (await get('?q=person6&limit=2')).body;
    const second = (await get(`?q=person6&limit=2&cursor=${first.next_cursor}`)).body;
    const third = (await get(`?q=person6&limit=2&cursor=${second.next_cursor}`)).body;
    expect([first, second, third].map(page => page.data.map((user: { email: string }) => user.email))).toEqual([
      ['Person65@Example.test', 'Person64@Example.test'],
      ['Person63@Example.test', 'Person62@Example.test'],
      ['Person61@Example.test'],
    ]);
    expect(third.next_cursor).toBeNull();
    for (const query of ['limit=0', 'limit=101', 'cursor=nonsense', 'status=gone', 'q='])
      expect([query, (await get(`?${query}`)).status]).toEqual([query, 400]);
  });
});

describe('User in the graph', () => {
  const QUERY = 'query($id: ID!) { user(id: $id) { id status accountStatus email emailVerified phone brandId profile { handle } } }';
  const ask = async (id: string, token: string) => (await p.graphql(QUERY, { id }, { token })).data.user;

  test('has null where the caller may not know', async () => {
    const known = {
      id: DEMO,
      status: 'ACTIVE',
      accountStatus: 'ACTIVE',
      email: 'demo@example.test',
      emailVerified: true,
      phone: null,
      brandId: BRAND,
      profile: { handle: 'demo' },
    };
    expect(await ask(DEMO, service)).toEqual(known);
    expect(await ask(DEMO, staff)).toEqual(known);
    expect(await ask(DEMO, await p.userToken(DEMO, ['read:account']))).toEqual(known);
    const withoutContact = { ...known, accountStatus: null, email: null, emailVerified: null };
    expect(await ask(DEMO, await p.userToken(DEMO, ['read:profile']))).toEqual(withoutContact);
    expect(await ask(DEMO, await p.userToken(DEMO2, ['read:account', 'read:profile']))).toEqual({ ...withoutContact, brandId: null });
    expect(await ask(DEMO, await p.internalToken('clinical'))).toMatchObject({ email: null, brandId: BRAND });
  });

  test('is nobody to a stranger when its profile is not theirs to see', async () => {
    await setVisibility(DEMO2, 'private');
    expect(await ask(DEMO2, await p.userToken(DEMO, ['read:profile']))).toBeNull();
    await setVisibility(DEMO2, 'members');
  });

  test('tells a stranger the joining month only, never the dates', async () => {
    const { errors } = await p.graphql(
      'query($id: ID!) { user(id: $id) { createdAt } }',
      { id: DEMO },
      { token: await p.userToken(DEMO2, ['read:inbox']) },
    );
    expect(errors[0]!.extensions.code).toBe('INSUFFICIENT_SCOPE');
    const { data } = await p.graphql(
      'query($id: ID!) { user(id: $id) { createdAt updatedAt version } }',
      { id: DEMO },
      { token: await p.userToken(DEMO2, ['read:profile']) },
    );
    expect(data.user).toEqual({ createdAt: null, updatedAt: null, version: null });
  });

  test('settings of another user are null', async () => {
    const { data } = await p.graphql(
      'query($id: ID!) { user(id: $id) { settings { locale } } }',
      { id: DEMO },
      { token: await p.userToken(DEMO2, ['read:preferences']) },
    );
    expect(data.user.settings).toBeNull();
  });

  test('is resolved in batches, and an id that is not there is an erased user', async () => {
    const representations = [DEMO, NOBODY, DEMO2, 'not-a-uuid'].map(id => ({ __typename: 'User', id }));
    const query = 'query($r: [_Any!]!) { _entities(representations: $r) { ... on User { id status email profile { handle } } } }';
    const { body } = await p.rest('POST', '/identity/graphql', { token: service, body: { query, variables: { r: representations } } });
    expect(body.data._entities).toEqual([
      { id: DEMO, status: 'ACTIVE', email: 'demo@example.test', profile: { handle: 'demo' } },
      { id: NOBODY, status: 'ERASED', email: null, profile: null },
      { id: DEMO2, status: 'ACTIVE', email: 'demo2@example.test', profile: { handle: 'demo2' } },
      { id: 'not-a-uuid', status: 'ERASED', email: null, profile: null },
    ]);
  });

  test('an account whose profile is closed to the caller is told from an unknown one by nothing', async () => {
    await setVisibility(DEMO2, 'private');
    await p.sql(
      "insert into identity.badge (key, name, description, tier) values ('closed', 'Closed', 'For a test', 'none') on conflict do nothing",
    );
    await p.sql(
      "insert into identity.user_badge (id, user_id, badge_key, awarded_at, source) values (gen_random_uuid(), $1, 'closed', now(), 'staff')",
      [DEMO2],
    );
    const fields =
      'status accountStatus email emailVerified phone brandId profile { handle } badges { awardedAt } mfaEnabled lastSignInAt erasedAt';
    const query = `query($r: [_Any!]!) { _entities(representations: $r) { ... on User { ${fields} } } }`;
    const variables = { r: [DEMO2, NOBODY].map(id => ({ __typename: 'User', id })) };
    for (const token of [await p.userToken(DEMO, ['read:profile', 'read:account']), await p.serviceToken('admin:content')]) {
      const { body } = await p.rest('POST', '/identity/graphql', { token, body: { query, variables } });
      const [closed, unknown] = body.data._entities;
      expect(closed).toMatchObject({ status: 'ERASED', badges: [] });
      expect(closed).toEqual(unknown);
    }
    await setVisibility(DEMO2, 'members');
  });

  test('a stranger sees an account that cannot be used as erased, its owner and administrators as it is', async () => {
    await setStatus(DEMO2, 'banned');
    const query = 'query($r: [_Any!]!) { _entities(representations: $r) { ... on User { status profile { handle } } } }';
    const variables = { r: [{ __typename: 'User', id: DEMO2 }] };
    const as = async (token: string) =>
      (await p.rest('POST', '/identity/graphql', { token, body: { query, variables } })).body.data._entities[0];
    expect(await as(await p.userToken(DEMO, ['read:profile']))).toEqual({ status: 'ERASED', profile: null });
    expect(await as(service)).toEqual({ status: 'BANNED', profile: { handle: 'demo2' } });
    await expect(p.userToken(DEMO2, ['read:profile'])).rejects.toThrow(/no active user/);
    await setStatus(DEMO2, 'active');
  });

  test('joins the brand of platform', async () => {
    const { data } = await p.graphql(
      'query($id: ID!) { user(id: $id) { brand { id slug } } }',
      { id: DEMO },
      { token: await p.serviceToken() },
    );
    expect(data.user.brand).toEqual({ id: BRAND, slug: expect.any(String) });
  });
});
