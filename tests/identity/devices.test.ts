import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { countryOf, deviceOf } from '../../subgraphs/identity/rules/devices.js';
import { authorizeUrl, Browser, proof, signIn } from './browser.js';
import { claimsOf, emitted } from './oauth.js';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';
const APP = { client: 'demo-app', scope: 'read:account' };

let p: TestPlatform;
beforeAll(async () => {
  p = await platform({ services: ['identity'], env: { IDENTITY_COUNTRY_HEADER: 'X-Edge-Country' } });
  await p.clock('identity', { advance: 'PT1S' });
});

test.each([
  [FIREFOX, ['Firefox', 'Linux', 'desktop']],
  [IPHONE, ['Safari', 'iOS', 'mobile']],
  ['curl/8.0', [null, null, null]],
  ['', [null, null, null]],
  ['x'.repeat(513), [null, null, null]],
  ['<script>', [null, null, null]],
])('%s is told by its names alone', (userAgent, [browser, os, formFactor]) => {
  expect(deviceOf(userAgent as string)).toEqual({ browser, os, formFactor });
});

test.each([
  ['DE', 'DE'],
  ['XX', null],
  ['T1', null],
  ['', null],
  ['DEU', null],
])('%s is the country %s', (text, country) => expect(countryOf(text)).toBe(country));

const notices = async (): Promise<string[]> =>
  (await emitted(p, 'comms.message.send_requested.v1')).filter(data => data.params.kind === 'new_device').map(data => data.template);

describe('a sign-in', () => {
  test('is listed with browser, system, form, network and country', async () => {
    const { access_token: token } = await signIn(p, APP, new Browser({ 'user-agent': IPHONE, 'x-edge-country': 'PT' }));
    const { body } = await p.rest('GET', '/identity/v1/users/me/sessions', { token });
    expect(body.data.find((one: any) => one.current)).toMatchObject({
      id: claimsOf(token).sid,
      device: { browser: 'Safari', os: 'iOS', form_factor: 'mobile' },
      ip_prefix: '127.0.0.0/24',
      country_code: 'PT',
    });
    expect(await notices()).toEqual([]); // the first browser of an account is no news
  });

  test('from a new browser is told to the person, once for each', async () => {
    const browser = new Browser({ 'user-agent': FIREFOX });
    await signIn(p, APP, browser);
    expect(await notices()).toEqual(['security_notice']);
    await signIn(p, { ...APP, more: { prompt: 'login' } }, browser);
    await signIn(p, { ...APP, client: 'demo-partner-app', scope: 'read:profile', more: { prompt: 'login' } }, browser);
    expect(await notices()).toHaveLength(1);
    const [{ kept }] = await p.sql(
      'select bool_and(octet_length(device_hash) = 32) as kept from identity.auth_session where user_id = $1',
      [DEMO],
    );
    expect(kept).toBe(true);
    const rows = JSON.stringify(await p.sql('select * from identity.auth_session'));
    for (const cookie of browser.cookies.filter(value => value.length > 12)) expect(rows).not.toContain(cookie);
  });
});

test('mfa_enabled is told to the owner with read:account and to administrators', async () => {
  const me = async (scope: string) =>
    (await p.rest('GET', '/identity/v1/users/me', { token: await p.userToken(DEMO, scope.split(' ')) })).body;
  expect((await me('read:account')).mfa_enabled).toBe(false);
  expect(await me('read:profile')).not.toHaveProperty('mfa_enabled');
  const { body } = await p.rest('GET', '/identity/v1/admin/users/0190b3a0-0000-7000-8000-0000000000a9', {
    token: await p.serviceToken('admin:identity'),
  });
  expect(body.mfa_enabled).toBe(true);
});

test('more than 60 authorization requests a minute from an address are held back with Retry-After', async () => {
  await p.clock('identity', { advance: 'PT1M' });
  const ask = () => new Browser().get(authorizeUrl(p, {}, proof()));
  for (let n = 0; n < 60; n++) expect((await ask()).status).toBe(303);
  const held = await ask();
  expect([held.status, held.headers['retry-after'], held.html.includes('Too many requests')]).toEqual([429, '60', true]);
  await p.clock('identity', { advance: 'PT1M' });
  expect((await ask()).status).toBe(303);
});
