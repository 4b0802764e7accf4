import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { sharedPlatform, SECRETS, type SharedPlatform } from '../support/platform.js';
import { refresh } from './browser.js';
import { claimsOf } from './oauth.js';

const ROOT = resolve(import.meta.dirname, '../..');
let p: SharedPlatform;
beforeAll(async () => void (p = await sharedPlatform()));

const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [join(ROOT, 'scripts/token.mjs'), '--url', p.url, ...args], {
    env: { ...process.env, ...SECRETS },
  });

test('prints a service token and nothing else', async () => {
  const { stdout, stderr } = await run('--client', 'demo-m2m', '--scope', 'admin:clinical');
  expect([stdout.trim().split('\n').length, stderr]).toEqual([1, '']);
  expect(claimsOf(stdout.trim())).toMatchObject({ client_id: 'demo-m2m', scope: 'admin:clinical' });
});

test('knows the secrets of the internal clients', async () => {
  expect(claimsOf((await run('--client', 'svc-patient-graph')).stdout.trim())).toMatchObject({ service_slug: 'patient-graph' });
});

test.each(['demo-app', 'demo-partner-app'])("walks the real pages of %s and prints a user's token pair", async client => {
  const { stdout, stderr } = await run('--user', 'demo@example.test', '--client', client, '--scope', 'read:profile read:inbox');
  const [access, refreshToken, ...rest] = stdout.trim().split('\n');
  expect([rest, stderr]).toEqual([[], '']);
  expect(claimsOf(access!)).toMatchObject({ client_id: client, scope: 'read:profile read:inbox', amr: ['pwd'] });
  expect((await refresh(p, client, refreshToken!)).status).toBe(200);
});

test('answers the second factor of the seeded owner, also twice at once, and gets the power of staff', async () => {
  for (let n = 0; n < 2; n++) {
    const { stdout } = await run('--user', 'admin@example.test', '--client', 'demo-admin');
    expect(claimsOf(stdout.split('\n')[0]!)).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], roles: ['owner'] });
  }
});

test.each([
  ['no client', [], /which client/],
  ['a client whose secret it does not know', ['--client', 'demo-partner-app'], /give it with --secret/],
  ['a wrong secret', ['--client', 'demo-m2m', '--secret', 'wrong'], /401 invalid_client/],
  ['a wrong password', ['--client', 'demo-app', '--user', 'demo@example.test', '--password', 'wrong'], /401/],
  [
    'a scope that the app may not ask for',
    ['--client', 'demo-partner-app', '--user', 'demo@example.test', '--scope', 'read:biomarkers'],
    /invalid_scope/,
  ],
  ['an address where nobody is', ['--client', 'demo-m2m', '--url', 'http://localhost:1'], /cannot be reached/],
])('with %s it says what is wrong, shows no secret and fails', async (_case, args, message) => {
  const error = await run(...args).catch(caught => caught);
  expect([error.code, error.stdout]).toEqual([1, '']);
  expect(error.stderr).toMatch(message);
  expect(error.stderr.replace('is wrong', '')).not.toContain('wrong');
});
