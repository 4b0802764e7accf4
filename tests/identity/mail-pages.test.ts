import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { answered, authorizeUrl, Browser, isConsent, isSignIn, PASSWORD, proof, redeem, refresh, signIn, type Page } from './browser.js';
import { claimsOf } from './oauth.js';
import { mails, newestMail } from './mailbox.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));
beforeEach(async () => void (await p.sql('delete from identity.sign_in_limit'))); // each test has its own quarter of an hour

const NEW_PASSWORD = 'lantern orbit cactus 27';
const DEMO_MAIL = 'demo@example.test';
const start = (browser: Browser, asking = {}) => browser.open(p, authorizeUrl(p, asking, proof()));
const at = (page: Page, step: string): string => `${page.url}/${step}`;

/** Asks for a link in a browser. @returns the page "check your mail". */
async function askLink(browser: Browser, email = DEMO_MAIL, asking = {}): Promise<Page> {
  return browser.submit(await start(browser, asking), '/magic-link', { email });
}

async function signUp(browser: Browser, email: string, password = NEW_PASSWORD): Promise<Page> {
  const form = await browser.get(at(await start(browser), 'sign-up'));
  return browser.submit(form, '/sign-up', { email, password, display_name: 'Ada' });
}

const userOf = async (email: string): Promise<{ id: string; status: string; verified: boolean }> =>
  (
    await p.sql(
      'select u.id, u.status, e.verified_at is not null as verified from identity."user" u join identity.user_email e on e.user_id = u.id where e.email_key = $1',
      [email],
    )
  )[0];

/** A page without what differs between two requests. */
const shape = (page: Page): string =>
  page.html
    .replaceAll(/interactions\/[\w-]+/g, '…')
    .replaceAll(/value="[\w-]{43}"/g, '…')
    .replaceAll(/[\w.-]+@example\.test/g, '…');

describe('a magic link', () => {
  test('opened by GET twice, then POST: GETs do not consume; POST signs in; the second POST says used', async () => {
    const browser = new Browser();
    await askLink(browser);
    const { link, to } = await newestMail(p);
    expect(to).toBe(DEMO_MAIL);
    const [first, second] = [await browser.get(link!), await browser.get(link!)];
    expect([first.status, second.status]).toEqual([200, 200]);
    const page = await browser.follow(p, await browser.submit(second, link!));
    expect(isConsent(page)).toBe(true);
    const again = await browser.submit(second, link!);
    expect([again.status, again.html.includes('used already')]).toEqual([410, true]);
  });

  test('gives tokens whose amr says e-mail', async () => {
    const browser = new Browser();
    const by = proof();
    await browser.submit(await browser.open(p, authorizeUrl(p, { client: 'demo-app' }, by)), '/magic-link', {
      email: 'demo2@example.test',
    });
    const { link } = await newestMail(p);
    let page = await browser.follow(p, await browser.submit(await browser.get(link!), link!));
    page = await browser.follow(p, await browser.submit(page, '/consent', { decision: 'allow', scope: 'read:profile' }));
    const { body } = await redeem(p, 'demo-app', answered(page).code!, by);
    expect(claimsOf(body.access_token).amr).toEqual(['email']);
  });

  test('in another browser shows the code to type where it was asked for, and signs nobody in', async () => {
    const [here, there] = [new Browser(), new Browser()];
    const asked = await askLink(here);
    const { link, code } = await newestMail(p);
    const shown = await there.get(link!);
    expect(shown.html).toContain(`${code!.slice(0, 3)} ${code!.slice(3)}`);
    expect(shown.html).not.toContain('<form');
    expect((await there.submit({ ...shown, html: `<form method="post" action="${link}"></form>` }, link!)).location).toBeNull();
    const page = await here.follow(p, await here.submit(asked, '/email-code', { code: code! }));
    expect(isConsent(page)).toBe(true);
    expect((await there.get(link!)).status).toBe(410);
  });

  test('is asked for with the same page, known or not, and however often; three mails per address in 15 minutes', async () => {
    const known = await askLink(new Browser());
    const before = await mails(p);
    const unknown = await askLink(new Browser(), 'nobody@example.test');
    expect([unknown.status, shape(unknown)]).toEqual([200, shape(known)]);
    expect(await mails(p)).toBe(before);
    for (let n = 0; n < 4; n++) expect(shape(await askLink(new Browser()))).toBe(shape(known));
    expect(await mails(p)).toBe(before + 2);
    await p.clock('identity', { advance: 'PT15M1S' });
    await askLink(new Browser());
    expect(await mails(p)).toBe(before + 3);
  });

  test('is sent ten times an hour from one address, whoever it is for', async () => {
    for (let n = 0; n < 10; n++) await askLink(new Browser(), `stranger-${n}@example.test`);
    const before = await mails(p);
    expect((await askLink(new Browser())).status).toBe(200);
    expect(await mails(p)).toBe(before);
  });

  test.each(['suspended', 'banned', 'erasing'])('is not sent to a %s account, and opens none that became so meanwhile', async status => {
    const browser = new Browser();
    const asked = await askLink(browser);
    const { code } = await newestMail(p);
    await p.sql('update identity."user" set status = $1 where id = $2', [status, DEMO]);
    const before = await mails(p);
    await askLink(new Browser());
    const page = await browser.submit(asked, '/email-code', { code: code! });
    await p.sql(`update identity."user" set status = 'active' where id = $1`, [DEMO]);
    expect([await mails(p), page.status]).toEqual([before, 422]);
  });

  test('goes to the address that the owner has written, not to a look-alike that was typed', async () => {
    await askLink(new Browser(), 'DEMO@EXAMPLE.TEST');
    expect((await newestMail(p)).to).toBe(DEMO_MAIL);
  });
});

describe('the page "check your mail"', () => {
  test('names the address, and sends again: only the newest code is good', async () => {
    const browser = new Browser();
    const page = await askLink(browser);
    expect(page.html).toContain(`<strong>${DEMO_MAIL}</strong>`);
    const { code: first } = await newestMail(p);
    const before = await mails(p);
    const again = await browser.submit(page, '/magic-link');
    expect([again.status, again.html.includes('role="status"'), await mails(p)]).toEqual([200, true, before + 1]);
    const { code: second } = await newestMail(p);
    if (first !== second) expect((await browser.submit(again, '/email-code', { code: first! })).status).toBe(422);
    expect(isConsent(await browser.follow(p, await browser.submit(again, '/email-code', { code: second! })))).toBe(true);
  });

  test('after a wrong code still names the address and can send again', async () => {
    const browser = new Browser();
    const wrong = await browser.submit(await askLink(browser), '/email-code', { code: 'x' });
    expect([wrong.status, wrong.html.includes(DEMO_MAIL)]).toEqual([422, true]);
    const before = await mails(p);
    await browser.submit(wrong, '/magic-link');
    expect(await mails(p)).toBe(before + 1);
  });

  test('of a sign-up sends again what was signed up, the password included', async () => {
    const browser = new Browser();
    const page = await signUp(browser, 'again@example.test');
    const first = await newestMail(p);
    const again = await browser.submit(page, '/sign-up');
    expect([again.status, again.html.includes('again@example.test')]).toEqual([200, true]);
    const { code, template, to, link } = await newestMail(p);
    expect([template, to, link === first.link]).toEqual(['sign_up', 'again@example.test', false]);
    await browser.submit(again, '/email-code', { code: code! });
    await signIn(p, { email: 'again@example.test', password: NEW_PASSWORD });
  });

  test('of a sign-up with a taken address looks the same when it sends again, and sends nothing', async () => {
    const [taken, free] = [new Browser(), new Browser()];
    const pages = [await signUp(taken, DEMO_MAIL), await signUp(free, 'free@example.test')];
    const before = await mails(p);
    const again = await taken.submit(pages[0]!, '/sign-up');
    expect(await mails(p)).toBe(before);
    expect(shape(await free.submit(pages[1]!, '/sign-up'))).toBe(shape(again));
  });

  test('of a sign-up sends to nobody but whom this browser has signed up', async () => {
    await signUp(new Browser(), 'victim@example.test');
    const browser = new Browser();
    const page = await signUp(browser, 'other@example.test');
    const before = await mails(p);
    await browser.submit(page, '/sign-up', { email: 'victim@example.test' });
    expect(await mails(p)).toBe(before);
  });

  test.each([['magic-link'], ['recovery']])('of %s is not shown for what is no address', async step => {
    const browser = new Browser();
    const form = await browser.get(at(await start(browser), step));
    const page = await browser.submit(form, `/${step}`, { email: 'no address' });
    expect([page.status, page.html.includes('role="alert"><a href="#email"')]).toEqual([422, true]);
  });
});

describe('a code from the mail', () => {
  test('that is wrong is one page, also after five tries and for an address without account', async () => {
    const [known, unknown] = [new Browser(), new Browser()];
    const [asked, dark] = [await askLink(known), await askLink(unknown, 'nobody@example.test')];
    const { code } = await newestMail(p);
    const wrong = code === '000000' ? '000001' : '000000';
    const pages: Page[] = [await unknown.submit(dark, '/email-code', { code: wrong })];
    for (let n = 0; n < 6; n++) pages.push(await known.submit(asked, '/email-code', { code: n < 5 ? wrong : code! }));
    expect(new Set(pages.map(page => page.status))).toEqual(new Set([422]));
    expect(new Set(pages.map(shape)).size).toBe(1);
    expect(pages[0]!.html).toContain('role="alert"');
  });
});

describe('signing up', () => {
  test('makes a pending account, which its proof makes active: user.created, then the app', async () => {
    const browser = new Browser();
    const page = await signUp(browser, 'ada@example.test');
    expect([page.status, (await userOf('ada@example.test')).status]).toEqual([200, 'pending']);
    const { link, template } = await newestMail(p);
    expect(template).toBe('sign_up');
    expect(isConsent(await browser.follow(p, await browser.submit(await browser.get(link!), link!)))).toBe(true);
    const { id, status, verified } = await userOf('ada@example.test');
    expect([status, verified]).toEqual(['active', true]);
    const events = await p.sql("select data from events.outbox where type = 'user.created.v1' and user_id = $1", [id]);
    expect(events).toEqual([{ data: { source: 'signup', locale: 'en', country_code: null } }]);
    await signIn(p, { email: 'ada@example.test', password: NEW_PASSWORD });
  });

  test('cannot sign in before the proof', async () => {
    await signUp(new Browser(), 'early@example.test');
    const browser = new Browser();
    const page = await browser.submit(await start(browser), '/login', { identifier: 'early@example.test', password: NEW_PASSWORD });
    expect([page.status, isSignIn(page)]).toEqual([422, true]);
  });

  test('with an address that has an account is the same page, and its owner gets a notice', async () => {
    const fresh = await signUp(new Browser(), 'fresh@example.test');
    const page = await signUp(new Browser(), DEMO_MAIL);
    expect([page.status, shape(page)]).toEqual([200, shape(fresh)]);
    const [notice] = await p.sql(
      "select data->'params' as params from events.outbox where type = 'comms.message.send_requested.v1' and user_id = $1 order by seq desc limit 1",
      [DEMO],
    );
    expect(notice).toEqual({ params: { kind: 'sign_up_existing' } });
    await signIn(p, { email: DEMO_MAIL, password: PASSWORD });
  });

  test('leaves nothing of a stranger who used the address first: their password dies with the proof', async () => {
    const [thief, owner] = [new Browser(), new Browser()];
    await signUp(thief, 'owner@example.test', 'thief knows this 4711');
    await signUp(owner, 'owner@example.test');
    const { code } = await newestMail(p);
    const other = await start(owner);
    const asked = { ...other, html: other.html.replace('/login"', '/email-code"') };
    expect((await owner.submit(asked, '/email-code', { code: code! })).status).toBe(422); // another interaction asked
    const { link } = await newestMail(p);
    await owner.submit(await owner.get(link!), link!);
    const attempt = new Browser();
    const page = await attempt.submit(await start(attempt), '/login', {
      identifier: 'owner@example.test',
      password: 'thief knows this 4711',
    });
    expect(page.status).toBe(422);
  });

  test('by a link to sign in proves a pending account, without the password that a stranger gave it', async () => {
    await signUp(new Browser(), 'linked@example.test', 'thief knows this 4711');
    const browser = new Browser();
    await askLink(browser, 'linked@example.test');
    const { link } = await newestMail(p);
    expect(isConsent(await browser.follow(p, await browser.submit(await browser.get(link!), link!)))).toBe(true);
    const { id, status } = await userOf('linked@example.test');
    expect(status).toBe('active');
    expect(await p.sql('select from identity.credential_password where user_id = $1', [id])).toEqual([]);
  });

  test.each([
    ['short1234', 'email-ok@example.test', 'Ada', 'password'],
    ['a'.repeat(129), 'email-ok@example.test', 'Ada', 'password'],
    ['qwertyuiop1234', 'email-ok@example.test', 'Ada', 'password'],
    ['1q2w3e4r5t6y', 'email-ok@example.test', 'Ada', 'password'],
    [NEW_PASSWORD, 'no address', 'Ada', 'email'],
    [NEW_PASSWORD, 'email-ok@example.test', '', 'display_name'],
    [NEW_PASSWORD, 'email-ok@example.test', 'A\u202eda', 'display_name'],
  ])('with password %s, address %s and name %s is a 422 page whose alert is linked to %s', async (password, email, name, field) => {
    const browser = new Browser();
    const form = await browser.get(at(await start(browser), 'sign-up'));
    const page = await browser.submit(form, '/sign-up', { email, password, display_name: name });
    expect([page.status, page.html.includes(`role="alert"><a href="#${field}"`)]).toEqual([422, true]);
    expect(page.html).not.toContain(password);
    expect(await userOf('email-ok@example.test')).toBeUndefined();
  });

  test('that is never proven is deleted without trace after seven days', async () => {
    await signUp(new Browser(), 'never@example.test');
    const { id } = await userOf('never@example.test');
    await p.clock('identity', { advance: 'P6DT23H' });
    expect(await userOf('never@example.test')).toBeDefined();
    await p.clock('identity', { advance: 'PT1H' });
    const tables = ['auth_challenge', 'user_email', 'user_profile', 'user_settings'].map(table =>
      p.sql(`select from identity.${table} where user_id = $1`, [id]),
    );
    expect((await Promise.all([...tables, p.sql('select from identity."user" where id = $1', [id])])).flat()).toEqual([]);
  });
});

describe('a new password', () => {
  const ask = async (browser: Browser, email = DEMO_MAIL): Promise<Page> =>
    browser.submit(await browser.get(at(await start(browser), 'recovery')), '/recovery', { email });

  test('by the code ends every sign-in and every app, tells the owner and goes on to the app', async () => {
    const tokens = await signIn(p, { client: 'demo-app' });
    const browser = new Browser();
    const asked = await ask(browser);
    const { code, template } = await newestMail(p);
    expect(template).toBe('recovery');
    const page = await browser.follow(p, await browser.submit(asked, '/new-password', { code: code!, password: NEW_PASSWORD }));
    expect(isConsent(page) || page.location).toBeTruthy();
    expect((await refresh(p, 'demo-app', tokens.refresh_token)).body.error).toBe('invalid_grant');
    const me = await p.rest('GET', '/identity/v1/users/me', { token: tokens.access_token });
    expect(me.status).toBe(401);
    const notices = await p.sql(
      "select data->'params'->>'kind' as kind from events.outbox where type = 'comms.message.send_requested.v1' and user_id = $1",
      [DEMO],
    );
    expect(notices.map(one => one.kind)).toContain('password_changed');
    await signIn(p, { password: NEW_PASSWORD });
    const old = new Browser();
    expect((await old.submit(await start(old), '/login', { identifier: DEMO_MAIL, password: PASSWORD })).status).toBe(422);
  });

  test('that is refused leaves the code where it was typed, which is good still', async () => {
    const browser = new Browser();
    const asked = await ask(browser, 'demo2@example.test');
    expect(asked.html).toContain('<strong>demo2@example.test</strong>');
    const { code } = await newestMail(p);
    const weak = await browser.submit(asked, '/new-password', { code: code!, password: 'password123' });
    expect([weak.status, weak.html.includes('href="#password"'), weak.html.includes('password123')]).toEqual([422, true, false]);
    expect(/<input id="code"[^>]*value="(\d*)"/.exec(weak.html)?.[1]).toBe(code);
    const wrong = await browser.submit(weak, '/new-password', { code: 'x', password: NEW_PASSWORD });
    expect(/<input id="code"[^>]*value="([^"]*)"/.exec(wrong.html)?.[1]).toBe('');
    const done = await browser.follow(p, await browser.submit(weak, '/new-password', { code: code!, password: NEW_PASSWORD }));
    expect(isConsent(done) || done.location).toBeTruthy();
  });

  test('works in the browser that was signed in to the account', async () => {
    const browser = new Browser();
    await signIn(p, { password: NEW_PASSWORD }, browser);
    const form = await browser.get(at(await start(browser, { more: { prompt: 'login' } }), 'recovery'));
    const asked = await browser.submit(form, '/recovery', { email: DEMO_MAIL });
    const { code } = await newestMail(p);
    const page = await browser.follow(
      p,
      await browser.submit(asked, '/new-password', { code: code!, password: 'another lantern cactus 9' }),
    );
    expect(page.location).toContain('code=');
  });

  test('by the link works in any browser, signs nobody in, and a weak one spends nothing', async () => {
    await ask(new Browser());
    const { link } = await newestMail(p);
    const phone = new Browser();
    const weak = await phone.submit(await phone.get(link!), link!, { password: 'password123' });
    expect(weak.status).toBe(422);
    const done = await phone.submit(weak, link!, { password: 'phone lantern cactus 9' });
    expect([done.status, done.location]).toEqual([200, null]);
    expect((await phone.submit(weak, link!, { password: 'phone lantern cactus 8' })).status).toBe(410);
    await signIn(p, { password: 'phone lantern cactus 9' });
  });

  test('is asked for with the same page, known or not', async () => {
    const [known, unknown] = [await ask(new Browser()), await ask(new Browser(), 'nobody@example.test')];
    expect(shape(known)).toBe(shape(unknown));
  });
});
