import { beforeAll, describe, expect, test } from 'vitest';
import pg from 'pg';
import { startPlatform } from '../../gateway/composition/platform.js';
import { loadConfig } from '../../runtime/config.js';
import { SERVICES } from '../../subgraphs/services.js';
import { atEnd } from '../support/at-end.js';
import { dropDatabase } from '../support/database.js';
import { DEMO, DEMO2, platform, platformEnv, seededDatabase, type TestPlatform } from '../support/platform.js';
import { mintUserToken } from './mint.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));

const PARTNER = { clientId: 'demo-partner-app' };
const APPS = '/identity/v1/users/me/connected-apps';

const REPORT = 'mutation($input: ReportScopeUseInput!) { reportScopeUse(input: $input) }';
const report = async (uses: object[]) => p.graphql(REPORT, { input: { uses } }, { token: await p.internalToken('platform') });
const appsOf = async (token: string): Promise<any[]> => (await p.rest('GET', APPS, { token })).body.data;

describe('connected apps', () => {
  test('a user sees the apps with access, each scope in words, and whether it opens health data', async () => {
    await p.userToken(DEMO, ['read:profile', 'read:inbox'], PARTNER);
    const own = await p.userToken(DEMO, ['manage:connected_apps']);
    const apps = await appsOf(own);
    const partner = apps.find(one => one.client.id === 'demo-partner-app');
    expect(partner).toMatchObject({ client: { first_party: false, name: expect.any(String) }, grant_id: expect.any(String), devices: 1 });
    expect(partner.scopes).toEqual([
      {
        name: 'read:inbox',
        title: 'See your messages, conversations and notifications',
        sensitive: false,
        granted_at: expect.any(String),
        last_used_at: null,
      },
      {
        name: 'read:profile',
        title: 'See your handle, name, avatar, bio and badges',
        sensitive: false,
        granted_at: expect.any(String),
        last_used_at: null,
      },
    ]);
    expect(new Set(apps.map(one => one.client.id))).toEqual(new Set(['demo-app', 'demo-partner-app']));
  });

  test("a gateway's report shows as the last use of exactly the scopes that the user granted; a later one never moves it back", async () => {
    await p.userToken(DEMO, ['read:profile', 'read:inbox'], PARTNER);
    const own = await p.userToken(DEMO, ['manage:connected_apps']);
    const use = { clientId: 'demo-partner-app', userId: DEMO, scope: 'read:inbox' };
    const foreign = [
      { ...use, scope: 'read:payments' },
      { ...use, userId: DEMO2 },
      { ...use, userId: 'nobody' },
      { ...use, clientId: 'no-app' },
    ];
    const answer = await report([
      { ...use, secondsAgo: 50 },
      { ...use, secondsAgo: 10 },
      ...foreign.map(one => ({ ...one, secondsAgo: 0 })),
    ]);
    expect(answer.data).toEqual({ reportScopeUse: 1 });
    const seen = async () => (await appsOf(own)).find(one => one.client.id === 'demo-partner-app');
    const first = await seen();
    const [inbox, profile] = first.scopes;
    expect(profile.last_used_at).toBeNull();
    expect(Date.parse(first.last_used_at)).toBeGreaterThanOrEqual(Date.parse(inbox.last_used_at));
    await report([{ ...use, secondsAgo: 3600 }]);
    expect((await seen()).scopes[0]).toEqual(inbox);
  });

  test('only internal clients report', async () => {
    const use = { clientId: 'demo-partner-app', userId: DEMO, scope: 'read:inbox', secondsAgo: 0 };
    for (const token of [await p.serviceToken(), await p.userToken(DEMO, ['read:profile'])])
      expect((await p.graphql(REPORT, { input: { uses: [use] } }, { token })).errors[0]!.extensions.code).toBe('FORBIDDEN');
  });

  test('a service token has no user to show apps of', async () => {
    expect((await p.rest('GET', APPS, { token: await p.serviceToken() })).status).toBe(403);
  });
});

describe('taking one scope back', () => {
  const withdraw = (token: string, client: string, scope: string) => p.rest('DELETE', `${APPS}/${client}/scopes/${scope}`, { token });

  test('ends the devices that hold it, keeps the other scopes, and is remembered as declined', async () => {
    const held = await p.userToken(DEMO2, ['read:profile', 'read:inbox'], PARTNER);
    const without = await p.userToken(DEMO2, ['read:profile'], PARTNER);
    const own = await p.userToken(DEMO2, ['manage:connected_apps']);
    expect((await withdraw(own, 'demo-partner-app', 'read:inbox')).status).toBe(204);
    await expect.poll(async () => (await p.rest('GET', '/identity/v1/users/me', { token: held })).status).toBe(401);
    expect((await p.rest('GET', '/identity/v1/users/me', { token: without })).status).toBe(200);
    const [grant] = await p.sql('select scopes, declined_scopes from identity.oauth_grant where user_id = $1 and client_id = $2', [
      DEMO2,
      'demo-partner-app',
    ]);
    expect(grant).toEqual({ scopes: ['read:profile'], declined_scopes: ['read:inbox'] });
    expect((await withdraw(own, 'demo-partner-app', 'read:inbox')).status).toBe(404);
  });

  test('the last one disconnects the app', async () => {
    await p.userToken(DEMO2, ['read:profile'], PARTNER);
    const own = await p.userToken(DEMO2, ['manage:connected_apps']);
    expect((await withdraw(own, 'demo-partner-app', 'read:profile')).status).toBe(204);
    expect((await appsOf(own)).map(one => one.client.id)).toEqual(['demo-app']);
  });

  test('an app of somebody else changes its own access only', async () => {
    const theirs = await p.userToken(DEMO2, ['manage:connected_apps', 'read:profile'], PARTNER);
    expect((await withdraw(theirs, 'demo-app', 'manage:connected_apps')).status).toBe(403);
    expect((await withdraw(theirs, 'demo-partner-app', 'read:profile')).status).toBe(204);
  });
});

test('what apps used is told to identity when the gateway stops at the latest', async () => {
  const databaseUrl = await seededDatabase();
  const owner = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  owner.on('error', () => undefined);
  atEnd(async () => {
    await owner.end();
    await dropDatabase(databaseUrl);
  });
  const env = await platformEnv(databaseUrl);
  const started = await startPlatform({ config: loadConfig(env), services: SERVICES });
  const token = await mintUserToken(started.hosts.get('identity')!, { ...PARTNER, userId: DEMO, scopes: ['read:profile', 'read:inbox'] });
  const { status } = await fetch(`${env.BASE_URL}/identity/v1/users/me`, { headers: { authorization: `Bearer ${token}` } });
  expect(status).toBe(200);
  await started.stop();
  const { rows } = await owner.query(
    "select s.scope from identity.scope_use s join identity.oauth_grant g on g.id = s.grant_id where g.client_id = 'demo-partner-app' and s.last_used_at is not null",
  );
  expect(rows).toEqual([{ scope: 'read:profile' }]);
});
