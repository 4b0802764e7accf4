import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { TOTP } from 'otpauth';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { atEnd } from '../support/at-end.js';
import { ADMIN, DEMO, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { answered, Browser, CALLBACKS, isConsent, proof, redeem, authorizeUrl, type Page } from './browser.js';
import { claimsOf, emitted } from './oauth.js';

let p: TestPlatform;
let keys: { privateKey: CryptoKey; publicKey: CryptoKey };
let jwk: object;
/** A token of the client that is bound to the partner. */
let bound: string;

const ISSUER = 'https://idp.acme-care.example';
const UPSERT = 'mutation($input: UpsertSsoPartnerInput!) { upsertSsoPartner(input: $input) { key } }';
const partnerIs = async (more: object = {}, key = 'acme-care') => {
  const input = { key, name: 'Acme Care', issuer: ISSUER, jwks: { keys: [jwk] }, trustedEmail: true, ...more };
  const { errors } = await p.graphql(UPSERT, { input }, { token: await p.serviceToken('admin:identity') });
  expect(errors).toEqual([]);
};

beforeAll(async () => {
  p = await platform({ services: ['identity'], manualClock: false, env: { IDENTITY_EGRESS_ALLOW_CIDRS: '127.0.0.1/32' } });
  keys = await generateKeyPair('ES256', { extractable: true });
  jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256' };
  await p.sql("update identity.oauth_client set sso_partner = 'acme-care' where id = 'svc-partner'");
  bound = await p.internalToken('partner');
  await p.sql('update identity.user_email set verified_at = now() where user_id = $1', [DEMO]);
});
beforeEach(() => partnerIs());

let count = 0;
type Words = Record<string, unknown>;
const now = (): number => Math.floor(Date.now() / 1000);

const words = (more: Words = {}): Words => ({
  iss: ISSUER,
  aud: `${p.url}/identity`,
  sub: `subject-${++count}`,
  jti: `jti-${count}`,
  iat: now(),
  exp: now() + 120,
  email: `person${count}@acme-care.example`,
  email_verified: true,
  name: 'Ada P',
  ...more,
});

const signed = (claims: Words, header: object = {}, key: CryptoKey | Uint8Array = keys.privateKey): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header }).sign(key);

const start = async (assertion: string, more: object = {}, token = bound): Promise<Answer> =>
  p.rest('POST', '/identity/v1/auth/sso/partner', {
    token,
    body: { partner: 'acme-care', assertion, client_id: 'demo-app', return_to: 'http://localhost:5173/welcome', ...more },
  });

const ticketFor = async (more: Words = {}): Promise<string> => {
  const answer = await start(await signed(words(more)));
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.ticket_url;
};

const goOn = async (browser: Browser, url: string): Promise<Page> => {
  const page = await browser.get(url);
  const token = url.slice(url.lastIndexOf('/'));
  return browser.follow(p, await browser.submit(page, token));
};

/** The app's own authorization request afterwards, without signing in again. */
async function tokensIn(browser: Browser): Promise<any> {
  const by = proof();
  const asking = { client: 'demo-app', scope: 'read:profile' };
  let page = await browser.open(p, authorizeUrl(p, asking, by));
  expect(isConsent(page), page.html).toBe(true);
  page = await browser.follow(p, await browser.submit(page, '/consent', { decision: 'allow', scope: ['read:profile'] }));
  const { body } = await redeem(p, 'demo-app', answered(page).code!, by);
  return claimsOf(body.access_token);
}

describe('an assertion in order', () => {
  test('becomes a ticket; its page signs in with ext, and the app then gets tokens by its own code flow', async () => {
    const answer = await start(await signed(words()));
    expect(answer.body).toMatchObject({ created: true, user_id: expect.any(String) });
    expect(answer.body.ticket_url.startsWith(`${p.url}/identity/v1/auth/sso/`)).toBe(true);
    const browser = new Browser();
    const shown = await browser.get(answer.body.ticket_url);
    expect(shown.html).toContain('Continue as Ada P');
    const end = await goOn(browser, answer.body.ticket_url);
    expect(end.location).toBe('http://localhost:5173/welcome');
    expect(await tokensIn(browser)).toMatchObject({ sub: answer.body.user_id, amr: ['ext'], client_id: 'demo-app' });
    expect(await emitted(p, 'user.created.v1')).toContainEqual({ source: 'sso', locale: null, country_code: null });
  });

  test('of a subject that is known leads to the same account, whatever its address is now', async () => {
    const claims = words();
    const first = await start(await signed(claims));
    const second = await start(await signed({ ...claims, jti: 'another', email: 'new@acme-care.example' }));
    expect([second.body.user_id, second.body.created]).toEqual([first.body.user_id, false]);
  });

  test('of a new subject with a verified address on both sides is linked to the account', async () => {
    const { body } = await start(await signed(words({ email: 'Demo@example.test' })));
    expect([body.user_id, body.created]).toEqual([DEMO, false]);
  });

  test.each([
    ['the partner is not trusted with addresses', { trustedEmail: false }, {}],
    ['the partner has not verified the address', {}, { email_verified: false }],
  ])('is not linked when %s: 409', async (_name, partner, claims) => {
    await partnerIs(partner);
    const answer = await start(await signed(words({ email: 'demo@example.test', ...claims })));
    expect([answer.status, answer.body.reason]).toEqual([409, 'account_exists']);
  });

  test('is not linked when the address of the account was never proven: 409', async () => {
    const { body } = await start(await signed(words({ email_verified: false })));
    const [{ email }] = (await p.sql('select email from identity.user_email where user_id = $1', [body.user_id])) as [{ email: string }];
    expect((await start(await signed(words({ email })))).status).toBe(409);
  });

  test('signs nobody in who may not: 409', async () => {
    const claims = words();
    const { body } = await start(await signed(claims));
    await p.sql(`update identity."user" set status = 'banned' where id = $1`, [body.user_id]);
    expect((await start(await signed({ ...claims, jti: 'later' }))).body.reason).toBe('user_not_active');
  });

  test('twenty first assertions of one subject at once make one account', async () => {
    const claims = words();
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => start(await signed({ ...claims, jti: `at-once-${index}` }))),
    );
    const made = answers.filter(one => one.status === 200);
    expect(new Set(made.map(one => one.body.user_id)).size).toBe(1);
    expect(made.filter(one => one.body.created)).toHaveLength(1);
  });
});

describe('an assertion that is not in order is 400 with the failing claim', () => {
  test.each<[string, () => Words]>([
    ['iss', () => ({ iss: 'https://idp.other.example' })],
    ['aud', () => ({ aud: 'https://other.example' })],
    ['aud', () => ({ aud: [`${p.url}/identity`, 'https://other.example'] })],
    ['exp', () => ({ exp: now() + 301 })],
    ['exp', () => ({ iat: now() - 100, exp: now() - 50 })],
    ['exp', () => ({ exp: undefined })],
    ['iat', () => ({ iat: now() + 60, exp: now() + 120 })],
    ['nbf', () => ({ nbf: now() + 60 })],
    ['sub', () => ({ sub: '' })],
    ['jti', () => ({ jti: undefined })],
    ['email', () => ({ email: 'nobody' })],
    ['email', () => ({ email: undefined })],
    ['email_verified', () => ({ email_verified: 'yes' })],
  ])('%s', async (claim, wrong) => {
    const answer = await start(await signed(words(wrong())));
    expect([answer.status, answer.body.reason, answer.body.errors[0].pointer]).toEqual([400, claim, '/assertion']);
  });

  test('jti, when it was used before', async () => {
    const assertion = await signed(words());
    expect((await start(assertion)).status).toBe(200);
    const again = await start(assertion);
    expect([again.status, again.body.reason]).toEqual([400, 'jti']);
  });

  test.each<[string, () => Promise<string>]>([
    ['another key', async () => signed(words(), {}, (await generateKeyPair('ES256')).privateKey)],
    ['an unknown key id', () => signed(words(), { kid: 'other' })],
    [
      'no signature',
      async () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(words())).toString('base64url')}.`,
    ],
    ['a symmetric key', async () => signed(words(), { alg: 'HS256' }, new TextEncoder().encode(JSON.stringify(jwk)))],
    ['a key of its own', async () => signed(words(), { kid: 'mine', jwk: await exportJWK(keys.publicKey) })],
    ['nothing that can be read', async () => 'nonsense'],
  ])('signature: %s', async (_name, made) => {
    const answer = await start(await made());
    expect([answer.status, answer.body.reason]).toEqual([400, 'signature']);
  });
});

describe('who may ask, and for what', () => {
  test('only clients that are bound to the partner', async () => {
    const assertion = await signed(words());
    for (const token of [await p.serviceToken('admin:identity'), await p.internalToken('cash'), await p.userToken(DEMO, ['read:profile'])])
      expect((await start(assertion, {}, token)).status).toBe(403);
    expect((await start(assertion, { partner: 'another' })).status).toBe(403);
    await partnerIs({ enabled: false });
    expect((await start(assertion)).body.errors[0].pointer).toBe('/partner');
  });

  test.each([
    'https://evil.example/',
    'http://localhost:5174/x',
    'http://localhost:5173@evil.example/',
    'javascript:alert(1)',
    '/relative',
  ])('never to %s', async returnTo => {
    expect((await start(await signed(words()), { return_to: returnTo })).body.errors[0].pointer).toBe('/return_to');
  });

  test('not into machine clients', async () => {
    expect((await start(await signed(words()), { client_id: 'demo-m2m' })).body.errors[0].pointer).toBe('/client_id');
  });
});

describe('a ticket', () => {
  test('is good once; looking does not use it', async () => {
    const url = await ticketFor();
    const [one, other] = [new Browser(), new Browser()];
    const stale = await other.get(url);
    expect((await goOn(one, url)).location).toBe('http://localhost:5173/welcome');
    expect((await other.submit(stale, url.slice(url.lastIndexOf('/')))).status).toBe(410);
    expect((await other.get(url)).status).toBe(410);
  });

  test('is good for a minute', async () => {
    const url = await ticketFor();
    await p.sql("update identity.sso_ticket set expires_at = expires_at - interval '60 seconds' where used_at is null");
    expect((await new Browser().get(url)).status).toBe(410);
  });

  test('is not used by a form of somebody else', async () => {
    const url = await ticketFor();
    const browser = new Browser();
    const page = await browser.get(url);
    const step = url.slice(url.lastIndexOf('/'));
    expect((await browser.submit(page, step, { csrf: 'x' })).status).toBe(403);
    expect((await browser.submit(page, step, {}, { origin: 'https://evil.example' })).status).toBe(403);
  });

  test('ends the sign-in of another person in this browser, and takes over no session', async () => {
    const browser = new Browser();
    const first = (await start(await signed(words()))).body;
    await goOn(browser, first.ticket_url);
    const before = browser.cookies;
    await goOn(browser, await ticketFor({ name: 'Bob' }));
    expect(before.filter(value => browser.cookies.includes(value)).length).toBeLessThanOrEqual(2); // the device's cookie and its signature
    expect(await p.sql('select ended_at is not null as ended from identity.auth_session where user_id = $1', [first.user_id])).toEqual([
      { ended: true },
    ]);
  });
});

describe('the own second factor', () => {
  const code = (): string => new TOTP({ secret: 'JBSWY3DPEHPK3PXP' }).generate();
  beforeEach(async () => {
    await p.sql('update identity.user_email set verified_at = now() where user_id = $1', [ADMIN]);
    await p.sql('update identity.mfa_method set last_step = null');
  });

  test('is still asked', async () => {
    const browser = new Browser();
    const page = await goOn(browser, await ticketFor({ email: 'admin@example.test' }));
    expect(page.html).toContain('name="code"');
    const end = await browser.follow(p, await browser.submit(page, '/mfa', { method: 'totp', code: code() }));
    expect(end.location).toBe('http://localhost:5173/welcome');
    expect(await tokensIn(browser)).toMatchObject({ sub: ADMIN, amr: ['ext', 'otp', 'mfa'] });
  });

  test('cannot be skipped', async () => {
    const browser = new Browser();
    const page = await goOn(browser, await ticketFor({ email: 'admin@example.test' }));
    const skipped = await browser.get(`${page.url}/continue`);
    expect([skipped.status, skipped.location]).toEqual([400, null]);
    const asked = await browser.open(p, authorizeUrl(p, { client: 'demo-app' }, proof()));
    expect(asked.html).toContain('name="identifier"');
  });

  test('is not asked where the partner is trusted with it and says that it has asked', async () => {
    await partnerIs({ trustedMfa: true });
    const browser = new Browser();
    expect((await goOn(browser, await ticketFor({ email: 'admin@example.test', amr: ['pwd', 'mfa'] }))).location).toBe(
      'http://localhost:5173/welcome',
    );
    const silent = await goOn(new Browser(), await ticketFor({ email: 'admin@example.test', amr: ['pwd'] }));
    expect(silent.html).toContain('name="code"');
  });

  test('is asked where the partner says so without being trusted', async () => {
    const page = await goOn(new Browser(), await ticketFor({ email: 'admin@example.test', amr: ['mfa'] }));
    expect(page.html).toContain('name="code"');
  });
});

test('the user whom a partner has linked is told to the partner service, and to nobody else', async () => {
  const sub = `linked-${++count}`;
  const { body } = await start(await signed(words({ sub })));
  const ask = (subject: string, token: string) =>
    p.graphql('query($s: String!) { ssoUser(partner: "acme-care", subject: $s) { id } }', { s: subject }, { token });
  expect((await ask(sub, bound)).data.ssoUser).toEqual({ id: body.user_id });
  expect((await ask('somebody-else', bound)).data.ssoUser).toBeNull();
  await p.sql(`update identity."user" set status = 'erased' where id = $1`, [body.user_id]);
  expect((await ask(sub, bound)).data.ssoUser).toBeNull();
  for (const token of [await p.serviceToken(), await p.internalToken('comms'), await p.userToken(DEMO, ['read:profile'])])
    expect((await ask(sub, token)).errors[0]!.extensions.code).toBe('FORBIDDEN');
});

describe("the partner's keys", () => {
  test.each(['https://169.254.169.254/jwks', 'https://10.0.0.7/jwks', 'http://keys.example/jwks', 'https://keys.example:8443/jwks'])(
    'are not registered at %s',
    async jwksUri => {
      const input = { key: 'acme-care', name: 'Acme Care', issuer: ISSUER, jwksUri };
      const { errors } = await p.graphql(UPSERT, { input }, { token: await p.serviceToken('admin:identity') });
      expect(errors[0]!.extensions.errors).toEqual([{ pointer: '/input/jwksUri', message: expect.stringMatching(/private|https/) }]);
    },
  );

  test('are fetched from its address, and again when it has a new one', async () => {
    let served: object[] = [jwk];
    let fetches = 0;
    const server = createServer((_request, response) => void (fetches++, response.end(JSON.stringify({ keys: served }))));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    atEnd(async () => void server.close());
    await partnerIs({ jwks: null, jwksUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks` });
    await ticketFor();
    await ticketFor();
    expect(fetches).toBe(1);
    served = [];
    expect((await start(await signed(words(), { kid: 'k2' }))).body.reason).toBe('signature');
    expect(fetches).toBe(1); // within the cooldown nobody makes us fetch again
  });

  test('are not fetched from inside our network: 503, and nothing is told of the address', async () => {
    await partnerIs({ jwks: null, jwksUri: 'https://keys.acme-care.example/jwks' });
    await p.sql("update identity.sso_partner set jwks_uri = 'https://169.254.169.254/jwks' where key = 'acme-care'"); // stored before it was refused
    const answer = await start(await signed(words()));
    expect([answer.status, JSON.stringify(answer.body).includes('169.254')]).toEqual([503, false]);
  });
});

test('what a partner says is kept nowhere but where it belongs', async () => {
  const claims = words({ name: 'Zebulon Q', email: 'zebulon@acme-care.example' });
  const assertion = await signed(claims);
  const { body } = await start(assertion);
  const kept = JSON.stringify(await p.sql('select details::text from identity.audit_log union all select data::text from events.outbox'));
  for (const secret of ['zebulon', 'Zebulon', assertion, body.ticket_url.slice(-43)]) expect(kept).not.toContain(secret);
  expect(CALLBACKS['demo-app']).toContain('localhost:5173');
});
