import { Secret, TOTP } from 'otpauth';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { ADMIN, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { answered, authorizeUrl, Browser, codeNow, isConsent, isSignIn, proof, redeem, refresh, signIn } from './browser.js';
import { newestMail } from './mailbox.js';
import { claimsOf } from './oauth.js';

let p: TestPlatform;
let service: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'], manualClock: false });
  service = await p.serviceToken('admin:identity');
});

const APP = { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'] };
const ACCEPT = 'mutation($t: String!) { acceptStaffInvitation(token: $t) { status user { id } roles { role { key } grantedBy } } }';
const accept = (t: string, token: string) => p.graphql(ACCEPT, { t }, { token });

async function invited(email: string, roles = ['support']): Promise<{ id: string; link: string; token: string }> {
  const { body } = await p.rest('POST', '/identity/v1/admin/staff/invite', { token: service, body: { email, roles } });
  return { id: body.id, ...(await linkOf(body.id)) };
}

/** What comms fetches and sends. */
async function linkOf(staffId: string): Promise<{ link: string; token: string }> {
  const [{ id }] = await p.sql('select id from identity.auth_challenge where staff_id = $1 order by created_at desc, id desc limit 1', [
    staffId,
  ]);
  const query = 'query($id: ID!) { authDelivery(challengeId: $id) { to template link code } }';
  const { data } = await p.graphql(query, { id }, { token: await p.internalToken('comms') });
  expect(data.authDelivery).toMatchObject({ template: 'staff_invitation', code: null });
  return { link: data.authDelivery.link, token: data.authDelivery.link.split('/').pop() };
}

/** Gives somebody an authenticator app, as they would. */
async function enrol(userId: string): Promise<void> {
  const token = await living(userId);
  const begun = (await p.rest('POST', '/identity/v1/users/me/mfa/totp/init', { token })).body;
  const code = new TOTP({ secret: Secret.fromBase32(begun.secret), digits: 6, period: 30 }).generate();
  const body = { method_id: begun.method_id, code };
  expect((await p.rest('POST', '/identity/v1/users/me/mfa/totp/confirm', { token, body })).status).toBe(200);
}

/** A token that lives: those of the second in which power changed are dead. */
const living = (userId: string, options: object = {}) =>
  vi.waitFor(async () => {
    const token = await p.userToken(userId, ['read:account'], options);
    expect((await p.rest('GET', '/identity/v1/users/me', { token })).status).toBe(200);
    return token;
  }, 5000);
const dead = (token: string) =>
  vi.waitFor(async () => expect((await p.rest('GET', '/identity/v1/users/me', { token })).status).toBe(401), 5000);

const statusOf = async (id: string) => (await p.sql('select status from identity.staff_member where id = $1', [id]))[0].status;

describe('acceptStaffInvitation', () => {
  let own: string;
  let first: Awaited<ReturnType<typeof invited>>;

  test('needs the right e-mail address, a second factor and a first-party app', async () => {
    own = await p.userToken(DEMO, ['read:account']);
    first = await invited('DEMO@example.test');
    const other = await accept(first.token, await p.userToken(DEMO2, ['read:account']));
    expect(other.errors[0]!.extensions).toMatchObject({ code: 'FORBIDDEN', reason: 'WRONG_ACCOUNT' });
    expect((await accept(first.token, own)).errors[0]!.extensions).toMatchObject({ code: 'CONFLICT', reason: 'MFA_REQUIRED' });
    const partner = await p.userToken(DEMO, ['read:account'], { clientId: 'demo-partner-app' });
    expect((await accept(first.token, partner)).errors[0]!.extensions.code).toBe('FORBIDDEN');
    expect((await accept('x'.repeat(43), own)).errors[0]!.extensions.code).toBe('NOT_FOUND');
    expect(await statusOf(first.id)).toBe('invited');
  });

  test('makes the person staff with the roles of the invitation, given by who invited; the link is spent', async () => {
    await enrol(DEMO);
    const [{ id }] = await p.sql('select id from identity.mfa_method where user_id = $1', [DEMO]);
    const both = await Promise.all([accept(first.token, own), accept(first.token, own)]);
    const done = both.find(one => one.errors.length === 0)!;
    expect(both.filter(one => one.errors.length)).toHaveLength(1);
    expect(done.data.acceptStaffInvitation).toEqual({
      status: 'ACTIVE',
      user: { id: DEMO },
      roles: [{ role: { key: 'support' }, grantedBy: 'service:demo-m2m' }],
    });
    await dead(own);
    const staff = await living(DEMO, APP);
    expect(claimsOf(staff).roles).toEqual(['support']);
    expect((await accept(first.token, staff)).errors[0]!.extensions.code).toBe('CONFLICT');
    const fresh = await living(DEMO);
    const last = await p.rest('DELETE', `/identity/v1/users/me/mfa/${id}`, { token: fresh });
    expect(last.body).toMatchObject({ status: 409, reason: 'last_method_of_staff' });
  });

  test('is refused when who invited may no longer give the roles, until somebody who may sends it again', async () => {
    await p.sql("update identity.staff_member set status = 'active' where user_id = $1", [ADMIN]);
    const owner = await living(ADMIN, APP);
    const body = { email: 'demo2@example.test', roles: ['finance'] };
    const { id } = (await p.rest('POST', '/identity/v1/admin/staff/invite', { token: owner, body })).body;
    await enrol(DEMO2);
    const own2 = await living(DEMO2);
    await p.sql("update identity.staff_member set status = 'suspended' where user_id = $1", [ADMIN]);
    const { token } = await linkOf(id);
    expect((await accept(token, own2)).errors[0]!.extensions).toMatchObject({ code: 'CONFLICT', reason: 'INVITER_LACKS_POWER' });
    await p.sql("update identity.staff_member set invite_expires_at = invite_expires_at - interval '2 minutes' where id = $1", [id]);
    expect((await p.rest('POST', `/identity/v1/admin/staff/${id}/resend`, { token: service })).body.invited_by).toBe('service:demo-m2m');
    expect((await accept((await linkOf(id)).token, own2)).data.acceptStaffInvitation.status).toBe('ACTIVE');
    await p.rest('POST', `/identity/v1/admin/staff/${id}/remove`, { token: service });
    await p.sql('delete from identity.mfa_method where user_id = $1', [DEMO2]);
    await dead(own2);
  });

  test('of a link that was sent again or taken back is refused', async () => {
    const { id, token } = await invited('demo2@example.test');
    await p.sql("update identity.staff_member set invite_expires_at = invite_expires_at - interval '2 minutes' where id = $1", [id]);
    expect((await p.rest('POST', `/identity/v1/admin/staff/${id}/resend`, { token: service })).status).toBe(200);
    await enrol(DEMO2);
    const own2 = await living(DEMO2);
    expect((await accept(token, own2)).errors[0]!.extensions).toMatchObject({ code: 'CONFLICT', reason: 'INVITATION_OVER' });
    const { token: second } = await linkOf(id);
    expect((await p.rest('POST', `/identity/v1/admin/staff/${id}/revoke`, { token: service })).body.status).toBe('revoked');
    expect((await accept(second, own2)).errors[0]!.extensions.code).toBe('CONFLICT');
  });
});

describe('the page of an invitation', () => {
  const browser = new Browser();

  test('shows on GET and opens an account on POST where there is none', async () => {
    const { link, id } = await invited('new@example.test');
    const stranger = new Browser();
    const page = await stranger.get(link);
    expect([page.status, page.headers['content-security-policy'], page.html]).toEqual([
      200,
      expect.stringContaining("default-src 'none'"),
      expect.stringContaining('Open an account'),
    ]);
    expect(page.html).not.toContain('new@example.test');
    expect((await stranger.submit(page, link, { csrf: 'x' })).status).toBe(403);
    expect((await stranger.submit(page, link, {}, { origin: 'https://evil.example' })).status).toBe(403);
    const done = await stranger.follow(p, await stranger.submit(page, link));
    expect([done.status, done.html]).toEqual([200, expect.stringContaining('Set up your second factor')]);
    const [account] = await p.sql(
      `select u.status, e.verified_at from identity.user_email e join identity."user" u on u.id = e.user_id where e.email = 'new@example.test'`,
    );
    expect([account.status, account.verified_at !== null, await statusOf(id)]).toEqual(['active', true, 'invited']);
    const later = await new Browser().get(link);
    expect(later.html).toContain('Sign in with the address that the invitation came to');
  });

  test('makes the person who is signed in with the right address and a second factor staff', async () => {
    const { link, id } = await invited('demo2@example.test', ['analyst']);
    expect((await browser.get(link)).html).toContain('Sign in with the address');
    await p.sql("update identity.mfa_method set status = 'pending', expires_at = now() + interval '1 hour' where user_id = $1", [DEMO2]); // the pages of this test ask for no second factor
    await signIn(p, { email: 'demo2@example.test' }, browser);
    expect((await browser.get(link)).html).toContain('second factor');
    await p.sql("update identity.mfa_method set status = 'active', expires_at = null where user_id = $1", [DEMO2]);
    const page = await browser.get(link);
    expect([page.html, await statusOf(id)]).toEqual([expect.stringContaining('Accept the invitation'), 'invited']);
    const welcome = await browser.submit(page, link);
    expect(welcome.html).toMatch(/Welcome[\s\S]*href="http:\/\/localhost:5175\/"[^>]*>Open Demo staff dashboard/);
    expect(await statusOf(id)).toBe('active');
    expect([(await browser.get(link)).status, (await browser.submit(page, link)).status]).toEqual([410, 410]);
    expect((await browser.get(link.slice(0, -2))).status).toBe(404);
  });

  test('tells a person with another address that it is not theirs', async () => {
    const { link } = await invited('third@example.test');
    const page = await browser.get(link);
    expect(page.html).toContain('another account');
    const asked = await browser.follow(p, await browser.submit(page, link));
    expect(isSignIn(asked)).toBe(true);
    expect(JSON.stringify(await p.sql("select payload from identity.oauth_artifact where model = 'Interaction'"))).not.toContain(
      link.split('/').pop(),
    );
    const back = await browser.follow(p, await browser.submit(asked, '/abort'));
    expect([back.status, back.url]).toEqual([200, link]);
  });
});

describe('a handle that folds to that of a member of staff', () => {
  test('is reserved for others', async () => {
    await p.sql("update identity.user_profile set handle = 'marlo_s' where user_id = $1", [ADMIN]);
    const ask = async (handle: string, userId: string) =>
      (await p.rest('GET', `/identity/v1/users/handle-available?handle=${handle}`, { token: await p.userToken(userId, ['read:profile']) }))
        .body;
    expect(await ask('mar1o_5', DEMO)).toMatchObject({ available: false, reason: 'reserved' });
    expect(await ask('marlos', DEMO)).toMatchObject({ available: false, reason: 'reserved' });
    expect(await ask('marlo_s', DEMO)).toMatchObject({ available: false, reason: 'taken' });
    expect(await ask('mar1os', ADMIN)).toMatchObject({ available: true });
    const patch = await p.rest('PATCH', '/identity/v1/users/me/profile', {
      token: await p.userToken(DEMO, ['read:profile']),
      body: { handle: 'mar1os' },
    });
    expect(patch.body.errors).toEqual([expect.objectContaining({ pointer: '/handle' })]);
  });
});

test('who has an account but no second factor is led through sign-in and set-up back to the invitation', async () => {
  const i = { email: 'quiet@example.test', emailVerified: true };
  await p.graphql('mutation($i: CreateUserInput!) { createUser(input: $i) { id } }', { i }, { token: service });
  const { link, id } = await invited('quiet@example.test', ['analyst']);
  const browser = new Browser();
  const asked = await browser.follow(p, await browser.submit(await browser.get(link), link));
  expect(isSignIn(asked)).toBe(true);
  await browser.submit(asked, '/magic-link', { email: 'quiet@example.test' });
  const { link: mail } = await newestMail(p);
  let page = await browser.follow(p, await browser.submit(await browser.get(mail!), mail!));
  const secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.html)![1]!.replaceAll(' ', '');
  page = await browser.submit(page, '/mfa-enrol', { code: await codeNow(p, secret) });
  page = await browser.follow(p, await browser.submit(page, '/mfa-enrol'));
  expect([page.url, page.html.includes('Accept the invitation')]).toEqual([link, true]);
  expect((await browser.submit(page, link)).html).toContain('Welcome');
  expect(await statusOf(id)).toBe('active');
});

test('somebody without an account comes to work by the pages alone, one leading to the next: account, second factor, acceptance, power', async () => {
  const { link, id } = await invited('nova@example.test', ['analyst']);
  const browser = new Browser();
  let page = await browser.follow(p, await browser.submit(await browser.get(link), link));
  const secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.html)![1]!.replaceAll(' ', '');
  page = await browser.submit(page, '/mfa-enrol', { code: await codeNow(p, secret) });
  page = await browser.follow(p, await browser.submit(page, '/mfa-enrol'));
  expect([page.url, page.html.includes('Accept the invitation')]).toEqual([link, true]);
  const by = proof();
  page = await browser.open(p, authorizeUrl(p, { client: 'demo-admin' }, by));
  page = await browser.follow(p, await browser.submit(page, '/consent', { decision: 'allow', scope: 'read:profile' }));
  const { body: before } = await redeem(p, 'demo-admin', answered(page).code!, by);
  expect([claimsOf(before.access_token).roles, claimsOf(before.access_token).amr]).toEqual([undefined, ['email', 'otp', 'mfa']]);
  expect((await browser.submit(await browser.get(link), link)).html).toContain('Welcome');
  expect(await statusOf(id)).toBe('active');
  await dead(before.access_token);
  const after = await refresh(p, 'demo-admin', before.refresh_token);
  expect(claimsOf(after.body.access_token)).toMatchObject({ roles: ['analyst'], permissions: expect.arrayContaining(['admin:analytics']) });
  const [row] = await p.sql('select last_active_at from identity.staff_member where id = $1', [id]);
  expect(row.last_active_at).not.toBeNull();
  const made = await p.sql(
    "select 1 from events.outbox where type = 'user.created.v1' and data->>'source' = 'staff_invite' and user_id = $1",
    [claimsOf(after.body.access_token).sub],
  );
  expect(made).toHaveLength(1);
});

test('an invitation asks nobody for a second factor but where staff work', async () => {
  const i = { email: 'calm@example.test', emailVerified: true };
  await p.graphql('mutation($i: CreateUserInput!) { createUser(input: $i) { id } }', { i }, { token: service });
  await invited('calm@example.test');
  const browser = new Browser();
  const asked = await browser.open(p, authorizeUrl(p, { client: 'demo-app' }, proof()));
  await browser.submit(asked, '/magic-link', { email: 'calm@example.test' });
  const { link } = await newestMail(p);
  expect(isConsent(await browser.follow(p, await browser.submit(await browser.get(link!), link!)))).toBe(true);
});
