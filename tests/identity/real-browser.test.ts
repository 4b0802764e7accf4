import type { Browser, BrowserContext, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CHROMIUM, startChromium } from '../support/chromium.js';
import { DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { authorizeUrl, CALLBACKS, codeNow, freshCode, PASSWORD, proof, redeem, type Asking, type Proof, type Tokens } from './browser.js';
import { newestMail } from './mailbox.js';
import { faultsOf } from '../support/sound-page.js';
import { makeStaff } from './staff.js';

let p: TestPlatform;
let chromium: Browser;
beforeAll(async () => {
  if (!CHROMIUM) return;
  p = await platform({ services: ['identity'], manualClock: false });
  chromium = await startChromium(Object.values(CALLBACKS));
});

/** What the browser complained about. */
let complaints: string[];
beforeEach(() => void (complaints = []));

interface Person {
  context: BrowserContext;
  page: Page;
}

/** A person with a browser of their own, on a phone unless told otherwise. */
async function person(width = 360, height = 740): Promise<Person> {
  const context = await chromium.newContext({ viewport: { width, height } });
  const page = await context.newPage();
  page.on('console', message => message.type() === 'error' && !/status of 4\d\d/.test(message.text()) && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(error.message));
  page.on('request', request => !isOurs(request.url()) && complaints.push(`a request to ${request.url()}`));
  return { context, page };
}

const isOurs = (url: string): boolean =>
  [p.url, 'data:', ...Object.values(CALLBACKS).map(callback => new URL(callback).origin)].some(start => url.startsWith(start));

const open = (page: Page, asking: Asking = {}, by: Proof = proof()) => page.goto(authorizeUrl(p, asking, by));

/** Finds nothing wrong with a page: accessibility in both colour schemes, widths, errors of the browser. */
async function sound(page: Page, name: string): Promise<void> {
  expect([name, await faultsOf(page, name)]).toEqual([name, []]);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(complaints).toEqual([]);
}

async function signInAt(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail address').first().fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

const arrived = async (page: Page): Promise<URLSearchParams> => {
  await page.waitForURL(/\/callback\?/);
  return new URL(page.url()).searchParams;
};

async function tokensOf(page: Page, client: string, by: Proof): Promise<Tokens> {
  const { status, body } = await redeem(p, client, (await arrived(page)).get('code')!, by);
  expect(status).toBe(200);
  return body;
}

describe.skipIf(!CHROMIUM)('in a real browser (cannot run where no Chromium is installed)', { timeout: 120_000 }, () => {
  test('signing in and giving consent with one scope unticked', async () => {
    const { page } = await person();
    const by = proof();
    await open(page, { scope: 'read:profile read:inbox read:payments' }, by);
    await sound(page, 'sign-in');
    await signInAt(page, 'demo@example.test', 'not-the-password');
    expect(await page.getByRole('alert').textContent()).toContain('wrong');
    await sound(page, 'sign-in-wrong');
    await page.getByRole('alert').getByRole('link').click();
    expect(await page.evaluate('document.activeElement.id || location.hash.slice(1)')).toBe('identifier');
    await signInAt(page, 'demo@example.test');
    await page.waitForSelector('[name=decision]');
    await sound(page, 'consent');
    await page.getByRole('checkbox', { name: /messages/ }).uncheck();
    expect(await page.getByRole('checkbox', { name: /charges/ }).isChecked()).toBe(false);
    await page.getByRole('checkbox', { name: /charges/ }).check();
    await page.locator('button[value=allow]').click();
    const tokens = await tokensOf(page, 'demo-partner-app', by);
    expect(tokens.scope.split(' ').sort()).toEqual(['read:payments', 'read:profile']);
    await open(page, { scope: 'read:profile read:inbox read:payments' });
    expect((await arrived(page)).get('code')).toBeTruthy();
    expect(complaints).toEqual([]);
  });

  test('denying and going back tell the app, and nobody is asked for more', async () => {
    const { page } = await person();
    await open(page, { client: 'demo-app', email: 'demo2@example.test', scope: 'read:account' });
    await signInAt(page, 'demo2@example.test');
    await page.locator('button[value=deny]').click();
    expect((await arrived(page)).get('error')).toBe('access_denied');
    const other = (await person()).page;
    await open(other);
    await other.getByRole('button', { name: 'Cancel and go back' }).click();
    expect((await arrived(other)).get('error')).toBe('access_denied');
    expect(complaints).toEqual([]);
  });

  test('signing in with the second factor by the keyboard alone', async () => {
    const { page } = await person(1280, 800);
    const by = proof();
    await open(page, { client: 'demo-admin', scope: 'read:profile' }, by);
    const reach = async (selector: string): Promise<void> => {
      for (let n = 0; n < 25; n++) {
        await page.keyboard.press('Tab');
        if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
      }
      throw new Error(`${selector} cannot be reached by the keyboard`);
    };
    await reach('#identifier');
    await page.keyboard.type('admin@example.test');
    await reach('#password');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#code');
    await sound(page, 'second-factor');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.evaluate('document.activeElement.blur()');
    await reach('#code');
    await page.keyboard.type(await codeNow(p));
    await page.keyboard.press('Enter');
    await page.waitForSelector('[name=decision]');
    await reach('[name=scope]');
    await page.keyboard.press('Space');
    expect(await page.locator('[name=scope]').isChecked()).toBe(false);
    await page.keyboard.press('Space');
    await reach('button[value=allow]');
    await page.keyboard.press('Enter');
    const tokens = await tokensOf(page, 'demo-admin', by);
    expect(tokens.scope).toBe('read:profile');
    expect(complaints).toEqual([]);
  });

  test('a wrong code is told, and staff set up their second factor', async () => {
    await makeStaff(p, DEMO2, 'support');
    const { page } = await person();
    await open(page, { client: 'demo-admin' });
    await signInAt(page, 'demo2@example.test');
    await page.waitForSelector('img.qr');
    await sound(page, 'enrolment');
    await page.getByLabel('Six-digit code').fill('000000');
    await page.getByRole('button', { name: 'Turn on and continue' }).click();
    await page.waitForSelector('[role=alert]');
    await sound(page, 'enrolment-wrong');
    const secret = (await page.locator('code').first().textContent())!.replaceAll(' ', '');
    await page.getByLabel('Six-digit code').fill(await codeNow(p, secret));
    await page.getByRole('button', { name: 'Turn on and continue' }).click();
    await page.waitForSelector('.codes');
    await sound(page, 'backup-codes');
    const [code] = await page.locator('.codes code').allTextContents();
    await page.getByRole('button', { name: /continue/ }).click();
    await page.locator('button[value=allow]').click();
    expect((await arrived(page)).get('code')).toBeTruthy();
    const again = (await person()).page;
    await open(again, { client: 'demo-admin' });
    await signInAt(again, 'demo2@example.test');
    await again.getByText('Use a backup code').click();
    await again.getByLabel('Backup code').fill('aaaa-aaaa');
    await again.getByRole('button', { name: 'Continue with the backup code' }).click();
    await again.waitForSelector('[role=alert]');
    await sound(again, 'second-factor-wrong');
    await again.getByLabel('Backup code').fill(code!);
    await again.getByRole('button', { name: 'Continue with the backup code' }).click();
    expect((await arrived(again)).get('code')).toBeTruthy();
    expect(complaints).toEqual([]);
  });

  test('signing out others ends the sign-in of another browser', async () => {
    const [mine, other] = [await person(), await person()];
    const by = proof();
    const asking = { client: 'demo-app', scope: 'read:account' };
    await open(mine.page, asking, by);
    await signInAt(mine.page, 'demo@example.test');
    const tokens = await tokensOf(mine.page, 'demo-app', by);
    await open(other.page, asking);
    await signInAt(other.page, 'demo@example.test');
    await arrived(other.page);
    const ended = await p.rest('POST', '/identity/v1/users/me/sessions/sign-out-others', { token: tokens.access_token });
    expect([ended.status, ended.body.revoked > 0]).toEqual([200, true]);
    await open(other.page, asking);
    await other.page.waitForSelector('#identifier');
    await open(mine.page, asking);
    await arrived(mine.page);
    await mine.page.goto(`${p.url}/identity/v1/auth/sign-out`);
    await sound(mine.page, 'sign-out');
    await mine.page.getByRole('button', { name: 'Sign out' }).click();
    await mine.page.getByText('You are signed out').waitFor();
    await sound(mine.page, 'signed-out');
    await open(mine.page, asking);
    await mine.page.waitForSelector('#identifier');
    expect(complaints).toEqual([]);
  });

  test('signing in by a link that is mailed, and by its code', async () => {
    const { page, context } = await person();
    await open(page, { client: 'demo-app', scope: 'read:account' });
    await page.getByText('Sign in without a password').click();
    await page.locator('#email').fill('demo@example.test');
    await page.getByRole('button', { name: 'E-mail me a link' }).click();
    await page.waitForSelector('#code');
    await sound(page, 'check-your-mail');
    const { link } = await newestMail(p);
    const elsewhere = (await person()).page;
    await elsewhere.goto(link!);
    await sound(elsewhere, 'link-elsewhere');
    const tab = await context.newPage();
    await tab.goto(link!);
    await sound(tab, 'link-here');
    await tab.getByRole('button').first().click();
    expect((await arrived(tab)).get('code')).toBeTruthy();
    expect(complaints).toEqual([]);
  });

  test('the pages of new accounts, forgotten passwords and errors are sound', async () => {
    const { page } = await person();
    await open(page);
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.waitForSelector('#display_name');
    await sound(page, 'sign-up');
    await page.getByRole('link', { name: 'Back to sign-in' }).click();
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.waitForSelector('#email');
    await sound(page, 'recovery');
    await page.goto(`${p.url}/identity/v1/oauth/authorize?client_id=nobody`);
    await sound(page, 'refused');
    await page.goto(`${p.url}/identity/v1/auth/interactions/over`);
    await sound(page, 'over');
  });

  test('the pages of an invitation are sound', async () => {
    const invite = (email: string) =>
      p
        .serviceToken('admin:identity')
        .then(token => p.rest('POST', '/identity/v1/admin/staff/invite', { token, body: { email, roles: ['support'] } }));
    await invite('nova@example.test');
    const { link } = await newestMail(p);
    const { page } = await person();
    await page.goto(link!);
    await sound(page, 'invitation');
    await page.getByRole('button', { name: 'Open an account' }).click();
    await page.waitForSelector('img.qr');
    await sound(page, 'invitation-enrolment');
    const secret = (await page.locator('code').first().textContent())!.replaceAll(' ', '');
    await page.getByLabel('Six-digit code').fill(await codeNow(p, secret));
    await page.getByRole('button', { name: 'Turn on and continue' }).click();
    await page.getByRole('button', { name: /continue/ }).click();
    await page.getByRole('button', { name: 'Accept the invitation' }).waitFor();
    await sound(page, 'invitation-accept');
    await page.getByRole('button', { name: 'Accept the invitation' }).click();
    await page.getByText('Welcome').waitFor();
    await sound(page, 'invitation-welcome');
    await page.goto(link!.slice(0, -2));
    await sound(page, 'invitation-unknown');
  });

  test('a consent that asks for health and money, unticking all, and taking it back are sound', async () => {
    const { page } = await person();
    await open(page, {
      client: 'demo-app',
      scope: 'openid read:profile read:account read:biomarkers read:lab_results read:payments read:content',
    });
    await signInAt(page, 'admin@example.test');
    await page.getByText('Nothing of this at hand?').click();
    await sound(page, 'second-factor-lost');
    await page.getByLabel('Six-digit code').fill(await freshCode(p));
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.waitForSelector('[name=decision]');
    await sound(page, 'consent-groups');
    await page.getByRole('button', { name: 'Untick everything' }).click();
    await page.waitForSelector('[name=decision]');
    expect(await page.locator('[name=scope]:checked').count()).toBe(0);
    await sound(page, 'consent-none');
    await page.getByRole('checkbox', { name: /biomarker/ }).check();
    await page.locator('button[value=allow]').click();
    expect((await arrived(page)).get('code')).toBeTruthy();
    await page.goto(`${p.url}/identity/v1/auth/connected-apps`);
    await sound(page, 'connected-apps');
    for (const app of ['Demo app', 'Demo staff dashboard']) {
      const button = page.getByRole('button', { name: `Disconnect ${app}` });
      if (await button.isVisible()) await button.click(); // the dashboard is there when another test has used it
      await button.waitFor({ state: 'detached' });
    }
    await page.getByText('No app has access').waitFor();
    await sound(page, 'connected-apps-none');
  });

  test('too many tries and a refused new password are sound', async () => {
    const { page } = await person();
    await open(page);
    for (let n = 0; n < 6; n++) await signInAt(page, 'patient@example.test', 'wrong');
    await page.getByText('Too many tries').first().waitFor();
    await sound(page, 'too-many-tries');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.locator('#email').fill('demo@example.test');
    await page.getByRole('button', { name: 'Send the mail' }).click();
    await page.waitForSelector('#code');
    await sound(page, 'recovery-code');
    await page.locator('#code').fill('123456');
    await page.locator('#password').fill('password123');
    await page.getByRole('button', { name: 'Save the new password' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.locator('#code').inputValue()).toBe('123456');
    await sound(page, 'recovery-refused');
  });
});
