import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { platform, SECRETS, type TestPlatform } from '../support/platform.js';
import { claimsOf } from './oauth.js';

const ROOT = resolve(import.meta.dirname, '../..');
let p: TestPlatform;
beforeAll(async () => void (p = await platform({ manualClock: false })));

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

test.each([
  ['no client', [], /which client/],
  ['a client whose secret it does not know', ['--client', 'demo-partner-app'], /give it with --secret/],
  ['a wrong secret', ['--client', 'demo-m2m', '--secret', 'wrong'], /401 invalid_client/],
  ['an address where nobody is', ['--client', 'demo-m2m', '--url', 'http://localhost:1'], /cannot be reached/],
])('with %s it says what is wrong, shows no secret and fails', async (_case, args, message) => {
  const error = await run(...args).catch(caught => caught);
  expect([error.code, error.stdout]).toEqual([1, '']);
  expect(error.stderr).toMatch(message);
  expect(error.stderr).not.toContain('wrong');
});
