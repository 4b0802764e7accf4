import { beforeAll, describe, expect, test } from 'vitest';
import { StaffMemberStatus } from '../../subgraphs/identity/entities/staff.js';
import { resendWait, STAFF, type StaffTrigger } from '../../subgraphs/identity/rules/staff.js';
import { ADMIN, BRAND, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { claimsOf } from './oauth.js';

let p: TestPlatform;
let service: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  await p.clock('identity', { now: '2030-01-01T00:00:00.000Z' });
  service = await p.serviceToken('admin:identity');
});

const NOBODY = '0190b3a0-0000-7000-8000-00000000dead';
const APP = { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'] };
const call = (method: string, path: string, body?: object, token = service) =>
  p.rest(method, `/identity/v1/admin/staff${path}`, { token, body });
const invite = (email: string, more: object = {}, token = service) =>
  call('POST', '/invite', { email, roles: ['support'], ...more }, token);
const act = (id: string, what: string, body: object = {}, token = service) => call('POST', `/${id}/${what}`, body, token);
const tick = () => p.clock('identity', { advance: 'PT2S' });

/** Makes somebody active staff with a role, as an accepted invitation does. */
async function hire(userId: string, email: string, role: string): Promise<string> {
  const { body } = await invite(email, { roles: [role] });
  await p.sql("update identity.staff_member set status = 'active', user_id = $2, accepted_at = now() where id = $1", [body.id, userId]);
  expect((await p.rest('POST', '/identity/v1/rbac/assignments', { token: service, body: { user_id: userId, role } })).status).toBe(201);
  await tick();
  return body.id;
}

describe('the states of an entry', () => {
  const triggers: StaffTrigger[] = ['accept', 'expire', 'resend', 'revoke', 'suspend', 'activate', 'remove'];
  test('know a next state for each state and trigger, or none', () => {
    const table = Object.values(StaffMemberStatus).map(state => [state, ...triggers.map(trigger => STAFF[state][trigger] ?? null)]);
    expect(table).toEqual([
      ['invited', 'active', 'expired', 'invited', 'revoked', null, null, null],
      ['active', null, null, null, null, 'suspended', null, 'removed'],
      ['suspended', null, null, null, null, null, 'active', 'removed'],
      ['removed', null, null, null, null, null, null, null],
      ['revoked', null, null, null, null, null, null, null],
      ['expired', null, null, 'invited', null, null, null, null],
    ]);
  });

  test.each([
    ['2030-01-01T00:00:00.000Z', 60],
    ['2030-01-01T00:00:59.001Z', 1],
    ['2030-01-01T00:01:00.000Z', 0],
    ['2030-02-01T00:00:00.000Z', 0],
  ])('let an invitation of midnight be sent again at %s in %i s', (now, seconds) => {
    expect(resendWait(new Date('2030-01-08T00:00:00.000Z'), new Date(now))).toBe(seconds);
  });
});

describe('POST /v1/admin/staff/invite', () => {
  test('makes an entry for seven days and asks comms to send it, without address or link', async () => {
    const names = { display_name: 'Kit', title: 'Agent', department: 'Care', brand_id: BRAND, message: 'Welcome' };
    const { status, headers, body } = await invite('Kit@example.test', { ...names, roles: ['support', 'analyst'] });
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        email: 'Kit@example.test',
        display_name: 'Kit',
        title: 'Agent',
        department: 'Care',
        brand_id: BRAND,
        status: 'invited',
        user: null,
        roles: [],
        invited_roles: ['analyst', 'support'],
        invited_by: 'service:demo-m2m',
        invited_at: '2030-01-01T00:00:00.000Z',
        invite_expires_at: '2030-01-08T00:00:00.000Z',
      }),
    ]);
    expect(headers.location ?? '').not.toContain('invite/invite');
    const [event] = await p.sql("select data from events.outbox where type = 'comms.message.send_requested.v1' order by seq desc limit 1");
    const [challenge] = await p.sql('select id from identity.auth_challenge where staff_id = $1', [body.id]);
    expect(event.data).toMatchObject({
      recipient_type: 'staff',
      recipient_id: body.id,
      template: 'staff_invitation',
      params: { challenge_id: challenge.id },
    });
    expect(JSON.stringify(event.data)).not.toMatch(/@|https?:|Kit|Welcome/);
  });

  test('is refused with 409 for an open invitation, for a member, and for a member under another address', async () => {
    expect((await invite('kit@EXAMPLE.test')).body).toMatchObject({ status: 409, reason: 'staff_exists' });
    expect((await invite('admin@example.test')).status).toBe(409);
    await p.sql("update identity.staff_member set email = 'boss@example.test', email_key = 'boss@example.test' where user_id = $1", [
      ADMIN,
    ]);
    expect((await invite('admin@example.test')).status).toBe(409);
    const both = await Promise.all([invite('twin@example.test'), invite('twin@example.test')]);
    expect(both.map(one => one.status).sort((a, b) => a - b)).toEqual([201, 409]);
  });

  test('lists every violation', async () => {
    const { status, body } = await invite('x', { roles: [], brand_id: 'x', message: 'x'.repeat(501), nick: 1 });
    expect(status).toBe(400);
    expect(body.errors.map((one: any) => one.pointer).sort()).toEqual(['/email', '/message', '/nick', '/roles']);
    expect((await invite('new@example.test', { roles: ['support', 'wizard'] })).body.errors).toEqual([
      expect.objectContaining({ pointer: '/roles/1' }),
    ]);
    expect((await invite('new@example.test', { brand_id: 'x' })).body.errors).toEqual([expect.objectContaining({ pointer: '/brand_id' })]);
  });

  test('by staff gives no permission that they lack, and needs admin:identity:staff', async () => {
    await hire(DEMO2, 'demo2@example.test', 'admin');
    const admin = await p.userToken(DEMO2, ['read:profile'], APP);
    expect((await invite('own@example.test', { roles: ['owner'] }, admin)).body).toMatchObject({ status: 403, code: 'forbidden' });
    expect((await invite('fin@example.test', { roles: ['finance'] }, admin)).body).toMatchObject({ invited_by: `staff:${DEMO2}` });
    const support = await p.userToken(DEMO, ['read:profile'], { ...APP, roles: ['support'], permissions: ['admin:identity:read'] });
    const refused = await invite('no@example.test', {}, support);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([403, expect.stringContaining('scope="admin:identity:staff"')]);
  });

  test('is open to one inviter 50 times an hour', async () => {
    await p.clock('identity', { advance: 'PT1H' });
    for (let n = 0; n < 50; n++) expect((await invite(`many${n}@example.test`)).status).toBe(201);
    const over = await invite('over@example.test');
    expect([over.status, Number(over.headers['retry-after']) > 3500]).toEqual([429, true]);
    await p.clock('identity', { advance: 'PT1H' });
    expect((await invite('over@example.test')).status).toBe(201);
  });
});

describe('an invitation', () => {
  test('is sent again once a minute, the old link dead and seven days ahead', async () => {
    const { body } = await invite('again@example.test');
    const soon = await act(body.id, 'resend');
    expect([soon.status, soon.headers['retry-after']]).toEqual([429, '60']);
    await p.clock('identity', { advance: 'PT1M' });
    const again = await act(body.id, 'resend');
    expect(again.status).toBe(200);
    expect(Date.parse(again.body.invite_expires_at) - Date.parse(body.invite_expires_at)).toBe(60_000);
    const open = await p.sql(
      'select 1 from identity.auth_challenge where staff_id = $1 and consumed_at is null and link_sealed is not null',
      [body.id],
    );
    expect(open).toHaveLength(1);
  });

  test('is over after seven days without a call; sent again it is open', async () => {
    const { body } = await invite('late@example.test');
    await p.clock('identity', { advance: 'P7D' });
    const listed = await p.rest('GET', '/identity/v1/admin/staff?status=expired&q=late', { token: service });
    expect(listed.body.data.map((one: any) => one.id)).toEqual([body.id]);
    expect((await act(body.id, 'revoke')).status).toBe(409);
    expect((await act(body.id, 'resend')).body.status).toBe('invited');
  });

  test('that is taken back is over for good; the address can be invited anew', async () => {
    const { body } = await invite('back@example.test');
    expect((await act(body.id, 'revoke')).body.status).toBe('revoked');
    for (const what of ['resend', 'revoke', 'suspend', 'remove']) expect((await act(body.id, what)).status).toBe(409);
    const anew = await invite('back@example.test');
    expect([anew.status, anew.body.id === body.id]).toEqual([201, false]);
    for (const what of ['resend', 'revoke', 'suspend', 'remove']) expect((await act(NOBODY, what)).status).toBe(404);
  });
});

describe('a member of staff', () => {
  let id: string;
  const power = async () => claimsOf(await p.userToken(DEMO, ['read:profile'], APP)).roles;
  const dies = (token: string) =>
    until(
      'the token to end',
      async () => (await p.rest('GET', '/identity/v1/users/me', { token })).status,
      status => status === 401,
    );

  test('is changed by merge patch under its version', async () => {
    id = await hire(DEMO, 'demo@example.test', 'support');
    const changed = await call('PATCH', `/${id}`, { title: 'Lead', department: null, display_name: 'Dee', visible_in_team: false });
    expect(changed.body).toMatchObject({ title: 'Lead', department: null, display_name: 'Dee', visible_in_team: false, status: 'active' });
    expect((await call('PATCH', `/${id}`, { title: 'x', version: changed.body.version - 1 })).body).toMatchObject({
      status: 409,
      reason: 'version_conflict',
    });
    expect((await call('PATCH', `/${id}`, { status: 'suspended' })).body.errors).toEqual([expect.objectContaining({ pointer: '/status' })]);
    expect((await call('PATCH', `/${id}`, { email: 'x@example.test' })).status).toBe(400);
    expect((await call('PATCH', `/${NOBODY}`, { title: 'x' })).status).toBe(404);
    expect((await call('PATCH', `/${id}`, { visible_in_team: true })).body.visible_in_team).toBe(true);
  });

  test('who is suspended loses power at once and keeps the roles; PATCH status=active gives it back', async () => {
    const old = await p.userToken(DEMO, ['read:profile'], APP);
    expect(claimsOf(old).roles).toEqual(['support']);
    const suspended = await act(id, 'suspend', { reason: 'holiday' });
    expect(suspended.body).toMatchObject({ status: 'suspended', status_reason: 'holiday', roles: [{ role: { key: 'support' } }] });
    await dies(old);
    await tick();
    expect(await power()).toBeUndefined();
    expect((await act(id, 'suspend')).status).toBe(409);
    expect((await call('PATCH', `/${id}`, { status: 'active' })).body).toMatchObject({ status: 'active', status_reason: null });
    await tick();
    expect(await power()).toEqual(['support']);
  });

  test('does nothing to the own entry, and gives back no power that they lack', async () => {
    const [owner] = await p.sql('select id from identity.staff_member where user_id = $1', [ADMIN]);
    const [admin] = await p.sql("select id from identity.staff_member where user_id = $1 and status = 'active'", [DEMO2]);
    const token = await p.userToken(DEMO2, ['read:profile'], APP);
    for (const what of ['suspend', 'remove']) expect((await act(admin.id, what, {}, token)).body).toMatchObject({ code: 'forbidden' });
    expect((await call('PATCH', `/${admin.id}`, { title: 'Queen' }, token)).status).toBe(403);
    await p.rest('POST', '/identity/v1/rbac/assignments', { token: service, body: { user_id: DEMO, role: 'owner' } });
    expect((await act(owner.id, 'suspend', {}, token)).status).toBe(200);
    expect((await call('PATCH', `/${owner.id}`, { status: 'active' }, token)).body).toMatchObject({ code: 'forbidden' });
    expect((await call('PATCH', `/${owner.id}`, { status: 'active' })).status).toBe(200);
  });

  test('who is the last active owner cannot be suspended, removed or banned; of two owners one goes at once', async () => {
    const [owner] = await p.sql('select id from identity.staff_member where user_id = $1', [ADMIN]);
    const both = await Promise.all([act(owner.id, 'remove'), act(id, 'remove')]);
    expect(both.map(one => one.status).sort((a, b) => a - b)).toEqual([200, 409]);
    const last = both[0]!.status === 409 ? { id: owner.id, user: ADMIN } : { id, user: DEMO };
    for (const what of ['suspend', 'remove']) expect((await act(last.id, what)).body).toMatchObject({ status: 409, reason: 'last_owner' });
    const ban = await p.rest('POST', `/identity/v1/admin/users/${last.user}/ban`, { token: service, body: { reason_code: 'fraud' } });
    expect(ban.body).toMatchObject({ status: 409, reason: 'last_owner' });
  });

  test('who is removed or banned is gone for good, without roles', async () => {
    const [admin] = await p.sql("select id from identity.staff_member where user_id = $1 and status = 'active'", [DEMO2]);
    const old = await p.userToken(DEMO2, ['read:profile'], APP);
    expect((await act(admin.id, 'remove', { reason: 'left' })).body).toMatchObject({ status: 'removed', roles: [], status_reason: 'left' });
    await dies(old);
    for (const what of ['suspend', 'remove']) expect((await act(admin.id, what)).status).toBe(409);
    const hired = await hire(DEMO2, 'demo2b@example.test', 'support');
    await p.rest('POST', `/identity/v1/admin/users/${DEMO2}/ban`, { token: service, body: { reason_code: 'fraud' } });
    const [row] = await p.sql('select status from identity.staff_member where id = $1', [hired]);
    expect(row.status).toBe('removed');
  });
});

describe('staff are found', () => {
  test('by filter and page', async () => {
    const list = async (query: string) => (await p.rest('GET', `/identity/v1/admin/staff?${query}`, { token: service })).body;
    const first = await list('limit=30&status=invited&q=MANY');
    expect([first.data.length, first.next_cursor === null]).toEqual([0, true]); // they are over
    const expired = await list('limit=30&status=expired&q=MANY');
    const rest = await list(`limit=30&status=expired&q=MANY&cursor=${expired.next_cursor}`);
    expect([expired.data.length, rest.data.length, rest.next_cursor]).toEqual([30, 20, null]);
    expect((await list('role=owner')).data).toHaveLength(1);
    expect((await list('role=finance')).data).toEqual([]);
    expect((await p.rest('GET', '/identity/v1/admin/staff?status=gone', { token: service })).status).toBe(400);
  });

  test('by e-mail, user or entry, in order, up to 100 at once', async () => {
    const [kit] = await p.sql("select id from identity.staff_member where email_key = 'kit@example.test'");
    const [owner] = await p.sql("select user_id, email from identity.staff_member s where s.status = 'active'");
    const identities = [
      { staff_id: kit.id },
      { email: 'nobody@example.test' },
      { user_id: owner.user_id },
      { email: owner.email.toUpperCase() },
    ];
    const { status, body } = await call('POST', '/resolve', { identities });
    expect(status).toBe(200);
    expect(body.data.map((one: any) => one.staff?.email ?? null)).toEqual(['Kit@example.test', null, owner.email, owner.email]);
    expect(body.data[1].identity).toEqual({ email: 'nobody@example.test', user_id: null, staff_id: null });
    expect((await call('POST', '/resolve', { identities: [{}, { email: 'a@b.test', user_id: DEMO }] })).body.errors).toHaveLength(2);
    expect((await call('POST', '/resolve', { identities: Array.from({ length: 101 }, () => ({ staff_id: kit.id })) })).status).toBe(400);
  });

  test('by other services with id, status and roles only', async () => {
    const [row] = await p.sql("select id from identity.staff_member where status = 'active'");
    const token = await p.internalToken('content');
    const ask = (fields: string) => p.graphql(`query($id: ID!) { staffMember(id: $id) { ${fields} } }`, { id: row.id }, { token });
    expect((await ask('id status roles { role { key } }')).data.staffMember).toMatchObject({
      id: row.id,
      status: 'ACTIVE',
      roles: expect.arrayContaining([{ role: { key: 'owner' } }]),
    });
    const more = await ask('id email');
    expect([more.data?.staffMember?.email ?? null, ['FORBIDDEN', 'INSUFFICIENT_SCOPE'].includes(more.errors[0]!.extensions.code)]).toEqual([
      null,
      true,
    ]);
  });
});

test('GET /v1/internal-team shows active colleagues who let themselves be seen to any active staff, and to no user', async () => {
  const [owner] = await p.sql("select user_id as id from identity.staff_member where status = 'active'");
  const team = (token: string) => p.rest('GET', '/identity/v1/internal-team', { token });
  const finance = await p.userToken(owner.id, ['read:profile'], { ...APP, roles: ['finance'], permissions: ['admin:cash'] });
  const { status, body } = await team(finance);
  expect([status, body.data.length]).toEqual([200, 1]);
  expect(Object.keys(body.data[0]).sort()).toEqual(['avatar_url', 'department', 'display_name', 'email', 'id', 'title']);
  expect((await team(service)).status).toBe(200);
  expect((await team(await p.userToken(owner.id, ['read:profile']))).status).toBe(403);
});
