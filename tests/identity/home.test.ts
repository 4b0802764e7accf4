import { beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM, startChromium } from '../support/chromium.js';
import { sharedPlatform, type SharedPlatform } from '../support/platform.js';
import { faultsOf } from '../support/sound-page.js';

let p: SharedPlatform;
beforeAll(async () => void (p = await sharedPlatform()));

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const ROOTS = ['/identity', '/identity/', '/identity/v1/auth', '/identity/v1/auth/'];

test.each(ROOTS)('a browser at %s gets a page that says where it is', async path => {
  const { status, headers, body } = await p.rest('GET', path, { headers: BROWSER });
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(body).toContain('<h1>This is where people sign in</h1>');
});

test('its links lead to pages', async () => {
  const { body } = await p.rest('GET', '/identity', { headers: BROWSER });
  const links = [...String(body).matchAll(/<a href="([^"]+)"/g)].map(([, href]) => new URL(href!).pathname);
  expect(links.length).toBe(3);
  for (const link of links) expect([link, (await p.rest('GET', link)).status]).toEqual([link, 200]);
});

test.each(['/identity/v1/auth/nothing', '/identity/v1/auth/magic/cut-off', '/identity/v1/auth/a/b/c/d'])(
  'a browser at %s, where nothing is, gets a page with a way out',
  async path => {
    const { status, headers, body } = await p.rest('GET', path, { headers: BROWSER });
    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(body).toMatch(/<h1>[^<]+<\/h1>/);
  },
);

test.each([...ROOTS, '/identity/v1/auth/nothing'])('a program at %s gets the problem of every unknown address', async path => {
  const { status, body } = await p.rest('GET', path, { headers: { accept: 'application/json' } });
  expect([status, body.code]).toEqual([404, 'not_found']);
});

describe.skipIf(!CHROMIUM)('in a real browser (cannot run where no Chromium is installed)', { timeout: 120_000 }, () => {
  test.each(['/identity', '/identity/v1/auth/nothing'])('%s is accessible in both colour schemes', async path => {
    const page = await (await startChromium([])).newPage();
    await page.goto(`${p.url}${path}`);
    expect(await faultsOf(page, `identity${path.split('/').at(-1)}`)).toEqual([]);
  });
});
