import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, BRAND, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { BUILT_IN_ROLES } from '../../subgraphs/identity/rules/roles.js';
import { claimsOf } from './oauth.js';
import { until } from '../support/until.js';

let p: TestPlatform;
let service: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  service = await p.serviceToken('admin:identity');
});

const STAFF = { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'] };
const post = (path: string, body: object, token = service) => p.rest('POST', `/identity/v1/rbac/${path}`, { token, body });
const check = (query: string, token = service) => p.rest('GET', `/identity/v1/rbac/check?${query}`, { token });
const tick = () => p.clock('identity', { advance: 'PT2S' });

/** Makes somebody active staff without roles. */
const hire = (userId: string, n: number) =>
  p.sql(
    `insert into identity.staff_member (id, user_id, email, email_key, status, invited_by, invited_at) values ($1, $2, $3, $3, 'active', 'system:identity', now())`,
    [`0190b3a0-0000-7000-8000-0000000005${String(n).padStart(2, '0')}`, userId, `staff${n}@example.test`],
  );

describe('roles', () => {
  test('are listed for services and any active staff, not for users', async () => {
    const { status, body } = await p.rest('GET', '/identity/v1/rbac/roles', { token: service });
    expect(status).toBe(200);
    expect(body.data).toEqual([...BUILT_IN_ROLES].map(role => ({ ...role, built_in: true })).sort((a, b) => (a.key < b.key ? -1 : 1)));
    const owner = await p.userToken(ADMIN, ['read:profile'], STAFF);
    expect((await p.rest('GET', '/identity/v1/rbac/roles', { token: owner })).status).toBe(200);
    const user = await p.userToken(DEMO, ['read:profile']);
    expect((await p.rest('GET', '/identity/v1/rbac/roles', { token: user })).status).toBe(403);
  });

  test('of an installation hold only permissions that a contract names; built-in ones stay as they are', async () => {
    const upsert = (input: object) =>
      p.graphql('mutation($i: UpsertRoleInput!) { upsertRole(input: $i) { key permissions builtIn } }', { i: input }, { token: service });
    const wrong = await upsert({
      key: 'night_watch',
      name: 'Night',
      permissions: ['admin:live:read', 'admin:live:juggle', 'admin:nothing'],
    });
    expect(wrong.errors[0]!.extensions.errors!.map(one => one.pointer)).toEqual(['/input/permissions/1', '/input/permissions/2']);
    expect((await upsert({ key: 'owner', name: 'x', permissions: ['admin:live'] })).errors[0]!.extensions.code).toBe('CONFLICT');
    const made = await upsert({ key: 'night_watch', name: 'Night', permissions: ['admin:live:read'] });
    expect(made.data.upsertRole).toEqual({ key: 'night_watch', permissions: ['admin:live:read'], builtIn: false });
  });
});

describe('roles and permissions enter a token', () => {
  test('of active staff through a staff app with a second factor, and of nobody else', async () => {
    const power = async (userId: string, options: object) => {
      const { roles, permissions } = claimsOf(await p.userToken(userId, ['read:profile'], options));
      return [roles, permissions?.length];
    };
    expect(await power(ADMIN, STAFF)).toEqual([['owner'], 24]);
    expect(await power(ADMIN, { ...STAFF, clientId: 'demo-app' })).toEqual([undefined, undefined]);
    expect(await power(ADMIN, { ...STAFF, amr: ['pwd'] })).toEqual([undefined, undefined]);
    expect(await power(DEMO, STAFF)).toEqual([undefined, undefined]);
  });
});

describe('POST /v1/rbac/assignments', () => {
  test('gives a role once, ends the tokens that lack it, and lists every violation', async () => {
    await hire(DEMO, 1);
    const before = await p.userToken(DEMO, ['read:profile'], STAFF);
    const first = await post('assignments', { user_id: DEMO, role: 'support', reason: 'helps' });
    expect(first).toMatchObject({
      status: 201,
      body: { user_id: DEMO, role: { key: 'support' }, brand_id: null, granted_by: 'service:demo-m2m' },
    });
    const again = await post('assignments', { user_id: DEMO, role: 'support' });
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    await until(
      'the old token to end',
      async () => (await p.rest('GET', '/identity/v1/users/me', { token: before })).status,
      status => status === 401,
    );
    await tick();
    expect(claimsOf(await p.userToken(DEMO, ['read:profile'], STAFF))).toMatchObject({ roles: ['support'] });
    const wrong = await post('assignments', { user_id: DEMO, role: 'wizard', brand_id: 'x', expires_at: '2020-01-01T00:00:00.000Z' });
    expect([wrong.status, wrong.body.errors.map((one: any) => one.pointer)]).toEqual([400, ['/expires_at', '/brand_id', '/role']]);
    expect((await post('assignments', { user_id: '0190b3a0-0000-7000-8000-00000000dead', role: 'support' })).status).toBe(404);
  });

  test('by staff gives nothing beyond what they hold, and nothing to themselves', async () => {
    await hire(DEMO2, 2);
    await post('assignments', { user_id: DEMO2, role: 'admin' });
    await tick();
    const admin = await p.userToken(DEMO2, ['read:profile'], STAFF);
    expect((await post('assignments', { user_id: DEMO, role: 'owner' }, admin)).body).toMatchObject({ code: 'forbidden' });
    expect((await post('assignments', { user_id: DEMO2, role: 'finance' }, admin)).body).toMatchObject({ code: 'forbidden' });
    const given = await post('assignments', { user_id: DEMO, role: 'finance', brand_id: BRAND }, admin);
    expect(given).toMatchObject({ status: 201, body: { granted_by: `staff:${DEMO2}`, brand_id: BRAND } });
    await tick();
    const support = await p.userToken(DEMO, ['read:profile'], { ...STAFF, roles: ['support'], permissions: ['admin:identity:read'] });
    const refused = await post('assignments', { user_id: DEMO2, role: 'analyst' }, support);
    expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
    expect(refused.headers['www-authenticate']).toContain('scope="admin:identity:staff"');
  });
});

describe('GET /v1/rbac/check', () => {
  test('says whether somebody may do something, and why not', async () => {
    const reason = async (query: string) => (await check(query)).body.reason;
    const granted = await check(`user_id=${DEMO}&permission=admin:commerce:order`);
    expect(granted.body).toMatchObject({ allowed: true, reason: 'granted', matched: { role: 'support', permission: 'admin:commerce' } });
    expect(await reason(`user_id=${DEMO}&permission=admin:cash`)).toBe('brand_mismatch');
    expect(await reason(`user_id=${DEMO}&permission=admin:cash&brand_id=${BRAND}`)).toBe('granted');
    expect(await reason(`user_id=${DEMO}&permission=admin:identity:erasure`)).toBe('missing_permission');
    expect(await reason('user_id=0190b3a0-0000-7000-8000-00000000dead&permission=admin:cash')).toBe('not_staff');
    expect((await check(`user_id=${DEMO}&permission=admin:nothing`)).status).toBe(400);
    expect((await check('permission=admin:cash')).body.errors).toEqual([expect.objectContaining({ pointer: '/user_id' })]);
  });

  test('answers staff about themselves only', async () => {
    await tick();
    const staff = await p.userToken(DEMO, ['read:profile'], STAFF);
    expect((await check('permission=admin:commerce', staff)).body).toMatchObject({ user_id: DEMO, allowed: true });
    expect((await check(`user_id=${DEMO2}&permission=admin:commerce`, staff)).status).toBe(404);
    expect((await check('permission=admin:commerce', await p.userToken(DEMO, ['read:profile']))).status).toBe(403);
  });
});

describe('POST /v1/rbac/assignments/revoke', () => {
  test('takes a role away, by id or by user and role, and finds none twice', async () => {
    expect((await post('assignments/revoke', { user_id: DEMO, role: 'support' })).body.revoked_at).toMatch(/Z$/);
    expect((await post('assignments/revoke', { user_id: DEMO, role: 'support' })).status).toBe(404);
    expect((await check(`user_id=${DEMO}&permission=admin:commerce`)).body.reason).toBe('missing_permission');
    expect((await post('assignments/revoke', { user_id: DEMO })).status).toBe(400);
    expect((await post('assignments/revoke', { assignment_id: 'x', role: 'support' })).status).toBe(400);
  });

  test('leaves the last active owner in place, also when two owners are taken away at once', async () => {
    const owner = await p.sql("select id from identity.role_assignment where role = 'owner' and revoked_at is null");
    expect(await post('assignments/revoke', { assignment_id: owner[0].id })).toMatchObject({ status: 409, body: { reason: 'last_owner' } });
    await post('assignments', { user_id: DEMO, role: 'owner' });
    const both = await Promise.all([ADMIN, DEMO].map(user_id => post('assignments/revoke', { user_id, role: 'owner' })));
    expect(both.map(one => one.status).sort((a, b) => (a < b ? -1 : 1))).toEqual([200, 409]);
  });
});
