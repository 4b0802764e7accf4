import { verify } from '@node-rs/argon2';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { adminScopeOf, SLUGS } from '../../events/slugs.js';
import { startPlatform } from '../../gateway/composition/platform.js';
import { loadConfig } from '../../runtime/config.js';
import { SERVICES } from '../../subgraphs/services.js';
import { ADMIN_SCOPES, USER_SCOPES } from '../../subgraphs/identity/rules/scopes.js';
import { ADMIN, BRAND, DEMO, DEMO2, freePort, platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ manualClock: false })));

const clients = async (): Promise<Record<string, any>> =>
  Object.fromEntries((await p.sql('select * from identity.oauth_client')).map(row => [row.id, row]));

describe('development data', () => {
  test('has an internal client for each service with its own scope and those of the table', async () => {
    const all = await clients();
    for (const slug of SLUGS) {
      expect(all[`svc-${slug}`]).toMatchObject({
        kind: 'machine',
        service_slug: slug,
        status: 'active',
        scopes: expect.arrayContaining([adminScopeOf(slug)]),
      });
    }
    const scopes = (slug: string): string[] => all[`svc-${slug}`].scopes;
    expect(scopes('comms')).toEqual(
      ['admin:booking', 'admin:comms', 'admin:commerce', 'admin:identity', 'admin:live', 'admin:payments'].sort(),
    );
    expect(scopes('jobs')).toEqual(['admin:capri', 'admin:commerce', 'admin:comms', 'admin:jobs', 'admin:payments']);
    expect(scopes('partner')).toEqual(['admin:capri', 'admin:identity']);
    expect(scopes('clinical')).toEqual(['admin:clinical']);
    expect(scopes('community')).toEqual(['admin:community', 'admin:entitlements', 'admin:identity', 'admin:membership']);
    expect(scopes('messaging')).toEqual(['admin:comms', 'admin:identity']);
    expect(scopes('payments')).toEqual(
      ['payments', 'commerce', 'cash', 'accounting', 'booking', 'identity', 'affiliates', 'entitlements', 'membership']
        .map(name => `admin:${name}`)
        .sort(),
    );
    expect(SLUGS.filter(slug => all[`svc-${slug}`].token_exchange)).toEqual(['ai']);
    expect(SLUGS.filter(slug => scopes(slug).includes('admin:clinical'))).toEqual(['clinical', 'labs']);
  });

  test('has the demo clients of the contract', async () => {
    const all = await clients();
    const user = Object.keys(USER_SCOPES);
    expect(all['demo-m2m']).toMatchObject({
      kind: 'machine',
      scopes: ADMIN_SCOPES,
      access_token_ttl_seconds: 3600,
      first_party: false,
      service_slug: null,
    });
    expect(all['demo-app']).toMatchObject({
      kind: 'public',
      first_party: true,
      staff_access: false,
      scopes: user,
      redirect_uris: ['http://localhost:5173/callback'],
    });
    expect(all['demo-partner-app']).toMatchObject({
      kind: 'confidential',
      first_party: false,
      scopes: user,
      redirect_uris: ['http://localhost:5174/callback'],
    });
    expect(all['demo-admin']).toMatchObject({
      kind: 'public',
      first_party: true,
      staff_access: true,
      redirect_uris: ['http://localhost:5175/callback'],
    });
    expect(all['demo-messages']).toMatchObject({
      kind: 'public',
      first_party: true,
      staff_access: false,
      scopes: ['read:inbox'],
      redirect_uris: [expect.stringMatching(/^http:.*\/comms\/m\/callback$/)],
    });
    expect([all['demo-app'].publisher, all['demo-partner-app'].publisher]).toEqual(['Main', 'Demo Partner Ltd']);
    expect(await p.sql('select 1 from identity.oauth_client_agreement')).toEqual([]);
  });

  test('has the people with their fixed ids and an argon2id password', async () => {
    const rows = await p.sql(
      'select u.id, u.brand_id, e.email, c.hash from identity."user" u join identity.user_email e on e.user_id = u.id join identity.credential_password c on c.user_id = u.id order by u.id',
    );
    expect(rows.map(row => [row.id, row.email, row.brand_id])).toEqual([
      [DEMO, 'demo@example.test', BRAND],
      [DEMO2, 'demo2@example.test', BRAND],
      [ADMIN, 'admin@example.test', BRAND],
    ]);
    for (const { hash } of rows) {
      expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
      expect(await verify(hash, 'Demo-Passw0rd-2026')).toBe(true);
    }
  });

  test('is made once: a second start changes nothing', async () => {
    const state = async () =>
      JSON.stringify([
        await p.sql('select id, version from identity.oauth_client order by id'),
        await p.sql('select id, version, created_at from identity."user" order by id'),
      ]);
    const before = await state();
    const again = await startPlatform({
      config: loadConfig({ ...p.env, PORT: String(await freePort()), ROLES: 'subgraphs,gateway,rest' }),
      services: SERVICES,
    });
    await again.stop();
    expect(await state()).toBe(before);
  });

  test('keeps production from starting', async () => {
    const env = { ...p.env, PORT: String(await freePort()), NODE_ENV: 'production', ROLES: 'subgraphs,gateway,rest' };
    await expect(startPlatform({ config: loadConfig(env), services: SERVICES })).rejects.toThrow(
      /development data is in this database: .*demo-m2m/,
    );
  });
});

describe('as platform_ro', () => {
  const asReader = async (text: string) => {
    const client = new pg.Client({ connectionString: p.env.DATABASE_URL });
    await client.connect();
    try {
      await client.query('set role platform_ro');
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };

  test.each([
    'user',
    'user_email',
    'user_profile',
    'credential_password',
    'oauth_client',
    'oauth_client_secret',
    'oauth_grant',
    'signing_key',
    'token_family',
    'audit_log',
  ])('table %s is closed', async table => {
    await expect(asReader(`select * from identity."${table}"`)).rejects.toThrow(/permission denied/);
  });

  test('the safe views show no personal, hashed or sealed column', async () => {
    const columns = async (view: string): Promise<string[]> => Object.keys((await asReader(`select * from identity.${view} limit 1`))[0]);
    expect(await columns('user_safe')).toEqual([
      'id',
      'status',
      'brand_id',
      'last_sign_in_at',
      'created_at',
      'updated_at',
      'erased_at',
      'version',
    ]);
    expect(await columns('oauth_grant_safe')).not.toContain('hash');
    const client = await columns('oauth_client_safe');
    for (const hidden of ['contacts', 'redirect_uris', 'hash', 'hint']) expect(client).not.toContain(hidden);
  });
});

test("the service's own role cannot change its feed or its audit", async () => {
  const client = new pg.Client({ connectionString: p.env.DATABASE_URL });
  await client.connect();
  await client.query('set role platform_identity');
  for (const text of [
    "update identity.token_revocation set value = 'x'",
    'delete from identity.audit_log',
    "update identity.audit_log set action = 'x'",
  ])
    await expect(client.query(text)).rejects.toThrow(/permission denied/);
  await client.end();
});
