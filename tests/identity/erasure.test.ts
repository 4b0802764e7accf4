import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { eraseUser } from '../../runtime/erasure/erasure.js';
import identity from '../../subgraphs/identity/index.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'], manualClock: false })));

const REQUEST = '0190b3a0-0000-7000-8000-00000000f001';
const erase = (scope: 'full' | 'health' | 'marketing', userId = DEMO2) =>
  p.host('identity').transaction(ctx => eraseUser(ctx, identity.erase, { userId, requestId: REQUEST, scope }));

const OWN = [
  'user_email',
  'user_profile',
  'user_settings',
  'credential_password',
  'external_identity',
  'auth_session',
  'oauth_grant',
  'token_family',
];
const rowsOf = async (table: string): Promise<number> =>
  (await p.sql(`select count(*)::int as n from identity.${table} where user_id = $1`, [DEMO2]))[0].n;

describe('erasure', () => {
  test('of health data finds nothing, of marketing the consent only', async () => {
    expect(await erase('health')).toEqual({ outcome: 'nothing_held', records: {} });
    expect(await erase('marketing')).toEqual({ outcome: 'nothing_held', records: {} });
    await p.sql(
      "update identity.user_settings set marketing_consent = true, marketing_consent_at = now(), marketing_consent_source = 'page' where user_id = $1",
      [DEMO2],
    );
    expect(await erase('marketing')).toEqual({ outcome: 'erased', records: { user_settings: 1 } });
    const [settings] = await p.sql('select * from identity.user_settings where user_id = $1', [DEMO2]);
    expect(settings).toMatchObject({ marketing_consent: false, marketing_consent_at: null, marketing_consent_source: null });
  });

  test('of an account leaves a tombstone and nothing else: tokens die, apps are told, the handle is held back', async () => {
    await p.sql(
      "insert into identity.external_identity (id, user_id, provider, subject, created_at) values (gen_random_uuid(), $1, 'acme', 'x', now())",
      [DEMO2],
    );
    const tokens = [
      await p.userToken(DEMO2, ['read:profile']),
      await p.userToken(DEMO2, ['read:profile'], { clientId: 'demo-partner-app' }),
    ];
    const invitation = { email: 'demo2@example.test', roles: ['support'] };
    await p.rest('POST', '/identity/v1/admin/staff/invite', { token: await p.serviceToken('admin:identity'), body: invitation });
    const outcome = await erase('full');
    expect(outcome).toEqual({
      outcome: 'erased',
      records: {
        token_family: 2,
        oauth_grant: 2,
        auth_session: 2,
        external_identity: 1,
        credential_password: 1,
        user_settings: 1,
        user_profile: 1,
        user_email: 1,
        user: 1,
      },
    });
    expect(await Promise.all(OWN.map(rowsOf))).toEqual(OWN.map(() => 0));
    expect(await p.sql("select 1 from identity.staff_member where email = 'demo2@example.test'")).toEqual([]);
    expect(await p.sql('select 1 from identity.auth_challenge')).toEqual([]);
    const [user] = await p.sql('select * from identity."user" where id = $1', [DEMO2]);
    expect(user).toMatchObject({ status: 'erased', phone: null, brand_id: null, last_sign_in_at: null, erased_at: expect.any(Date) });
    const events = await p.sql(
      "select data from events.outbox where user_id = $1 and data->>'reason' = 'user_erased' order by data->>'client_id'",
      [DEMO2],
    );
    expect(events.map(row => [row.data.client_id, row.data.status, row.data.scopes])).toEqual([
      ['demo-app', 'revoked', []],
      ['demo-partner-app', 'revoked', []],
    ]);
    for (const token of tokens)
      await until(
        'the token to be refused',
        async () => (await p.rest('GET', '/identity/v1/users/me', { token })).status,
        status => status === 401,
        2_000,
      );
    const [hold] = await p.sql("select * from identity.handle_hold where handle = 'demo2'");
    expect(hold.held_until.getTime() - user.erased_at.getTime()).toBe(90 * 86_400_000);
    const [audit] = await p.sql("select * from identity.audit_log where action = 'user.erased' and details->>'scope' = 'full'");
    expect(audit).toMatchObject({ target: DEMO2, details: { request_id: REQUEST, outcome: 'erased' } });
    expect(JSON.stringify(await p.sql('select * from identity.audit_log'))).not.toMatch(/example\.test/);
  });

  test('done again finds nothing', async () => {
    expect(await erase('full')).toEqual({ outcome: 'nothing_held', records: {} });
    expect(await erase('full', '0190b3a0-0000-7000-8000-00000000dead')).toEqual({ outcome: 'nothing_held', records: {} });
  });

  test('afterwards administrators see the tombstone, everybody else nobody, and no token is issued', async () => {
    const service = await p.serviceToken('admin:identity');
    const { body } = await p.rest('GET', `/identity/v1/admin/users/${DEMO2}`, { token: service });
    expect(body).toMatchObject({ id: DEMO2, status: 'erased', email: null, phone: null, profile: null, erased_at: expect.any(String) });
    expect((await p.rest('GET', '/identity/v1/admin/users/lookup?email=demo2@example.test', { token: service })).status).toBe(404);
    expect((await p.rest('GET', `/identity/v1/users/${DEMO2}/profile`, { token: service })).status).toBe(404);
    await expect(p.userToken(DEMO2, ['read:profile'])).rejects.toThrow(/no active user/);
  });

  test('lets the address register again at once, as a new user', async () => {
    const id = '0190b3a0-0000-7000-8000-0000000000b2';
    await p.sql('insert into identity."user" (id, status, created_at, updated_at) values ($1, \'active\', now(), now())', [id]);
    await p.sql("insert into identity.user_email (user_id, email, email_key) values ($1, 'demo2@example.test', 'demo2@example.test')", [
      id,
    ]);
    const { body } = await p.rest('GET', '/identity/v1/admin/users/lookup?email=demo2@example.test', {
      token: await p.serviceToken('admin:identity'),
    });
    expect(body.id).toBe(id);
  });
});
