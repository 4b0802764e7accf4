import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startPlatform } from '../../gateway/composition/platform.js';
import { escape } from '../../gateway/pages/html.js';
import { schemaOf, type Slug } from '../../events/slugs.js';
import { loadConfig } from '../../runtime/config.js';
import { SERVICES } from '../../subgraphs/services.js';
import { CHROMIUM, startChromium } from '../support/chromium.js';
import { freePort, platform, type TestPlatform } from '../support/platform.js';
import { faultsOf } from '../support/sound-page.js';
import { until } from '../support/until.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ manualClock: false, services: ['clinical', 'events', 'comms'] })));

const invite = async (email: string): Promise<void> => {
  const token = await p.serviceToken('admin:identity');
  const { status } = await p.rest('POST', '/identity/v1/admin/staff/invite', { token, body: { email, roles: ['support'] } });
  expect(status).toBe(201);
};

const mails = async (): Promise<string> => String((await p.rest('GET', '/dev/mail')).body);
/** The page of the mail to an address. */
const mailTo = async (email: string): Promise<string> => {
  const list = await until('the mail', mails, html => html.includes(email));
  const id = list
    .split(email)[0]!
    .match(/\/dev\/mail\/([0-9a-f-]{36})/g)!
    .at(-1)!;
  return String((await p.rest('GET', id)).body);
};
const linkIn = (html: string): string => /<a href="([^"]*staff-invitations[^"]*)"/.exec(html)![1]!;

describe('on this machine, with development data', () => {
  test('a token of the demo client is there to begin with, and it works', async () => {
    const { status, headers, body } = await p.rest('GET', '/dev/token');
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(body.expires_in).toBeGreaterThan(600);
    expect((await p.rest('GET', '/clinical/v1/biomarkers/catalog/ldl_c', { token: body.access_token })).status).toBe(200);
  });

  test('what would have been mailed is shown with its address and its link, which works', async () => {
    await invite('nova@example.test');
    expect((await p.rest('GET', new URL(linkIn(await mailTo('nova@example.test'))).pathname)).status).toBe(200);
  });

  test('it stays, however often the page is loaded', async () => {
    await invite('often@example.test');
    const pages = [await mailTo('often@example.test'), await mailTo('often@example.test'), await mailTo('often@example.test')];
    expect(new Set(pages.map(linkIn)).size).toBe(1);
  });
});

test('the start page has the one line about each service that its document begins with', async () => {
  const { summary } = parse(await (await fetch(`${p.url}/api/clinical/openapi.yaml`)).text()).info;
  expect(summary.length).toBeGreaterThan(20);
  expect((await p.rest('GET', '/')).body).toContain(escape(summary));
});

describe("GraphiQL's page", () => {
  const files = async (): Promise<string[]> => {
    const html = await (await fetch(`${p.url}/graphql`, { headers: { accept: 'text/html' } })).text();
    return [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(match => match[1]!);
  };

  test('refers to files that are here, each of its type', async () => {
    const found = await files();
    expect(found).toHaveLength(6);
    for (const file of found) {
      const { status, headers } = await fetch(`${p.url}${file}`);
      expect([status, headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(file.endsWith('.css') ? /^text\/css/ : /^text\/javascript/),
      ]);
    }
  });

  test('has its packages kept by browsers for a day, and is asked for again without being sent again', async () => {
    const url = `${p.url}/assets/graphiql/graphiql.min.js`;
    const { headers } = await fetch(url, { method: 'HEAD' });
    expect(headers.get('cache-control')).toBe('public, max-age=86400');
    expect((await fetch(url, { headers: { 'if-none-match': headers.get('etag')! } })).status).toBe(304);
    expect((await fetch(`${p.url}/assets/graphiql/package.json`)).status).toBe(404);
  });
});

const NOT_LOCAL: [string, Record<string, string>][] = [
  ['a proxy on this machine, which carries a request from elsewhere', { 'x-forwarded-for': '203.0.113.7' }],
  ['a proxy that uses the standard header', { forwarded: 'for=203.0.113.7' }],
  ['a foreign page that rebinds its own name to this machine', { host: 'attacker.example' }],
  ['a foreign page in a browser here', { 'sec-fetch-site': 'cross-site' }],
];

describe.each(['/dev/token', '/dev/mail'])('%s does not exist', path => {
  test.each(NOT_LOCAL)('for %s', async (_case, headers) => {
    const { status, body } = await p.rest('GET', path, { headers });
    expect([status, body.code]).toEqual([404, 'not_found']);
  });
});

describe('in production', () => {
  let url: string;
  beforeAll(async () => {
    const port = await freePort();
    url = `http://localhost:${port}`;
    const urls = Object.keys(SERVICES).map(slug => [`SUBGRAPH_URL_${schemaOf(slug as Slug).toUpperCase()}`, p.url]);
    const env = {
      ...p.env,
      ...Object.fromEntries(urls),
      NODE_ENV: 'production',
      CLOCK: 'system',
      PORT: String(port),
      ROLES: 'gateway,rest',
    };
    const gateway = await startPlatform({ config: loadConfig(env), services: SERVICES });
    return () => gateway.stop();
  });

  test.each(['/dev/token', '/dev/mail'])('%s does not exist', async path => {
    expect((await fetch(`${url}${path}`)).status).toBe(404);
  });

  test('the start page, the reference and their scripts know no demo client and ask for no token', async () => {
    const texts = await Promise.all(['/', '/docs/start.js', '/assets/start.js'].map(async path => (await fetch(`${url}${path}`)).text()));
    expect(texts[0]).toContain('$CLIENT_SECRET');
    expect(texts[0]).not.toMatch(/demo|\/dev\/|data-run/);
    expect(texts[1]).not.toContain('/dev/');
  });
});

const isForeign = (url: string): boolean => !/^(data|blob):/.test(url) && !url.startsWith(p.url);

describe.skipIf(!CHROMIUM)('in a real browser (cannot run where no Chromium is installed)', { timeout: 120_000 }, () => {
  let context: BrowserContext;
  let page: Page;
  /** What the browser complained about. */
  let complaints: string[];
  beforeAll(async () => {
    context = await (await startChromium([])).newContext({ viewport: { width: 1280, height: 800 } });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  });
  beforeEach(async () => {
    complaints = [];
    page = await context.newPage();
    page.on('console', message => message.type() === 'error' && !/status of 503/.test(message.text()) && complaints.push(message.text()));
    page.on('pageerror', error => complaints.push(error.message));
    page.on('request', request => isForeign(request.url()) && complaints.push(`a request to ${request.url()}`));
    return () => page.close();
  });

  test('the start page says what runs and how it does, and is accessible in both colour schemes', async () => {
    await page.goto(`${p.url}/`);
    await page.getByText(`5 of ${Object.keys(SERVICES).length} services are ready`).waitFor();
    expect(await page.locator('[data-service=clinical]').textContent()).toBe('ready');
    expect(await page.locator('[data-service=jobs]').textContent()).toBe('not reachable');
    await page.getByText('TOKEN=svc_').waitFor();
    expect(await faultsOf(page, 'start')).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('its calls run in the page, and are copied as they are shown', async () => {
    await page.goto(`${p.url}/`);
    const [rest, graphql] = [page.getByRole('button', { name: 'Run' }).first(), page.getByRole('button', { name: 'Run' }).last()];
    await rest.click();
    await page.locator('#rest-answer', { hasText: '"code": "ldl_c"' }).waitFor();
    await graphql.click();
    await page.locator('#graphql-answer', { hasText: '"slug": "main"' }).waitFor();
    expect(await faultsOf(page, 'start-answers')).toEqual([]);
    await page.getByRole('button', { name: 'Copy' }).last().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toBe(await page.locator('#graphql').textContent());
    expect(copied).toContain(`curl -s ${p.url}/graphql -H "Authorization: Bearer $TOKEN"`);
    expect(complaints).toEqual([]);
  });

  test('GraphiQL opens with the token, and its first query is answered', async () => {
    await page.goto(`${p.url}/graphql`);
    await page.getByRole('button', { name: /Execute query/ }).click();
    await page.locator('.result-window', { hasText: '"slug": "main"' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('the reference opens with the token, and a call from it is answered', async () => {
    await page.goto(`${p.url}/docs?urls.primaryName=platform`); // all services take a slow machine half a minute
    await page.locator('.authorize.locked').waitFor();
    await page.locator('#operations-tag-platform').click();
    await page.locator('#operations-platform-brands .opblock-summary-control').click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('the page of mail is accessible in both colour schemes', async () => {
    await invite('eye@example.test');
    await until('the mail', mails, html => html.includes('eye@example.test'));
    await page.goto(`${p.url}/dev/mail`);
    await page.getByText('eye@example.test').waitFor();
    expect(await faultsOf(page, 'mail')).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
