import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, DEMO2, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { authorizeUrl, Browser, PASSWORD, proof, refresh, signIn, type Tokens } from './browser.js';
import { deliver, mails, newestMail } from './mailbox.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));
beforeEach(async () => {
  await p.sql('delete from identity.sign_in_limit');
  await p.sql(`update identity.user_email set email_key = user_id::text where user_id in ($1, $2)`, [DEMO, DEMO2]);
  for (const [id, email] of [
    [DEMO, 'demo@example.test'],
    [DEMO2, 'demo2@example.test'],
  ])
    await p.sql('update identity.user_email set email = $2, email_key = $2 where user_id = $1', [id, email]);
});

const ME = '/identity/v1/users/me';
const ALL = 'read:account read:profile';
const fresh = async (email = 'demo@example.test', password = PASSWORD): Promise<Tokens> =>
  signIn(p, { client: 'demo-app', scope: ALL, email, password });
const ask = (token: string, new_email: string): Promise<Answer> =>
  p.rest('POST', `${ME}/email-change-request`, { token, body: { new_email } });
const confirm = (token: string, challenge_id: string, code: string): Promise<Answer> =>
  p.rest('POST', `${ME}/email-change-confirm`, { token, body: { challenge_id, code } });
const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');
const notices = async (userId: string): Promise<string[]> =>
  (
    await p.sql<{ kind: string }>(
      "select data->'params'->>'kind' as kind from events.outbox where type = 'comms.message.send_requested.v1' and user_id = $1 and data->'params'->>'kind' is not null order by seq",
      [userId],
    )
  ).map(row => row.kind);
const emailOf = async (userId: string): Promise<string> =>
  (await p.sql<{ email: string }>('select email from identity.user_email where user_id = $1', [userId]))[0]!.email;

/** Changes the address. @returns the undo link that the old one gets. */
async function change(token: string, email: string): Promise<string> {
  const { body } = await ask(token, email);
  const { code } = await deliver(p, body.challenge_id);
  const confirmed = await confirm(token, body.challenge_id, code!);
  expect([confirmed.status, confirmed.body.email]).toEqual([200, email]);
  return (await newestMail(p)).link!;
}

describe('changing the address', () => {
  test('asks the new one for a code, then replaces it, verified, and ends the other sign-ins', async () => {
    const [elsewhere, { access_token: token }] = [await fresh(), await fresh()];
    const asked = await ask(token, 'new@example.test');
    expect([asked.status, asked.body]).toEqual([
      202,
      { challenge_id: expect.any(String), sent_to: 'n•••@example.test', expires_at: expect.any(String) },
    ]);
    const { to, code, template } = await deliver(p, asked.body.challenge_id);
    expect([to, template]).toEqual(['new@example.test', 'email_change']);
    const { status, body } = await confirm(token, asked.body.challenge_id, code!);
    expect([status, body]).toEqual([200, { id: DEMO, status: 'active', email: 'new@example.test', email_verified: true }]);
    expect((await refresh(p, 'demo-app', elsewhere.refresh_token)).body.error).toBe('invalid_grant');
    expect((await p.rest('GET', ME, { token })).status).toBe(200);
    expect(await newestMail(p)).toMatchObject({ to: 'demo@example.test', template: 'email_undo', code: null });
  });

  test('to an address that is taken answers alike, sends no code, and tells its owner', async () => {
    const { access_token: token } = await fresh();
    const [before, sent] = [await notices(DEMO2), await mails(p)];
    const { status, body } = await ask(token, 'Demo2@example.test');
    expect([status, body]).toEqual([
      202,
      { challenge_id: expect.any(String), sent_to: 'D•••@example.test', expires_at: expect.any(String) },
    ]);
    expect([await notices(DEMO2), await mails(p)]).toEqual([[...before, 'email_wanted_elsewhere'], sent]);
    const tries = await Promise.all([1, 2, 3, 4].map(() => confirm(token, body.challenge_id, '000000')));
    expect(tries.map(one => one.status)).toEqual([400, 400, 400, 400]);
    expect((await confirm(token, body.challenge_id, '000000')).status).toBe(409);
  });

  test('is refused with 400 for a wrong code, 409 after five and after 30 minutes, 404 for somebody else', async () => {
    const { access_token: token } = await fresh();
    const { body } = await ask(token, 'new@example.test');
    const { code } = await deliver(p, body.challenge_id);
    const other = await p.userToken(DEMO2, ['read:account']);
    expect((await confirm(other, body.challenge_id, code!)).status).toBe(404);
    expect(await confirm(token, body.challenge_id, wrong(code!))).toMatchObject({ status: 400, body: { errors: [{ pointer: '/code' }] } });
    for (let n = 0; n < 3; n++) await confirm(token, body.challenge_id, wrong(code!));
    expect(await confirm(token, body.challenge_id, wrong(code!))).toMatchObject({ status: 409, body: { reason: 'exhausted' } });
    const second = (await ask(token, 'new@example.test')).body.challenge_id;
    const { code: late } = await deliver(p, second);
    await p.clock('identity', { advance: 'PT30M' });
    expect(await confirm(token, second, late!)).toMatchObject({ status: 409, body: { reason: 'expired' } });
  });

  test('is refused with 409 when the address was taken meanwhile', async () => {
    const { access_token: token } = await fresh();
    const { body } = await ask(token, 'soon-taken@example.test');
    const { code } = await deliver(p, body.challenge_id);
    await p.sql('update identity.user_email set email = $2, email_key = $2 where user_id = $1', [DEMO2, 'soon-taken@example.test']);
    expect(await confirm(token, body.challenge_id, code!)).toMatchObject({ status: 409, body: { reason: 'email_taken' } });
  });

  test('to an address that a pending account holds unproven is possible: proof beats it', async () => {
    const browser = new Browser();
    const page = await browser.open(p, authorizeUrl(p, {}, proof()));
    await browser.submit(await browser.get(`${page.url}/sign-up`), '/sign-up', {
      email: 'squatted@example.test',
      password: 'lantern orbit cactus 27',
      display_name: 'S',
    });
    const { access_token: token } = await fresh();
    await change(token, 'squatted@example.test');
    expect(await p.sql(`select from identity."user" where status = 'pending'`)).toEqual([]);
  });

  test('is possible three times an hour', async () => {
    const { access_token: token } = await fresh();
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(await ask(token, `n${n}@example.test`));
    expect(answers.map(one => one.status)).toEqual([202, 202, 202, 429]);
    expect(Number(answers[3]!.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('needs a fresh sign-in, a first-party app, another address', async () => {
    const old = await p.userToken(DEMO, ['read:account'], { authTime: new Date(Date.now() - 700_000) });
    expect((await ask(old, 'new@example.test')).body.code).toBe('step_up_required');
    const third = await p.userToken(DEMO, ['read:account'], { clientId: 'demo-partner-app' });
    expect((await ask(third, 'new@example.test')).body.code).toBe('forbidden');
    const { access_token: token } = await fresh();
    expect(await ask(token, 'DEMO@example.test')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/new_email' }] } });
  });
});

describe('taking the change back', () => {
  const CHOSEN = 'lantern orbit cactus 27';
  const restorePassword = () =>
    p.sql(
      `update identity.credential_password c set hash = d.hash from identity.credential_password d where d.user_id = $2 and c.user_id = $1`,
      [DEMO, DEMO2],
    );

  test('by the link in the old address restores it, ends all sign-ins and asks for a new password', async () => {
    const { access_token: token, refresh_token } = await fresh();
    const link = await change(token, 'thief@example.test');
    const browser = new Browser();
    const page = await browser.get(link);
    expect([page.status, page.html.includes('name="password"')]).toEqual([200, true]);
    expect((await browser.submit(page, link, { password: 'password123' })).status).toBe(422);
    expect(await emailOf(DEMO)).toBe('thief@example.test');
    expect((await browser.submit(page, link, { password: CHOSEN })).status).toBe(200);
    expect([await emailOf(DEMO), (await notices(DEMO)).at(-1)]).toEqual(['demo@example.test', 'email_change_undone']);
    expect((await refresh(p, 'demo-app', refresh_token)).body.error).toBe('invalid_grant');
    expect((await browser.submit(page, link, { password: CHOSEN })).status).toBe(410);
    await fresh('demo@example.test', CHOSEN);
    await restorePassword();
  });

  test('ends the undo links of later changes and keeps those of earlier ones', async () => {
    const { access_token: token } = await fresh();
    const first = await change(token, 'second@example.test');
    const second = await change(token, 'third@example.test');
    const [owner, thief] = [new Browser(), new Browser()];
    const page = await thief.get(second);
    await owner.submit(await owner.get(first), first, { password: CHOSEN });
    expect([(await thief.submit(page, second, { password: CHOSEN })).status, await emailOf(DEMO)]).toEqual([410, 'demo@example.test']);
    await restorePassword();
  });

  test('is possible for 72 hours', async () => {
    const { access_token: token } = await fresh();
    const link = await change(token, 'second@example.test');
    await p.clock('identity', { advance: 'PT71H59M' });
    expect((await new Browser().get(link)).status).toBe(200);
    await p.clock('identity', { advance: 'PT1M' });
    expect((await new Browser().get(link)).status).toBe(410);
  });

  test('is refused when somebody else has the old address by now', async () => {
    const { access_token: token } = await fresh();
    const link = await change(token, 'second@example.test');
    await p.sql('update identity.user_email set email = $2, email_key = $2 where user_id = $1', [DEMO2, 'demo@example.test']);
    const browser = new Browser();
    expect((await browser.submit(await browser.get(link), link, { password: CHOSEN })).status).toBe(409);
    expect(await emailOf(DEMO)).toBe('second@example.test');
  });
});

describe('changing the password', () => {
  const CHANGE = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { id } }';

  test('ends the other sign-ins and tells the owner', async () => {
    const [elsewhere, { access_token: token }] = [await fresh('demo2@example.test'), await fresh('demo2@example.test')];
    const { errors } = await p.graphql(CHANGE, { input: { newPassword: 'another lantern cactus 9' } }, { token });
    expect([errors, (await notices(DEMO2)).at(-1)]).toEqual([[], 'password_changed']);
    expect((await refresh(p, 'demo-app', elsewhere.refresh_token)).body.error).toBe('invalid_grant');
    await fresh('demo2@example.test', 'another lantern cactus 9');
  });

  test.each(['short', 'demo2@example.test', 'qwertyuiop1234'])('to %s is refused', async newPassword => {
    const token = await p.userToken(DEMO2, ['read:account']);
    const { errors } = await p.graphql(CHANGE, { input: { newPassword } }, { token });
    expect(errors[0]!.extensions.errors).toEqual([{ pointer: '/input/newPassword', message: expect.any(String) }]);
  });
});
