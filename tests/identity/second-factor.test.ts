import { beforeAll, describe, expect, test } from 'vitest';
import { startPlatform } from '../../gateway/composition/platform.js';
import { loadConfig } from '../../runtime/config.js';
import { SERVICES } from '../../subgraphs/services.js';
import { ADMIN, DEMO, DEMO2, freePort, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import {
  answered,
  authorizeUrl,
  Browser,
  codeNow,
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
import { mails, newestMail } from './mailbox.js';
import { claimsOf, emitted } from './oauth.js';
import { makeStaff } from './staff.js';

const OWNER = 'admin@example.test';

let p: TestPlatform;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  await p.clock('identity', { advance: 'PT1S' }); // from now on it stands still
});

const start = (browser: Browser, asking = {}) => browser.open(p, authorizeUrl(p, asking, proof()));
async function login(browser: Browser, email = OWNER, asking = {}): Promise<Page> {
  const page = await start(browser, asking);
  return browser.follow(p, await browser.submit(page, '/login', { identifier: email, password: PASSWORD }));
}
const answer = async (browser: Browser, page: Page, fields: Record<string, string>): Promise<Page> =>
  browser.follow(p, await browser.submit(page, '/mfa', fields));
const audited = async (action: string) =>
  (await p.sql('select target, details from identity.audit_log where action = $1 order by at, id', [action])).at(-1);

describe('the second factor', () => {
  test('is asked for after the password, and stands in amr', async () => {
    const browser = new Browser();
    const asked = await login(browser);
    expect([asked.status, isSecondFactor(asked), isSignIn(asked)]).toEqual([200, true, false]);
    expect(asked.html).toMatch(/<label for="code">[\s\S]*id="code"[^>]*autocomplete="one-time-code"/);
    expect(asked.headers['content-security-policy']).toContain("form-action 'self' http://localhost:5174");
    const page = await answer(browser, asked, { code: await freshCode(p) });
    expect(isConsent(page)).toBe(true);
    const tokens = await signIn(p, { email: OWNER, client: 'demo-app' });
    expect(claimsOf(tokens.access_token)).toMatchObject({ sub: ADMIN, amr: ['pwd', 'otp', 'mfa'] });
    expect(await audited('second_factor.accepted')).toEqual({ target: ADMIN, details: { client_id: 'demo-app', method: 'totp' } });
  });

  test('cannot be left out: no other step is due before it, and the request does not go on', async () => {
    const browser = new Browser();
    const asked = await login(browser);
    const forged = (step: string) => ({ ...asked, html: asked.html.replaceAll('/mfa"', `/${step}"`) });
    for (const [step, fields] of [
      ['consent', { decision: 'allow', scope: 'read:profile' }],
      ['mfa-enrol', { code: '123456' }],
    ] as const) {
      const page = await browser.submit(forged(step), `/${step}`, fields);
      expect([step, page.status, page.location]).toEqual([step, 400, null]);
    }
    const uid = /interactions\/([\w-]+)/.exec(asked.url)![1];
    const resumed = await browser.follow(p, await browser.get(`${p.url}/identity/v1/oauth/authorize/${uid}`));
    expect([isConsent(resumed), isSignIn(resumed)]).toEqual([false, true]);
    expect(isSignIn(await start(browser))).toBe(true);
  });

  test.each(['sms', '', 'constructor', '__proto__'])('cannot be answered by a way that does not exist: "%s"', async method => {
    const browser = new Browser();
    const page = await login(browser);
    expect([page.status, (await browser.submit(page, '/mfa', { method, code: await freshCode(p) })).status]).toEqual([200, 400]);
  });

  test('of one sign-in is not taken for another', async () => {
    const [mine, other] = [new Browser(), new Browser()];
    await login(mine);
    const page = await start(other);
    const forged = { ...page, html: page.html.replaceAll('/login"', '/mfa"') };
    expect((await other.submit(forged, '/mfa', { method: 'totp', code: await freshCode(p) })).status).toBe(400);
  });

  test('survives a change of process, also on its way', async () => {
    const port = await freePort();
    const second = await startPlatform({
      config: loadConfig({ ...p.env, PORT: String(port), IDENTITY_ISSUER: `${p.url}/identity`, ROLES: 'subgraphs,gateway,rest' }),
      services: SERVICES,
    });
    try {
      const browser = new Browser();
      const asked = await login(browser);
      const elsewhere = { ...asked, html: asked.html.replaceAll(p.url, `http://localhost:${port}`) };
      const done = await browser.submit(elsewhere, '/mfa', { code: await freshCode(p) });
      expect([done.status, isConsent(await browser.follow(p, done))]).toEqual([303, true]);
    } finally {
      await second.stop();
    }
  });

  test('a code is accepted once: again in the same step it is refused', async () => {
    const [first, second] = [new Browser(), new Browser()];
    const code = await freshCode(p);
    expect(isConsent(await answer(first, await login(first), { code }))).toBe(true);
    const refused = await answer(second, await login(second), { code });
    expect([refused.status, isSecondFactor(refused)]).toEqual([422, true]);
    expect(refused.html).toContain('<div class="alert" role="alert"><a href="#code">');
  });

  test('after five wrong codes the sign-in begins again, and other accounts go on', async () => {
    const browser = new Browser();
    let page = await login(browser);
    for (let n = 0; n < 4; n++) {
      page = await answer(browser, page, { code: `00000${n}` });
      expect([page.status, isSecondFactor(page)]).toEqual([422, true]);
    }
    const last = await answer(browser, page, { code: '000004' });
    expect([last.status, isSignIn(last)]).toEqual([422, true]);
    expect(await audited('second_factor.refused')).toMatchObject({ target: ADMIN });
    const forged = { ...last, html: last.html.replaceAll('/login"', '/mfa"') };
    expect((await browser.submit(forged, '/mfa', { method: 'totp', code: await freshCode(p) })).status).toBe(400);
  });

  test('after ten wrong codes of an account in an hour even the right one waits', async () => {
    await p.clock('identity', { advance: 'PT1H1S' });
    for (let signIns = 0; signIns < 2; signIns++) {
      const browser = new Browser();
      let page = await login(browser);
      for (let n = 0; n < 5; n++) page = await answer(browser, page, { code: `11111${n}` });
    }
    const browser = new Browser();
    const blocked = await answer(browser, await login(browser), { code: await freshCode(p) });
    expect([blocked.status, Number(blocked.headers['retry-after']) > 3000]).toEqual([429, true]);
    await p.clock('identity', { advance: 'PT1H1S' });
    const late = new Browser();
    expect(isConsent(await answer(late, await login(late), { code: await freshCode(p) }))).toBe(true);
  });

  test('has to be given within ten minutes', async () => {
    const browser = new Browser();
    const asked = await login(browser);
    await p.clock('identity', { advance: 'PT10M1S' });
    expect((await browser.submit(asked, '/mfa', { code: await freshCode(p) })).status).toBe(400);
    expect(isSignIn(await browser.get(asked.url))).toBe(true);
  });

  test('is nobody else to be told of: without a method the password is enough', async () => {
    const tokens = await signIn(p, { client: 'demo-app', email: 'demo2@example.test' });
    expect(claimsOf(tokens.access_token).amr).toEqual(['pwd']);
  });
});

test('an authenticator app comes with ten backup codes; one of them signs in once', async () => {
  const own = await p.userToken(DEMO, ['read:account']);
  const me = (method: string, path: string, body?: unknown) => p.rest(method, `/identity/v1/users/me${path}`, { token: own, body });
  const begun = (await me('POST', '/mfa/totp/init', {})).body;
  const { body } = await me('POST', '/mfa/totp/confirm', { method_id: begun.method_id, code: await codeNow(p, begun.secret) });
  expect(body.backup_codes).toHaveLength(10);
  expect((await me('GET', '/backup-codes')).body).toMatchObject({ total: 10, remaining: 10 });
  const spend = async (browser: Browser) =>
    answer(browser, await login(browser, 'demo@example.test', { client: 'demo-app' }), {
      method: 'backup_code',
      code: ` ${body.backup_codes[0].toUpperCase()} `,
    });
  const by = await spend(new Browser());
  expect(answered(by).code).toEqual(expect.any(String));
  expect((await me('GET', '/backup-codes')).body).toMatchObject({ total: 10, remaining: 9 });
  const again = await spend(new Browser());
  expect([again.status, isSecondFactor(again)]).toEqual([422, true]);
  expect(again.html).toContain('href="#backup-code"');
  const tokens = await signIn(p, { client: 'demo-app', secret: begun.secret });
  expect(claimsOf(tokens.access_token).amr).toEqual(['pwd', 'otp', 'mfa']);
  const kept = JSON.stringify([
    await p.sql('select * from identity.sign_in_progress'),
    await p.sql('select details from identity.audit_log'),
  ]);
  for (const code of body.backup_codes) expect(kept).not.toContain(code);
});

describe('a code by e-mail', () => {
  const ask = { client: 'demo-app', email: 'demo2@example.test' };
  const method = 'email_otp';
  const enable = (kind = method) =>
    p.sql("insert into identity.mfa_method (id, user_id, kind, status, created_at) values (gen_random_uuid(), $1, $2, 'active', now())", [
      DEMO2,
      kind,
    ]);
  const clear = () => p.sql('delete from identity.mfa_method where user_id = $1', [DEMO2]);

  test('is sent at once to whom it is the only factor, and again when it is asked for; only the newest is good', async () => {
    await enable();
    const browser = new Browser();
    const asked = await login(browser, ask.email, ask);
    expect(asked.html).toContain('d•••@example.test');
    const first = await newestMail(p);
    expect([first.template, first.to, first.link]).toEqual(['second_factor', ask.email, null]);
    const event = (await emitted(p, 'auth.two_factor.challenge.v1')).at(-1);
    expect(JSON.stringify(event)).not.toContain(first.code);
    await p.clock('identity', { advance: 'PT1S' });
    const again = await answer(browser, asked, { method, resend: '1' });
    expect([again.status, isSecondFactor(again)]).toEqual([200, true]);
    const second = await newestMail(p);
    const wrong = await answer(browser, again, { method, code: first.code === second.code ? '' : first.code! });
    expect([wrong.status, wrong.html.includes('href="#mail-code"')]).toEqual([422, true]);
    const page = await answer(browser, wrong, { method, code: second.code! });
    const by = answered(page);
    expect(by.code).toEqual(expect.any(String));
    expect(await audited('second_factor.accepted')).toEqual({ target: DEMO2, details: { client_id: 'demo-app', method } });
  });

  test('is not that of somebody else, nor for whom it is no method', async () => {
    await clear();
    await p.clock('identity', { advance: 'PT15M' });
    const browser = new Browser();
    const asked = await login(browser);
    const before = await mails(p);
    await answer(browser, asked, { method, resend: '1' });
    expect(await mails(p)).toBe(before);
    expect((await answer(browser, asked, { method, code: '000000' })).status).toBe(422);
  });

  test('adds nothing to a sign-in by mail', async () => {
    await enable();
    const browser = new Browser();
    const page = await start(browser, ask);
    const sent = await browser.submit(page, '/magic-link', { email: ask.email });
    const { code } = await newestMail(p);
    expect(isSecondFactor(await browser.follow(p, await browser.submit(sent, '/email-code', { code: code! })))).toBe(false);
    await clear();
  });
});

describe('staff', () => {
  const ask = { client: 'demo-admin', email: 'demo2@example.test' };
  let secret: string;

  test('without a second factor set one up as they sign in, and keep their backup codes', async () => {
    await makeStaff(p, DEMO2, 'support');
    const browser = new Browser();
    const page = await login(browser, ask.email, ask);
    expect([page.status, isSecondFactor(page), page.html.includes('src="data:image/svg+xml;base64,')]).toEqual([200, false, true]);
    secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.html)![1]!.replaceAll(' ', '');
    const wrong = await browser.submit(page, '/mfa-enrol', { code: '000000' });
    expect([wrong.status, wrong.html.includes('role="alert"')]).toEqual([422, true]);
    expect((await browser.get(page.url)).html.replaceAll(' ', '')).toContain(secret); // the same, also when the page is loaded again
    const done = await browser.submit(page, '/mfa-enrol', { code: await codeNow(p, secret) });
    expect([done.status, [...done.html.matchAll(/<li><code>([a-z2-9]{4}-[a-z2-9]{4})<\/code>/g)].length]).toEqual([200, 10]);
    expect((await browser.get(page.url)).html).not.toContain('<li><code>');
    const after = await browser.follow(p, await browser.submit(done, '/mfa-enrol'));
    expect(isConsent(after)).toBe(true);
    expect(await p.sql('select 1 from identity.sign_in_progress where user_id = $1', [DEMO2])).toEqual([]);
  });

  test('five wrong codes end the set-up', async () => {
    await p.sql('delete from identity.mfa_method where user_id = $1', [DEMO2]);
    const browser = new Browser();
    let page = await login(browser, ask.email, ask);
    for (let n = 0; n < 5; n++) page = await browser.submit(page, '/mfa-enrol', { code: '000000' });
    expect([page.status, isSignIn(page)]).toEqual([422, true]);
    const again = await login(browser, ask.email, ask);
    secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(again.html)![1]!.replaceAll(' ', '');
    const done = await browser.submit(again, '/mfa-enrol', { code: await codeNow(p, secret) });
    expect(done.html).toContain('Keep your backup codes');
  });

  test('with the role support read accounts through the dashboard, and are refused a ban by the name of the scope', async () => {
    const { access_token: token } = await signIn(p, { ...ask, secret });
    expect(claimsOf(token)).toMatchObject({ roles: ['support'], permissions: expect.arrayContaining(['admin:identity:read']) });
    expect((await p.rest('GET', `/identity/v1/admin/users/${DEMO}`, { token })).status).toBe(200);
    const refused = await p.rest('POST', `/identity/v1/admin/users/${DEMO}/ban`, { token, body: { reason_code: 'spam' } });
    expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_scope']);
    expect(refused.headers['www-authenticate']).toContain('scope="admin:identity:moderate"');
  });

  test('through an app without staff access bear no roles and are no staff there', async () => {
    const { access_token: token } = await signIn(p, { ...ask, client: 'demo-app', secret });
    expect([claimsOf(token).roles, claimsOf(token).permissions]).toEqual([undefined, undefined]);
    expect((await p.rest('GET', `/identity/v1/admin/users/${DEMO}`, { token })).status).toBe(403);
  });

  test('get what they may do anew with each refresh', async () => {
    const tokens = await signIn(p, { ...ask, secret });
    const service = await p.serviceToken('admin:identity');
    const body = { user_id: DEMO2, role: 'moderator' };
    await p.rest('POST', '/identity/v1/rbac/assignments', { token: service, body });
    const path = `/identity/v1/admin/users/${DEMO}`;
    await until(
      'the old token to end',
      async () => (await p.rest('GET', path, { token: tokens.access_token })).status,
      status => status === 401,
    );
    await p.clock('identity', { advance: 'PT2S' });
    const more = await refresh(p, ask.client, tokens.refresh_token);
    expect(claimsOf(more.body.access_token).roles).toEqual(['moderator', 'support']);
    await p.rest('POST', '/identity/v1/rbac/assignments/revoke', { token: service, body });
    await p.clock('identity', { advance: 'PT2S' });
    const less = await refresh(p, ask.client, more.body.refresh_token);
    expect(claimsOf(less.body.access_token).roles).toEqual(['support']);
  });

  test('sign in again at the dashboard after twelve hours, at other apps they need not, and their refreshed tokens are without power then', async () => {
    const browser = new Browser();
    const tokens = await signIn(p, { ...ask, secret }, browser);
    await p.clock('identity', { advance: 'PT11H59M' });
    const by = proof();
    expect((await redeem(p, ask.client, answered(await browser.open(p, authorizeUrl(p, ask, by))).code!, by)).status).toBe(200);
    await p.clock('identity', { advance: 'PT2M' });
    expect(isSignIn(await start(browser, ask))).toBe(true);
    expect(isSignIn(await start(browser, { ...ask, client: 'demo-app' }))).toBe(false);
    expect(claimsOf((await refresh(p, ask.client, tokens.refresh_token)).body.access_token).permissions).toBeUndefined();
  });

  test('who signed in without a second factor are asked to sign in again by the dashboard', async () => {
    const browser = new Browser();
    await p.sql("update identity.staff_member set status = 'suspended' where user_id = $1", [DEMO2]);
    await p.sql("update identity.mfa_method set status = 'pending', expires_at = now() + interval '1 year' where user_id = $1", [DEMO2]);
    await signIn(p, ask, browser);
    await p.sql("update identity.staff_member set status = 'active' where user_id = $1", [DEMO2]);
    expect(isSignIn(await start(browser, ask))).toBe(true);
    expect(isSignIn(await start(browser, { ...ask, client: 'demo-app' }))).toBe(false);
  });
});
