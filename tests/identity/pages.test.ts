import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import {
  answered,
  authorizeUrl,
  Browser,
  freshCode,
  isConsent,
  isSecondFactor,
  isSignIn,
  PASSWORD,
  proof,
  redeem,
  refresh,
  signIn,
  type Page,
} from './browser.js';
import { claimsOf, introspect } from './oauth.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));

const start = (browser: Browser, asking = {}) => browser.open(p, authorizeUrl(p, asking, proof()));
const login = async (browser: Browser, page: Page, identifier: string, password = PASSWORD): Promise<Page> =>
  browser.follow(p, await browser.submit(page, '/login', { identifier, password }));

describe('every page', () => {
  test('bears the strict headers, and its forms may lead to the app and nowhere else', async () => {
    const { headers, html } = await start(new Browser());
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self' http://localhost:5174",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    expect(html).not.toMatch(/<script|<style|style="|onclick/);
    for (const [, address] of html.matchAll(/(?:src|href|action)="([^"#][^"]*)"/g))
      expect(address).toMatch(new RegExp(`^${p.url}/identity/v1/auth/`));
  });

  test('has a language, a title, a heading, labels and autocomplete', async () => {
    const { html } = await start(new Browser());
    expect(html).toMatch(/<html lang="en">[\s\S]*<meta name="viewport"[\s\S]*<title>Sign in to Demo partner app<\/title>[\s\S]*<h1>/);
    expect(html).toMatch(/<label for="identifier">[\s\S]*id="identifier"[^>]*autocomplete="username"/);
    expect(html).toMatch(/<label for="password">[\s\S]*id="password"[^>]*autocomplete="current-password"/);
  });

  test.each([
    ['de-CH en', '<html lang="de-CH">', '<body lang="en">'],
    ['en-GB', '<html lang="en-GB">', '<body >'],
    ['"><script>', '<html lang="en">', '<body >'],
  ])('with ui_locales %s has the language of the person, and marks what it is written in', async (ui_locales, ...marks) => {
    const { html } = await start(new Browser(), { more: { ui_locales } });
    for (const mark of marks) expect(html).toContain(mark);
    expect(html).not.toContain('<script>');
  });

  test('takes its one stylesheet from its own origin', async () => {
    const { html } = await start(new Browser());
    const { status, headers } = await new Browser().get(/<link rel="stylesheet" href="([^"]+)"/.exec(html)![1]!);
    expect([status, headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
  });

  test('escapes what the request says', async () => {
    const { html } = await start(new Browser(), { more: { login_hint: '"><script>alert(1)</script>' } });
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;');
    expect(html).not.toContain('<script>');
  });

  test('is a 400 page without the interaction cookie, whatever its address', async () => {
    const { html } = await start(new Browser());
    const address = /action="([^"]+)\/login"/.exec(html)![1]!;
    for (const url of [address, `${p.url}/identity/v1/auth/interactions/unknown`]) {
      const page = await new Browser().get(url);
      expect([page.status, page.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    }
  });
});

describe('a form', () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['without the token', { csrf: '' }, {}],
    ['with another token', { csrf: 'a'.repeat(43) }, {}],
    ['from another origin', {}, { origin: 'https://evil.example' }],
  ])('%s is refused with 403', async (_case, fields, headers) => {
    const browser = new Browser();
    const page = await browser.submit(
      await start(browser),
      '/login',
      { identifier: 'demo@example.test', password: PASSWORD, ...fields },
      headers,
    );
    expect([page.status, page.location]).toEqual([403, null]);
  });

  test('from our origin is taken', async () => {
    const browser = new Browser();
    const page = await browser.submit(
      await start(browser),
      '/login',
      { identifier: 'demo@example.test', password: PASSWORD },
      { origin: p.url },
    );
    expect(page.status).toBe(303);
  });

  test("of one browser is not taken from another's", async () => {
    const page = await start(new Browser());
    expect((await new Browser().submit(page, '/login', { identifier: 'demo@example.test', password: PASSWORD })).status).toBe(400);
  });

  test('for a step that is not due changes nothing', async () => {
    const browser = new Browser();
    const page = await start(browser);
    const forged = { ...page, html: page.html.replace('/login"', '/consent"') };
    expect((await browser.submit(forged, '/consent', { decision: 'allow', scope: 'read:profile' })).status).toBe(400);
  });
});

describe('signing in', () => {
  test.each([
    ['a wrong password', 'demo@example.test', 'wrong-password'],
    ['an unknown address', 'nobody@example.test', PASSWORD],
  ])('with %s is the same 422 page, whose alert is linked to the field', async (_case, identifier, password) => {
    const browser = new Browser();
    const page = await browser.submit(await start(browser), '/login', { identifier, password });
    expect([page.status, isSignIn(page)]).toEqual([422, true]);
    expect(page.html).toContain(
      '<div class="alert" role="alert"><a href="#identifier">The e-mail address or the password is wrong.</a></div>',
    );
    expect(page.html).not.toContain(password);
  });

  test.each(['suspended', 'banned', 'erasing', 'pending'])(
    'a %s account is refused like a wrong password, and its refresh tokens are, too',
    async status => {
      const tokens = await signIn(p, { client: 'demo-app', email: 'demo2@example.test' });
      await p.sql('update identity."user" set status = $1 where id = $2', [status, DEMO2]);
      const browser = new Browser();
      const page = await browser.submit(await start(browser), '/login', { identifier: 'demo2@example.test', password: PASSWORD });
      const { body } = await refresh(p, 'demo-app', tokens.refresh_token);
      await p.sql('update identity."user" set status = $1 where id = $2', ['active', DEMO2]);
      expect([page.status, body.error]).toEqual([422, 'invalid_grant']);
    },
  );

  test('after five wrong passwords even the right one waits, and an unknown address waits alike', async () => {
    for (const identifier of ['admin@example.test', 'stranger@example.test']) {
      const browser = new Browser();
      const page = await start(browser);
      const attempt = (password: string) => browser.submit(page, '/login', { identifier, password });
      for (let n = 0; n < 5; n++) expect((await attempt(`wrong-${n}`)).status).toBe(422);
      const blocked = await attempt(PASSWORD);
      expect([blocked.status, Number(blocked.headers['retry-after'])]).toEqual([429, expect.any(Number)]);
    }
    await p.clock('identity', { advance: 'PT61S' });
    const browser = new Browser();
    expect(isSecondFactor(await login(browser, await start(browser), 'admin@example.test'))).toBe(true);
  });

  test('changes the session cookie, and writes down who signed in and that somebody failed, never what was typed', async () => {
    const browser = new Browser();
    await signIn(p, {}, browser);
    const before = browser.cookies;
    await login(browser, await start(browser, { more: { prompt: 'login' } }), 'demo@example.test');
    expect(browser.cookies).not.toEqual(before);
    const rows = await p.sql("select action, target, details from identity.audit_log where action like 'sign_in.%' order by at, id");
    expect(rows).toContainEqual({ action: 'sign_in.succeeded', target: DEMO, details: { client_id: 'demo-partner-app' } });
    expect(rows).toContainEqual({ action: 'sign_in.failed', target: null, details: { client_id: 'demo-partner-app' } });
    expect(JSON.stringify(rows)).not.toMatch(/@|wrong|Demo-Passw0rd/);
  });

  test('takes the address in any case of letters', async () => {
    const browser = new Browser();
    expect((await browser.submit(await start(browser), '/login', { identifier: ' DEMO@Example.TEST ', password: PASSWORD })).status).toBe(
      303,
    );
  });
});

describe('consent', () => {
  const consentPage = async (browser: Browser, scope: string) => {
    const asked = await login(browser, await start(browser, { scope, more: { prompt: 'consent login' } }), 'admin@example.test');
    return browser.follow(p, await browser.submit(asked, '/mfa', { code: await freshCode(p) }));
  };

  test('names app, publisher, every scope with its title, money apart, and where to take it back', async () => {
    const { html } = await consentPage(new Browser(), 'read:profile read:payments manage:subscriptions');
    expect(html).toMatch(
      /What may Demo partner app do\?[\s\S]*published by somebody else[\s\S]*See your handle, name[\s\S]*<h2>Money<\/h2>[\s\S]*See your charges/,
    );
    expect(html).toContain('connected apps');
  });

  test.each([
    ['deny', { decision: 'deny', scope: 'read:profile' }],
    ['nothing ticked', { decision: 'allow', scope: [] as string[] }],
  ])('%s sends back access_denied and stores no consent', async (_case, fields) => {
    const browser = new Browser();
    const page = await consentPage(browser, 'read:profile');
    const answer = answered(await browser.follow(p, await browser.submit(page, '/consent', fields)));
    expect(answer).toMatchObject({ error: 'access_denied', state: 'st4te', iss: `${p.url}/identity` });
    expect(await p.sql("select 1 from identity.oauth_grant where user_id = $1 and client_id = 'demo-partner-app'", [ADMIN])).toEqual([]);
  });

  test('going back sends access_denied from every page', async () => {
    for (const page of [start, (browser: Browser) => consentPage(browser, 'read:profile')]) {
      const browser = new Browser();
      const shown = await page(browser);
      expect(answered(await browser.follow(p, await browser.submit(shown, '/abort'))).error).toBe('access_denied');
    }
  });

  test('a scope that was not asked for cannot be ticked', async () => {
    const tokens = await signIn(p, { email: 'demo2@example.test', scope: 'read:profile', tick: ['read:profile', 'read:account'] });
    expect(tokens.scope).toBe('read:profile');
  });

  test('a native app always asks', async () => {
    await p.sql("update identity.oauth_client set redirect_uris = redirect_uris || '{com.example.app:/cb}' where id = 'demo-app'");
    const native = { client: 'demo-app', more: { redirect_uri: 'com.example.app:/cb' } };
    const browser = new Browser();
    await signIn(p, { client: 'demo-app' }, browser);
    for (let n = 0; n < 2; n++) {
      const by = proof();
      const page = await browser.open(p, authorizeUrl(p, native, by));
      expect([isConsent(page), page.headers['content-security-policy']]).toEqual([
        true,
        expect.stringContaining("form-action 'self' com.example.app:"),
      ]);
      const { code } = answered(
        await browser.follow(p, await browser.submit(page, '/consent', { decision: 'allow', scope: 'read:profile' })),
      );
      expect((await redeem(p, 'demo-app', code!, by, { redirect_uri: 'com.example.app:/cb' })).status).toBe(200);
    }
  });
});

describe('signing out', () => {
  test("ends the browser's sign-in and the operator's own apps of it; an app of somebody else stays connected", async () => {
    const browser = new Browser();
    const [own, other, elsewhere] = [
      await signIn(p, { client: 'demo-app' }, browser),
      await signIn(p, {}, browser),
      await signIn(p, { client: 'demo-app' }),
    ];
    const done = await browser.submit(await browser.get(`${p.url}/identity/v1/auth/sign-out`), '/sign-out');
    expect([done.status, done.html]).toEqual([200, expect.stringContaining('You are signed out')]);
    expect(isSignIn(await start(browser))).toBe(true);
    expect((await refresh(p, 'demo-app', own.refresh_token)).body.error).toBe('invalid_grant');
    expect((await introspect(p, own.access_token)).active).toBe(false);
    for (const [client, tokens] of [
      ['demo-partner-app', other],
      ['demo-app', elsewhere],
    ] as const)
      expect((await refresh(p, client, tokens.refresh_token)).status).toBe(200);
    const [session] = await p.sql('select ended_at from identity.auth_session where id = $1', [claimsOf(own.access_token).sid]);
    expect(session.ended_at).not.toBeNull();
  });

  test('needs the form of this browser', async () => {
    const browser = new Browser();
    await signIn(p, {}, browser);
    const page = await browser.get(`${p.url}/identity/v1/auth/sign-out`);
    expect((await browser.submit(page, '/sign-out', { csrf: 'x' })).status).toBe(403);
    expect(isSignIn(await start(browser))).toBe(false);
  });
});
