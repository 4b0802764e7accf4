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
  const consentPage = async (browser: Browser, scope: string, client = 'demo-partner-app') => {
    const asked = await login(browser, await start(browser, { client, scope, more: { prompt: 'consent login' } }), 'admin@example.test');
    return browser.follow(p, await browser.submit(asked, '/mfa', { code: await freshCode(p) }));
  };

  /** Boxes of the page, and whether they are ticked. */
  const boxes = ({ html }: Page): Record<string, boolean> =>
    Object.fromEntries(
      [...html.matchAll(/<input type="checkbox" name="scope" value="([^"]+)"([^>]*)>/g)].map(([, scope, more]) => [
        scope!,
        / checked/.test(more!),
      ]),
    );
  const stored = async (client: string) =>
    (await p.sql('select scopes, declined_scopes from identity.oauth_grant where user_id = $1 and client_id = $2', [ADMIN, client]))[0];

  test('names app, publisher, every scope with its title in groups, and where to take it back', async () => {
    await p.sql("update identity.oauth_client set privacy_url = 'https://partner.example/privacy' where id = 'demo-partner-app'");
    const { html } = await consentPage(new Browser(), 'read:profile read:payments manage:subscriptions read:content');
    const parts = [
      'What may Demo partner app do?',
      'published by <strong>Demo Partner Ltd</strong>',
      '<a href="https://partner.example/privacy" rel="noreferrer">How Demo partner app treats your data</a>',
      '<legend>Your profile</legend>',
      'See your handle, name',
      '<legend>Your money</legend>',
      'See your charges',
      '<legend>Everything else</legend>',
      'See articles',
      `<a href="${p.url}/identity/v1/auth/connected-apps">connected apps</a>`,
    ];
    const places = parts.map(part => html.replaceAll(/\s+/g, ' ').indexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    await p.sql("update identity.oauth_client set publisher = 'Somebody else' where id = 'demo-app'"); // of ours it is the brand
    const own = (await consentPage(new Browser(), 'read:profile', 'demo-app')).html.replaceAll(/\s+/g, ' ');
    expect(own).toContain('Demo app is our own app, published by Main.');
  });

  test('health and money are un-ticked the first time and the rest is ticked; asked again, all is as it was answered', async () => {
    const asked = 'read:profile read:biomarkers write:clinical read:payments manage:subscriptions read:content';
    const browser = new Browser();
    const first = await consentPage(browser, asked, 'demo-app');
    expect(boxes(first)).toEqual({
      'read:profile': true,
      'read:biomarkers': false,
      'write:clinical': false,
      'read:payments': false,
      'manage:subscriptions': false,
      'read:content': true,
    });
    await browser.submit(first, '/consent', { decision: 'allow', scope: ['read:biomarkers', 'read:profile'] });
    const again = await consentPage(new Browser(), `${asked} read:invoices read:live`, 'demo-app');
    const ticked = Object.entries(boxes(again)).flatMap(([scope, is]) => (is ? [scope] : []));
    expect(ticked.sort()).toEqual(['read:biomarkers', 'read:live', 'read:profile']);
  });

  test('none shows the page again with nothing ticked, and decides nothing', async () => {
    const browser = new Browser();
    const page = await browser.submit(await consentPage(browser, 'read:profile read:content read:payments'), '/consent', {
      decision: 'none',
      scope: ['read:profile', 'read:payments'],
    });
    expect([page.status, isConsent(page), Object.values(boxes(page))]).toEqual([200, true, [false, false, false]]);
    expect(await stored('demo-partner-app')).toBeUndefined();
    const answer = answered(await browser.follow(p, await browser.submit(page, '/consent', { decision: 'allow', scope: 'read:content' })));
    expect(answer.code).toBeTruthy();
    expect(await stored('demo-partner-app')).toEqual({ scopes: ['read:content'], declined_scopes: ['read:payments', 'read:profile'] });
    await p.sql("delete from identity.token_family where client_id = 'demo-partner-app' and user_id = $1", [ADMIN]);
    await p.sql(
      "delete from identity.scope_use where grant_id in (select id from identity.oauth_grant where client_id = 'demo-partner-app' and user_id = $1)",
      [ADMIN],
    );
    await p.sql("delete from identity.oauth_grant where client_id = 'demo-partner-app' and user_id = $1", [ADMIN]);
  });

  test('allowing nothing and cancelling are told apart, on the page and to the app', async () => {
    const said: Record<string, string>[] = [];
    for (const step of ['/consent', '/abort']) {
      const browser = new Browser();
      const page = await consentPage(browser, 'read:profile');
      expect(page.html.replaceAll(/\s+/g, ' ')).toMatch(
        /Allow nothing.*told that you refuse.*Cancel and decide another time.*told only that you went back/,
      );
      said.push(answered(await browser.follow(p, await browser.submit(page, step, step === '/consent' ? { decision: 'deny' } : {}))));
    }
    expect(said.map(one => [one.error, one.error_description])).toEqual([
      ['access_denied', 'the user allowed nothing'],
      ['access_denied', 'the user went back'],
    ]);
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

  test('a scope that was not asked for cannot be ticked: it is neither given nor stored', async () => {
    const tokens = await signIn(p, { email: 'demo2@example.test', scope: 'read:profile', tick: ['read:profile', 'read:account'] });
    expect(tokens.scope).toBe('read:profile');
    const [grant] = await p.sql(
      "select scopes, declined_scopes from identity.oauth_grant where user_id = $1 and client_id = 'demo-partner-app'",
      [DEMO2],
    );
    expect(grant).toEqual({ scopes: ['read:profile'], declined_scopes: [] });
    const [event] = await p.sql(
      "select data from events.outbox where type = 'identity.grant.changed.v1' and user_id = $1 order by seq desc limit 1",
      [DEMO2],
    );
    expect(event.data.scopes).toEqual(['read:profile']);
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

describe('a page on which nothing can be done', () => {
  const leadsTo = (page: Page): string[] =>
    [...page.html.matchAll(/<ul class="ways">([\s\S]*?)<\/ul>/g)].flatMap(([, list]) =>
      [...list!.matchAll(/href="([^"]+)"/g)].map(([, to]) => to!),
    );

  test('leads back to the app that the browser came from, else to the account', async () => {
    const browser = new Browser();
    const { html } = await start(browser);
    const over = `${p.url}/identity/v1/auth/interactions/over`;
    expect(html).toContain('Sign in to Demo partner app');
    const page = await browser.get(over);
    expect([page.status, leadsTo(page)]).toEqual([400, ['http://localhost:5174/']]);
    expect(leadsTo(await new Browser().get(over))).toEqual([`${p.url}/identity/v1/auth/connected-apps`]);
    await p.sql("update identity.oauth_client set homepage_url = 'https://partner.example/start' where id = 'demo-partner-app'");
    expect(leadsTo(await browser.get(`${p.url}/identity/v1/auth/magic/${'x'.repeat(43)}`))).toEqual(['https://partner.example/start']);
    await p.sql("update identity.oauth_client set homepage_url = null where id = 'demo-partner-app'");
  });

  test('for a request that cannot begin leads to the app that it names, and nowhere that the request says', async () => {
    const url = authorizeUrl(p, { more: { redirect_uri: 'https://evil.example/' } }, proof());
    const page = await new Browser().get(url);
    expect([page.status, leadsTo(page)]).toEqual([400, ['http://localhost:5174/']]);
    expect(page.html).not.toContain('evil.example');
  });

  test('after too many tries says how long to wait, and leads to the other ways in', async () => {
    const browser = new Browser();
    const page = await start(browser);
    const attempt = () => browser.submit(page, '/login', { identifier: 'patient@example.test', password: 'wrong' });
    for (let n = 0; n < 5; n++) await attempt();
    const held = await attempt();
    const action = /action="([^"]+)\/login"/.exec(page.html)![1]!;
    expect([held.status, held.html.includes('Wait a minute'), leadsTo(held)]).toEqual([
      429,
      true,
      [action, `${action}/magic-link`, `${action}/recovery`],
    ]);
    expect(answered(await browser.follow(p, await browser.submit(held, '/abort'))).error).toBe('access_denied');
  });

  test('the address of a form, opened again, leads to the step that is due', async () => {
    const browser = new Browser();
    const action = /action="([^"]+)\/login"/.exec((await start(browser)).html)![1]!;
    for (const step of ['login', 'mfa', 'consent', 'email-code', 'new-password', 'nonsense'])
      expect([step, isSignIn(await browser.open(p, `${action}/${step}`))]).toEqual([step, true]);
  });

  test('a second factor that cannot be shown leads to another account', async () => {
    const browser = new Browser();
    const asked = await login(browser, await start(browser, { more: { prompt: 'login' } }), 'admin@example.test');
    expect(asked.html).toContain('You have no backup codes left');
    const form = { ...asked, html: asked.html.slice(asked.html.indexOf('Nothing of this at hand')) };
    expect(isSignIn(await browser.follow(p, await browser.submit(form, '/mfa')))).toBe(true);
    expect((await browser.submit(asked, '/mfa', { code: await freshCode(p) })).status).toBe(400);
  });
});

describe('connected apps', () => {
  const open = (browser: Browser) => browser.get(`${p.url}/identity/v1/auth/connected-apps`);

  test('are shown to who is signed in, and each can be disconnected there', async () => {
    const browser = new Browser();
    const tokens = await signIn(p, { email: 'demo2@example.test', scope: 'read:profile' }, browser);
    const page = await open(browser);
    expect(page.html.replaceAll(/\s+/g, ' ')).toMatch(/Demo partner app.*By Demo Partner Ltd.*See your handle, name/);
    expect((await browser.submit(page, '/connected-apps', { csrf: 'x' })).status).toBe(403);
    const form = { ...page, html: page.html.slice(page.html.indexOf('<h2>Demo partner app')) };
    for (let n = 0; n < 2; n++) expect((await browser.submit(form, '/connected-apps')).status).toBe(303);
    expect((await open(browser)).html).not.toContain('Demo partner app');
    expect((await refresh(p, 'demo-partner-app', tokens.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('are shown to nobody else', async () => {
    const page = await open(new Browser());
    expect([page.status, page.html.includes('Nobody is signed in'), page.html.includes('Disconnect')]).toEqual([200, true, false]);
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
