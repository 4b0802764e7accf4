import { beforeAll, expect, test } from 'vitest';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { claimsOf } from './oauth.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'], manualClock: false })));

const ME = '/identity/v1/users/me';
const sessions = (token: string) => p.rest('GET', `${ME}/sessions`, { token });
const others = (token: string) => p.rest('POST', `${ME}/sessions/sign-out-others`, { token });
const dies = (token: string) =>
  until(
    'the token to end',
    async () => (await p.rest('GET', ME, { token })).status,
    status => status === 401,
  );

test('GET /v1/users/me/sessions lists the own live sign-ins with their apps, newest activity first', async () => {
  const first = await p.userToken(DEMO2, ['read:account']);
  const second = await p.userToken(DEMO2, ['read:account'], { amr: ['pwd', 'otp', 'mfa'] });
  await p.userToken(DEMO, ['read:account']);
  const { status, body } = await sessions(second);
  expect(status).toBe(200);
  expect(body.data.map((one: any) => [one.id, one.current, one.clients[0].id])).toEqual([
    [claimsOf(second).sid, true, 'demo-app'],
    [claimsOf(first).sid, false, 'demo-app'],
  ]);
  expect(body.data[0]).toMatchObject({
    amr: ['pwd', 'otp', 'mfa'],
    device: { browser: null, os: null, form_factor: null },
    ip_prefix: null,
  });
});

test('sign-ins are for first-party apps with read:account', async () => {
  expect((await sessions(await p.userToken(DEMO2, ['read:profile']))).status).toBe(403);
  expect((await sessions(await p.userToken(DEMO2, ['read:account'], { clientId: 'demo-partner-app' }))).status).toBe(403);
  expect((await sessions(await p.serviceToken('admin:identity'))).status).toBe(403);
});

test('DELETE /v1/users/me/sessions/{id} ends one of the own sign-ins, and finds none of anybody else', async () => {
  const [mine, other] = await Promise.all([p.userToken(DEMO, ['read:account']), p.userToken(DEMO, ['read:account'])]);
  const foreign = claimsOf(await p.userToken(DEMO2, ['read:account'])).sid;
  const end = (id: string) => p.rest('DELETE', `${ME}/sessions/${id}`, { token: mine });
  expect((await end(foreign)).status).toBe(404);
  expect((await end('x')).status).toBe(404);
  expect((await end(claimsOf(other!).sid)).status).toBe(204);
  await dies(other!);
  expect((await end(claimsOf(other!).sid)).status).toBe(404);
  expect((await sessions(mine!)).status).toBe(200);
});

test('sign-out-others ends every other sign-in and leaves apps of others connected', async () => {
  const [mine, other] = await Promise.all([p.userToken(DEMO, ['read:account']), p.userToken(DEMO, ['read:account'])]);
  const partner = await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-partner-app' });
  const { status, body } = await others(mine!);
  expect(status).toBe(200);
  expect(body.revoked).toBeGreaterThanOrEqual(2);
  await dies(other!);
  expect((await p.rest('GET', ME, { token: partner })).status).toBe(200);
  expect((await sessions(mine!)).body.data.map((one: any) => one.id)).toEqual([claimsOf(mine!).sid]);
  expect((await others(mine!)).body).toEqual({ revoked: 0 });
});

test('sign-out-others needs a sign-in of the last ten minutes', async () => {
  const old = await p.userToken(DEMO, ['read:account'], { authTime: new Date(Date.now() - 11 * 60_000) });
  const refused = await others(old);
  expect(refused).toMatchObject({ status: 401, body: { code: 'step_up_required' } });
  expect(refused.headers['www-authenticate']).toContain('max_age="600"');
});

test('DELETE /v1/users/me/connected-apps/{client_id} ends the consent; an app of somebody else disconnects itself only', async () => {
  const partner = await p.userToken(DEMO2, ['manage:connected_apps', 'read:profile'], { clientId: 'demo-partner-app' });
  const mine = await p.userToken(DEMO2, ['manage:connected_apps']);
  const cut = (id: string, token: string) => p.rest('DELETE', `${ME}/connected-apps/${id}`, { token });
  expect((await cut('demo-app', partner)).status).toBe(403);
  expect((await cut('demo-admin', mine)).status).toBe(404);
  expect((await cut('demo-partner-app', mine)).status).toBe(204);
  await dies(partner);
  expect((await cut('demo-partner-app', mine)).status).toBe(404);
});
