import { beforeAll, expect, test } from 'vitest';
import { Browser, isConsent, isSignIn, PASSWORD, type Page } from '../identity/browser.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { messagesOf, send, settle } from './asking.js';

let p: TestPlatform;
let link: string;

beforeAll(async () => {
  p = await platform({ services: ['comms', 'events'] });
  const callback = `${p.url}/comms/m/callback`; // the seeds of tests are made once, at another address
  await p.sql("update identity.oauth_client set redirect_uris = array[$1] where id = 'demo-messages'", [callback]);
  await send(p, { dedupe_key: 'link' });
  await settle(p);
  const [mail] = await messagesOf(p, 'link');
  link = `${p.url}/comms/m/${mail!.id}`;
}, 300_000);

/** To the sign-in page of identity, by the button of the message's page. */
async function begun(browser: Browser): Promise<Page> {
  const page = await browser.get(link);
  expect([page.status, page.html.includes('There is a message for you'), page.html.includes('href="?sign_in=1"')]).toEqual([
    200,
    true,
    true,
  ]);
  return browser.open(p, `${link}?sign_in=1`);
}

/** Signs in; the answer of identity, which leads back to the callback. */
async function signedIn(browser: Browser, name: string): Promise<Page> {
  const page = await begun(browser);
  expect(isSignIn(page), page.html).toBe(true);
  let current = await browser.submit(page, '/login', { identifier: `${name}@example.test`, password: PASSWORD });
  for (let pages = 0; pages < 8 && !current.location?.includes('/m/callback'); pages++)
    current = isConsent(current)
      ? await browser.submit(current, '/consent', { decision: 'allow', scope: 'read:inbox' })
      : await browser.get(current.location!);
  return current;
}

test('33: who signs in by the page of a message reads it there, for a session of the pages alone', async () => {
  const browser = new Browser();
  const back = await browser.get((await signedIn(browser, 'demo')).location!);
  expect([back.status, back.location]).toEqual([303, link]);
  const [session] = [back.headers['set-cookie']].flat();
  expect(session).toMatch(/^comms_page=[\w-]+; Max-Age=900; Path=\/comms\/m; HttpOnly; SameSite=Lax/);
  const page = await browser.get(link);
  expect([page.status, page.html.includes('Your order')]).toEqual([200, true]);
  expect(await p.sql('select status from comms.inbox_item')).toEqual([{ status: 'read' }]);
});

test('33: another who signs in finds nothing there', async () => {
  const browser = new Browser();
  await browser.get((await signedIn(browser, 'demo2')).location!);
  expect((await browser.get(link)).status).toBe(404);
});

test('an answer of identity begins a session in the browser that asked for it, and in no other', async () => {
  const { location } = await signedIn(new Browser(), 'demo');
  for (const other of [new Browser(), await strayed()]) {
    const page = await other.get(location!);
    expect([page.status, [page.headers['set-cookie'] ?? []].flat()]).toEqual([400, []]);
    expect((await other.get(link)).html).toContain('There is a message for you');
  }
});

/** A browser that has begun a sign-in of its own. */
async function strayed(): Promise<Browser> {
  const browser = new Browser();
  await begun(browser);
  return browser;
}

test('a cookie that somebody else made is none', async () => {
  const forged = new Browser({ cookie: `comms_page=${Buffer.from('{"userId":"x"}').toString('base64url')}` });
  const unknown = await new Browser().get(`${p.url}/comms/m/0190b3a0-1111-7000-8000-00000000dead`);
  expect((await forged.get(link)).html).toBe(unknown.html);
});
