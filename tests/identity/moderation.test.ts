import { beforeAll, describe, expect, test } from 'vitest';
import { ModerationActionKind } from '../../subgraphs/identity/entities/moderation.js';
import { UserStatus } from '../../subgraphs/identity/entities/user.js';
import { MODERATION, suspensionEnd } from '../../subgraphs/identity/rules/moderation.js';
import { ADMIN, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

let p: TestPlatform;
let service: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  service = await p.serviceToken('admin:identity');
});

const NOW = new Date('2026-06-01T12:00:00.000Z');
const STAFF = { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'] };
const act = (userId: string, what: string, body: object, token = service) =>
  p.rest('POST', `/identity/v1/admin/users/${userId}/${what}`, { token, body });
const moderation = (userId: string, token = service) => p.rest('GET', `/identity/v1/admin/users/${userId}/moderation`, { token });
const me = async (token: string): Promise<number> => (await p.rest('GET', '/identity/v1/users/me', { token })).status;
const ended = (token: string) =>
  until(
    'the token to end',
    () => me(token),
    status => status === 401,
  );

describe('the rules of moderation', () => {
  const states = Object.values(UserStatus);
  const kinds = Object.values(ModerationActionKind);
  test('know a next state for each state and action, or none', () => {
    const table = states.map(state => [state, ...kinds.map(kind => MODERATION[state][kind] ?? null)]);
    expect(table).toEqual([
      ['pending', 'banned', null, null],
      ['active', 'banned', 'suspended', null],
      ['suspended', 'banned', 'suspended', 'active'],
      ['banned', null, null, 'active'],
      ['erasing', null, null, null],
      ['erased', null, null, null],
    ]);
  });

  test.each([
    [{}, /either/],
    [{ until: NOW, durationSeconds: 60 }, /either/],
    [{ until: NOW }, /future/],
    [{ until: new Date(NOW.getTime() + 365 * 86_400_000 + 1) }, /365 days/],
  ])('refuse the term %j', (term, message) => expect((suspensionEnd(term, NOW) as { message: string }).message).toMatch(message));

  test.each([
    [{ durationSeconds: 60 }, '2026-06-01T12:01:00.000Z'],
    [{ durationSeconds: 31_536_000 }, '2027-06-01T12:00:00.000Z'],
    [{ until: new Date('2026-06-02T00:00:00.000Z') }, '2026-06-02T00:00:00.000Z'],
  ])('end the term %j at %s', (term, end) => expect((suspensionEnd(term, NOW) as Date).toISOString()).toBe(end));
});

describe('a ban', () => {
  test('ends the tokens of the user, hides the profile, refuses the sign-in; a reinstatement opens the account, old tokens stay dead', async () => {
    const old = await p.userToken(DEMO, ['read:profile']);
    const stranger = await p.userToken(DEMO2, ['read:profile']);
    const banned = await act(DEMO, 'ban', { reason_code: 'fraud', note: 'card testing' });
    expect(banned).toMatchObject({ status: 200, body: { id: DEMO, moderation: { status: 'banned', reason_code: 'fraud', until: null } } });
    await ended(old);
    expect((await p.rest('GET', `/identity/v1/users/${DEMO}/profile`, { token: stranger })).status).toBe(404);
    await expect(p.userToken(DEMO, ['read:profile'])).rejects.toThrow(/no active user/);
    expect((await act(DEMO, 'ban', { reason_code: 'fraud' })).status).toBe(409);
    expect(await act(DEMO, 'reinstate', { reason_code: 'other' })).toMatchObject({
      status: 200,
      body: { moderation: { status: 'active', since: null } },
    });
    await p.clock('identity', { advance: 'PT2S' });
    expect(await me(await p.userToken(DEMO, ['read:profile']))).toBe(200);
    expect(await me(old)).toBe(401);
    const history = (await moderation(DEMO)).body.history;
    expect(history.map((one: any) => [one.kind, one.reason_code, one.note, one.actor])).toEqual([
      ['reinstate', 'other', null, 'service:demo-m2m'],
      ['ban', 'fraud', 'card testing', 'service:demo-m2m'],
    ]);
  });

  test('asks for a message to the user, without the note', async () => {
    const sent = await p.sql(
      "select data from events.outbox where type = 'comms.message.send_requested.v1' and user_id = $1 order by seq",
      [DEMO],
    );
    expect(sent.map(row => row.data.params)).toEqual([{ kind: 'account_banned' }, { kind: 'account_reinstated' }]);
    expect(JSON.stringify(sent)).not.toContain('card testing');
  });

  test('of the last active owner, of an account that is gone, and of nobody is refused', async () => {
    expect(await act(ADMIN, 'ban', { reason_code: 'abuse' })).toMatchObject({ status: 409, body: { reason: 'last_owner' } });
    expect((await act('0190b3a0-0000-7000-8000-00000000dead', 'ban', { reason_code: 'abuse' })).status).toBe(404);
    expect((await act(DEMO, 'ban', {})).body.errors).toEqual([expect.objectContaining({ pointer: '/reason_code' })]);
  });
});

describe('a suspension', () => {
  test('of 60 seconds ends without a call, and the history shows both', async () => {
    const old = await p.userToken(DEMO2, ['read:profile']);
    const suspended = await act(DEMO2, 'suspend', { reason_code: 'spam', duration_seconds: 60 });
    expect(suspended).toMatchObject({
      status: 200,
      body: { moderation: { status: 'suspended', reason_code: 'spam', until: expect.any(String) } },
    });
    await ended(old);
    await p.clock('identity', { advance: 'PT59S' });
    expect((await moderation(DEMO2)).body.status).toBe('suspended');
    await p.clock('identity', { advance: 'PT1S' });
    const { body } = await moderation(DEMO2);
    expect(body).toMatchObject({ status: 'active', since: null, until: null });
    expect(body.history.map((one: any) => [one.kind, one.actor])).toEqual([
      ['reinstate', 'system:svc-identity'],
      ['suspend', 'service:demo-m2m'],
    ]);
    expect(await me(await p.userToken(DEMO2, ['read:profile']))).toBe(200);
    expect(await me(old)).toBe(401);
  });

  test('is replaced by a longer one, and a ban lasts when its time is over', async () => {
    await act(DEMO2, 'suspend', { reason_code: 'spam', duration_seconds: 60 });
    const later = await act(DEMO2, 'suspend', { reason_code: 'abuse', duration_seconds: 120 });
    expect(later.body.moderation).toMatchObject({ status: 'suspended', reason_code: 'abuse' });
    await p.clock('identity', { advance: 'PT90S' });
    expect((await moderation(DEMO2)).body.status).toBe('suspended');
    await act(DEMO2, 'ban', { reason_code: 'abuse' });
    await p.clock('identity', { advance: 'PT1H' });
    expect((await moderation(DEMO2)).body.status).toBe('banned');
    await act(DEMO2, 'reinstate', { reason_code: 'other', notify: false });
  });

  test('needs exactly one of until and duration_seconds, within bounds', async () => {
    for (const body of [
      {},
      { until: '2099-01-01T00:00:00.000Z' },
      { duration_seconds: 59 },
      { duration_seconds: 60, until: '2027-01-01T00:00:00.000Z' },
    ])
      expect((await act(DEMO2, 'suspend', { reason_code: 'spam', ...body })).status).toBe(400);
  });
});

describe('staff', () => {
  test('with the role support read an account and may not ban it; the refusal names the permission', async () => {
    const support = await p.userToken(DEMO, ['read:profile'], {
      ...STAFF,
      roles: ['support'],
      permissions: ['admin:identity:read', 'admin:payments:read'],
    });
    expect((await p.rest('GET', `/identity/v1/admin/users/${DEMO2}`, { token: support })).status).toBe(200);
    const refused = await act(DEMO2, 'ban', { reason_code: 'spam' }, support);
    expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
    expect(refused.headers['www-authenticate']).toContain('scope="admin:identity:moderate"');
  });

  test('who moderate cannot ban themselves', async () => {
    const moderator = await p.userToken(DEMO, ['read:profile'], {
      ...STAFF,
      roles: ['moderator'],
      permissions: ['admin:identity:moderate'],
    });
    expect((await act(DEMO, 'ban', { reason_code: 'spam' }, moderator)).status).toBe(403);
  });

  test('through an app without staff access have no roles and reach no admin path', async () => {
    const token = await p.userToken(ADMIN, ['read:profile'], { ...STAFF, clientId: 'demo-app' });
    expect((await p.rest('GET', `/identity/v1/admin/users/${DEMO}`, { token })).status).toBe(403);
    expect((await moderation(DEMO, token)).status).toBe(403);
  });

  test('who are banned lose the job and its roles', async () => {
    await p.sql(
      "insert into identity.staff_member (id, user_id, email, email_key, status, invited_by, invited_at) values (gen_random_uuid(), $1, 'd@example.test', 'd@example.test', 'active', 'x', now())",
      [DEMO],
    );
    await p.rest('POST', '/identity/v1/rbac/assignments', { token: service, body: { user_id: DEMO, role: 'support' } });
    await act(DEMO, 'ban', { reason_code: 'abuse' });
    expect(await p.sql('select status from identity.staff_member where user_id = $1', [DEMO])).toEqual([{ status: 'removed' }]);
    expect(await p.sql('select 1 from identity.role_assignment where user_id = $1 and revoked_at is null', [DEMO])).toEqual([]);
    await act(DEMO, 'reinstate', { reason_code: 'other' });
  });
});

test('a user sees status, end and reason of the own account, and no history', async () => {
  await p.clock('identity', { advance: 'PT2S' });
  const token = await p.userToken(DEMO, ['read:profile']);
  const { data } = await p.graphql('{ me { moderation { status until reasonCode } } }', {}, { token });
  expect(data.me.moderation).toEqual({ status: 'ACTIVE', until: null, reasonCode: null });
  const more = await p.graphql('{ me { moderation { history { note } } } }', {}, { token });
  expect(more.errors[0]!.extensions.code).toBe('FORBIDDEN');
});
