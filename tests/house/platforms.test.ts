import { describe, expect, test } from 'vitest';
import { DEMO, sharedPlatform } from '../support/platform.js';
import { importsOf, sourcesIn, textOf } from './sources.js';

/**
 * Which platform a file tests on: one that other files of the worker use, too; one of the services that it names; or one of all services.
 * A start costs the services that are started, and there will be 28, so whoever starts one says why, by what its source does.
 */

/** Why a file needs a platform of its own. */
const OWN: Readonly<Record<string, RegExp>> = {
  broker: /transport: 'run'/,
  setting: /\benv(: |\s*\})|\bp\.env\b/,
  clock: /\.clock\(|test-clock|clock: /,
  flag: /\.flag\(|resetFlags|test-flags/,
  fault: /test-faults|\.fault\(/,
  SQL: /\b(insert\s+into|update\s+\S+\s+set|delete\s+from|pg_terminate_backend)\b/i,
  internals: /\.(host|running)\b/,
  receiver: /\.receiver\(/,
  revocation: /revoke|sign-out|connected-apps|status: 'suspended'/,
  metrics: /_seconds_count\{/,
  limits: /\b429\b/,
  // The seeded person stays a member.
  purchase: /memberships\/join'/,
};

/** Why a file needs all services. */
const WHOLE: Readonly<Record<string, RegExp>> = {
  journey: /retest-cycle\.js'|the journey/i,
  'every service': /\b(SERVICES|SLUGS)\b|in every service|'clinical', 'entitlements', 'events', 'identity'/,
  supergraph: /INTROSPECTION: 'on'/,
  processes: /startProcess\(/,
  traces: /TRACES_URL/,
  polls: /PLATFORM_HEALTH_POLL_MS/,
};

const SOURCES = sourcesIn('tests');
const TESTS = SOURCES.filter(file => file.endsWith('.test.ts') && !file.endsWith('house/platforms.test.ts'));

/** What a file runs: its own text, and that of the fixtures in its imports. */
function textWithFixtures(file: string): string {
  const fixtures = importsOf(file)
    .map(target => target.replace(/\.js$/, '.ts'))
    .filter(target => SOURCES.includes(target) && !target.startsWith('tests/support/') && /\bplatform\(/.test(textOf(target)));
  return [file, ...fixtures].map(textOf).join('\n');
}

/** Starts that name no services: `platform()`, `platform({ env: … })`. */
const wholeStarts = (text: string): string[] =>
  [...text.matchAll(/(?:await |=> )platform\((?:\)|\{([\s\S]*?)\}\s*\))/g)]
    .map(match => match[0])
    .filter(call => !call.includes('services:'));

const reasonsIn = (text: string, reasons: Readonly<Record<string, RegExp>>): string[] =>
  Object.keys(reasons).filter(reason => reasons[reason]!.test(text));

const texts = new Map(TESTS.map(file => [file, textWithFixtures(file)]));
const shared = TESTS.filter(file => /\bsharedPlatform\(/.test(texts.get(file)!));
const own = TESTS.filter(file => /(?:await |=> )platform\(/.test(texts.get(file)!));
const whole = own.filter(file => wholeStarts(texts.get(file)!).length > 0);
const named = own.filter(file => !whole.includes(file));

describe('a file on the platform that its worker shares', () => {
  test.each(shared.map(file => [file] as const))('%s imports what makes tokens and requests only', file => {
    const helpers = importsOf(file).filter(target => target === 'tests/support/database.js' || target === 'tests/support/receiver.js');
    expect(helpers).toEqual([]);
  });
});

describe('a file that starts the services which it names', () => {
  test.each(named.map(file => [file, reasonsIn(texts.get(file)!, OWN)] as const))('%s: %s', (_file, reasons) => {
    expect(reasons).not.toEqual([]);
  });
});

describe('a file that starts all services', () => {
  test.each(whole.map(file => [file, reasonsIn(texts.get(file)!, WHOLE)] as const))('%s: %s', (_file, reasons) => {
    expect(reasons).not.toEqual([]);
  });
});

test('there are files of all three kinds', () => {
  expect(Math.min(shared.length, named.length, whole.length)).toBeGreaterThan(0);
});

test.each(['await platform()', "await platform({\n    env: { X: '1' },\n  })"])('%s starts all services', text => {
  expect(wholeStarts(text)).toHaveLength(1);
});

describe('the shared platform refuses what other files would feel', () => {
  test.each([
    ['a clock', p => p.rest('POST', '/clinical/v1/admin/test-clock', { body: { advance: 'P1D' } })],
    ['a flag', p => p.rest('POST', '/clinical/v1/admin/test-flags', { body: {} })],
    ['a fault', p => p.rest('POST', '/clinical/v1/admin/test-faults', { body: {} })],
    ['a revocation', p => p.rest('POST', '/identity/v1/oauth/revoke', { body: 'token=x' })],
    ['a kill', p => p.rest('POST', '/platform/v1/admin/flags/feature.x/kill', { body: {} })],
    ['writing SQL', p => p.sql('update platform.brand set name = name')],
    ['SQL that writes below its with', p => p.sql('with gone as (delete from platform.brand returning 1) select 1')],
  ] satisfies [string, (p: Awaited<ReturnType<typeof sharedPlatform>>) => Promise<unknown>][])('%s', async (_what, attempt) => {
    const p = await sharedPlatform();
    expect(() => attempt(p)).toThrow('on the shared platform');
  });

  test.each(['clock', 'flag', 'host', 'running', 'receiver', 'stop', 'env'])('%s of a platform', async name => {
    const p = await sharedPlatform();
    expect(() => Reflect.get(p, name)).toThrow('on the shared platform');
  });

  test('and lets through requests, tokens and reading', async () => {
    const p = await sharedPlatform();
    expect((await p.rest('GET', '/identity/v1/users/me', { token: await p.userToken(DEMO, ['read:profile']) })).status).toBe(200);
    expect(await p.sql('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
