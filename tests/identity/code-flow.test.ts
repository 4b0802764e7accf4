import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import {
  answered,
  authorizeUrl,
  Browser,
  CALLBACKS,
  isConsent,
  isSignIn,
  PASSWORD,
  proof,
  redeem,
  refresh,
  signIn,
  walk,
} from './browser.js';
import { claimsOf, emitted, headerOf, introspect, post } from './oauth.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));

const me = (token: string) => p.rest('GET', '/identity/v1/users/me', { token });

describe('the code flow', () => {
  test('full flow with one scope unticked: the token holds what was granted, and a second authorize shows no page', async () => {
    const browser = new Browser();
    const asking = { scope: 'read:profile read:inbox', tick: ['read:profile'] };
    const tokens = await signIn(p, asking, browser);
    expect(tokens).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'read:profile',
      access_token: expect.stringMatching(/^usr_eyJ/),
    });
    expect(headerOf(tokens.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
    const claims = claimsOf(tokens.access_token);
    expect(claims).toMatchObject({
      sub: DEMO,
      client_id: 'demo-partner-app',
      token_use: 'user',
      scope: 'read:profile',
      amr: ['pwd'],
      first_party: false,
      aud: 'urn:platform:api',
    });
    expect([claims.sid, claims.gid, claims.jti, claims.auth_time]).toEqual([
      expect.any(String),
      expect.any(String),
      expect.any(String),
      expect.any(Number),
    ]);
    expect([claims.roles, claims.permissions, claims.csi]).toEqual([undefined, undefined, undefined]);
    const { status, body } = await me(tokens.access_token);
    expect([status, 'email' in body]).toEqual([200, false]);
    const by = proof();
    const second = await browser.open(p, authorizeUrl(p, asking, by));
    expect(answered(second)).toMatchObject({ code: expect.any(String), state: 'st4te', iss: `${p.url}/identity` });
    expect((await redeem(p, 'demo-partner-app', answered(second).code!, by)).body.scope).toBe('read:profile');
    const events = (await emitted(p, 'identity.grant.changed.v1')).filter(data => data.client_id === 'demo-partner-app');
    expect(events).toEqual([expect.objectContaining({ status: 'active', scopes: ['read:profile'], reason: 'consented', version: 1 })]);
  });

  test('an id_token comes with openid, with the claims that were granted', async () => {
    const tokens = await signIn(p, { client: 'demo-app', scope: 'openid read:profile', more: { nonce: 'n0nce' } });
    const [, payload] = tokens.id_token!.split('.');
    expect(JSON.parse(Buffer.from(payload!, 'base64url').toString())).toMatchObject({
      sub: DEMO,
      aud: 'demo-app',
      nonce: 'n0nce',
      name: 'Demo',
      preferred_username: 'demo',
      iss: `${p.url}/identity`,
      auth_time: expect.any(Number),
    });
    expect(JSON.parse(Buffer.from(payload!, 'base64url').toString())).not.toHaveProperty('email');
    expect(tokens.scope.split(' ').sort()).toEqual(['openid', 'read:profile']);
    expect((await signIn(p, { client: 'demo-app', scope: 'read:profile' })).id_token).toBeUndefined();
  });

  test.each([
    ['no code_challenge', { code_challenge: '', code_challenge_method: '' }],
    ['code_challenge_method=plain', { code_challenge_method: 'plain' }],
    ['a challenge of 42 characters', { code_challenge: 'a'.repeat(42) }],
  ])('without a proof (%s) the app is told invalid_request', async (_case, more) => {
    const { status, location } = await new Browser().get(
      authorizeUrl(p, { more }, proof()).replace(/&code_challenge(_method)?=(?=&|$)/g, ''),
    );
    expect(status).toBe(303);
    expect(location).toMatch(/^http:\/\/localhost:5174\/callback\?/);
    expect(Object.fromEntries(new URL(location!).searchParams)).toMatchObject({
      error: 'invalid_request',
      state: 'st4te',
      iss: `${p.url}/identity`,
    });
  });

  test.each([
    ['another query', 'http://localhost:5174/callback?x=1'],
    ['a suffix', 'http://localhost:5174/callback/x'],
    ['path traversal', 'http://localhost:5174/callback/../evil'],
    ['user info', 'http://localhost:5174@evil.example/callback'],
    ['a port', 'http://localhost:5199/callback'],
    ['a fragment', 'http://localhost:5174/callback#x'],
    ['letter case', 'http://localhost:5174/Callback'],
    ['another host', 'https://evil.example/callback'],
  ])('a redirect_uri with %s is a page, never a redirect', async (_case, redirect_uri) => {
    const page = await new Browser().get(authorizeUrl(p, { more: { redirect_uri } }, proof()));
    expect([page.status, page.location, page.headers['content-type']]).toEqual([400, null, 'text/html; charset=utf-8']);
  });

  test('an unknown client is a page', async () => {
    const page = await new Browser().get(authorizeUrl(p, { more: { client_id: 'nobody-here' } }, proof()));
    expect([page.status, page.location]).toEqual([400, null]);
    expect(page.html).not.toContain('<script');
  });

  test.each([
    ['a health scope without an agreement', 'read:biomarkers'],
    ['an unknown scope', 'read:everything'],
    ['a machine scope', 'admin:clinical'],
  ])('asking for %s sends back invalid_scope that names it', async (_case, scope) => {
    const { location } = await new Browser().get(authorizeUrl(p, { scope }, proof()));
    expect(Object.fromEntries(new URL(location!).searchParams)).toMatchObject({
      error: 'invalid_scope',
      error_description: expect.stringContaining(scope),
    });
  });

  test('with an agreement the consent page marks the scope as health data, and its end stops it', async () => {
    await p.sql(
      "insert into identity.oauth_client_agreement (id, client_id, document_version, scopes, signed_by, signed_at) values ('0190b3a0-0000-7000-8000-00000000aaaa', 'demo-partner-app', '1', '{read:biomarkers}', 'x', now())",
    );
    const browser = new Browser();
    const page = await browser.open(p, authorizeUrl(p, { scope: 'read:biomarkers' }, proof()));
    const consent = await browser.follow(p, await browser.submit(page, '/login', { identifier: 'demo@example.test', password: PASSWORD }));
    expect([isConsent(consent), consent.html]).toEqual([true, expect.stringContaining('Health data')]);
    const tokens = await signIn(p, { scope: 'read:biomarkers read:profile' }, browser);
    expect(tokens.scope.split(' ').sort()).toEqual(['read:biomarkers', 'read:profile']);
    await p.sql('delete from identity.oauth_client_agreement');
    expect((await refresh(p, 'demo-partner-app', tokens.refresh_token)).body.scope).toBe('read:profile');
  });

  test('response modes other than the query are refused', async () => {
    const { location } = await new Browser().get(authorizeUrl(p, { more: { response_mode: 'form_post' } }, proof()));
    expect(new URL(location!).searchParams.get('error')).toBe('unsupported_response_mode');
  });

  test('another address of identity leads to the canonical one before any cookie', async () => {
    const { rest } = p;
    const answer = await rest.call(p, 'GET', '/v1/oauth/authorize?client_id=x&state=a%20b', {
      headers: { host: `identity.localhost:${new URL(p.url).port}` },
    });
    expect([answer.status, answer.headers.location, answer.headers['set-cookie']]).toEqual([
      302,
      `${p.url}/identity/v1/oauth/authorize?client_id=x&state=a%20b`,
      undefined,
    ]);
  });
});

describe('prompts', () => {
  test('prompt=none says what is missing', async () => {
    const browser = new Browser();
    const none = async () =>
      answered(await browser.open(p, authorizeUrl(p, { client: 'demo-app', more: { prompt: 'none' } }, proof()))).error;
    expect(await none()).toBe('login_required');
    await signIn(p, { client: 'demo-app', email: 'demo2@example.test' }, browser);
    expect(await none()).toBeUndefined();
    const asked = await browser.open(p, authorizeUrl(p, { client: 'demo-app', scope: 'read:inbox', more: { prompt: 'none' } }, proof()));
    expect(answered(asked).error).toBe('consent_required');
  });

  test('prompt=login and max_age ask for the password again, and auth_time follows', async () => {
    const browser = new Browser();
    const first = claimsOf((await signIn(p, { client: 'demo-app' }, browser)).access_token);
    await p.clock('identity', { advance: 'PT11M' });
    expect(isSignIn(await browser.open(p, authorizeUrl(p, { client: 'demo-app', more: { prompt: 'login' } }, proof())))).toBe(true);
    expect(isSignIn(await browser.open(p, authorizeUrl(p, { client: 'demo-app', more: { max_age: '3600' } }, proof())))).toBe(false);
    const again = claimsOf((await signIn(p, { client: 'demo-app', more: { max_age: '600' } }, browser)).access_token);
    expect(again.auth_time - first.auth_time).toBeGreaterThanOrEqual(660);
    expect(again.sid).toBe(first.sid);
    expect(again.gid).not.toBe(first.gid);
  });

  test('prompt=consent shows all scopes again, ticked as stored', async () => {
    const browser = new Browser();
    await signIn(p, { scope: 'read:profile read:inbox', tick: ['read:profile'] }, browser);
    const page = await browser.open(p, authorizeUrl(p, { scope: 'read:profile read:inbox', more: { prompt: 'consent' } }, proof()));
    expect(page.html).toMatch(/value="read:profile"\s+checked/);
    expect(page.html).toMatch(/value="read:inbox"\s*\/>/);
  });

  test('signing in as somebody else ends the sign-in of the first', async () => {
    const browser = new Browser();
    const first = await signIn(p, { client: 'demo-app' }, browser);
    const by = proof();
    const page = await browser.open(p, authorizeUrl(p, { client: 'demo-app', more: { prompt: 'login' } }, by));
    const next = await browser.follow(p, await browser.submit(page, '/login', { identifier: 'demo2@example.test', password: PASSWORD }));
    const { code } = isConsent(next)
      ? answered(await browser.follow(p, await browser.submit(next, '/consent', { decision: 'allow', scope: 'read:profile' })))
      : answered(next);
    const second = claimsOf((await redeem(p, 'demo-app', code!, by)).body.access_token);
    expect(second.sub).not.toBe(DEMO);
    expect(second.sid).not.toBe(claimsOf(first.access_token).sid);
    expect((await introspect(p, first.access_token)).active).toBe(false);
  });
});

describe('refresh', () => {
  test('R1 → R2; R1 again kills the family: R2 is invalid_grant and its access token is dead everywhere', async () => {
    const first = await signIn(p);
    const second = await refresh(p, 'demo-partner-app', first.refresh_token);
    expect(second.body).toMatchObject({
      access_token: expect.stringMatching(/^usr_/),
      scope: 'read:profile',
      refresh_token: expect.any(String),
    });
    expect(second.body.refresh_token).not.toBe(first.refresh_token);
    expect((await me(second.body.access_token)).status).toBe(200);
    const replay = await refresh(p, 'demo-partner-app', first.refresh_token);
    expect([replay.status, replay.body.error]).toEqual([400, 'invalid_grant']);
    const dead = await refresh(p, 'demo-partner-app', second.body.refresh_token);
    expect([dead.status, dead.body.error]).toEqual([400, 'invalid_grant']);
    expect(await introspect(p, second.body.access_token)).toEqual({ active: false });
    await expect.poll(async () => (await me(second.body.access_token)).status).toBe(401);
  });

  test('a replay on one device leaves the other, and the first signs in again without a consent page', async () => {
    const [one, two] = [new Browser(), new Browser()];
    const [first, second] = [await signIn(p, {}, one), await signIn(p, {}, two)];
    await refresh(p, 'demo-partner-app', first.refresh_token);
    expect((await refresh(p, 'demo-partner-app', first.refresh_token)).status).toBe(400);
    expect((await refresh(p, 'demo-partner-app', second.refresh_token)).status).toBe(200);
    const page = await one.open(p, authorizeUrl(p, { more: { prompt: 'login' } }, proof()));
    const after = await one.follow(p, await one.submit(page, '/login', { identifier: 'demo@example.test', password: PASSWORD }));
    expect(answered(after).code).toEqual(expect.any(String));
  });

  test('a narrower scope holds for that access token only, a wider one is refused', async () => {
    const { refresh_token } = await signIn(p, { client: 'demo-app', scope: 'read:profile read:account' });
    const narrow = await refresh(p, 'demo-app', refresh_token, { scope: 'read:profile' });
    expect(narrow.body.scope).toBe('read:profile');
    expect((await refresh(p, 'demo-app', narrow.body.refresh_token, { scope: 'read:inbox' })).body.error).toBe('invalid_scope');
    const whole = await refresh(p, 'demo-app', narrow.body.refresh_token);
    expect(whole.body.scope.split(' ').sort()).toEqual(['read:account', 'read:profile']);
  });

  test('auth_time is never moved by a refresh', async () => {
    const first = await signIn(p);
    await p.clock('identity', { advance: 'PT1H' });
    const second = await refresh(p, 'demo-partner-app', first.refresh_token);
    expect(claimsOf(second.body.access_token).auth_time).toBe(claimsOf(first.access_token).auth_time);
  });

  test('works on day 89 and again on day 178; unused for 90 days it ends, and the consent page comes again with the stored choices', async () => {
    const browser = new Browser();
    const asking = { scope: 'read:profile read:content', tick: ['read:profile'] };
    let tokens = await signIn(p, asking, browser);
    for (const _day of [89, 178]) {
      await p.clock('identity', { advance: 'P89D' });
      const answer = await refresh(p, 'demo-partner-app', tokens.refresh_token);
      expect(answer.status).toBe(200);
      tokens = answer.body;
    }
    await p.clock('identity', { advance: 'P90DT1S' });
    expect((await refresh(p, 'demo-partner-app', tokens.refresh_token)).body.error).toBe('invalid_grant');
    const fresh = new Browser();
    const page = await fresh.open(p, authorizeUrl(p, asking, proof()));
    const consent = await fresh.follow(p, await fresh.submit(page, '/login', { identifier: 'demo@example.test', password: PASSWORD }));
    expect(isConsent(consent)).toBe(true);
    expect(consent.html).toMatch(/value="read:profile"\s+checked/);
    expect(consent.html).toMatch(/value="read:content"\s*\/>/);
    const told = (await emitted(p, 'identity.grant.changed.v1')).filter(data => data.client_id === 'demo-partner-app').at(-1);
    expect(told).toMatchObject({ status: 'revoked', reason: 'expired', scopes: [] });
  });

  test('a leeway lets a just rotated token be used again, each use with its own successor', async () => {
    await p.sql("update identity.oauth_client set refresh_reuse_leeway_seconds = 20 where id = 'demo-app'");
    const { refresh_token } = await signIn(p, { client: 'demo-app' });
    const [one, two] = [await refresh(p, 'demo-app', refresh_token), await refresh(p, 'demo-app', refresh_token)];
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(one.body.refresh_token).not.toBe(two.body.refresh_token);
    await p.clock('identity', { advance: 'PT21S' });
    expect((await refresh(p, 'demo-app', refresh_token)).status).toBe(400);
    expect((await refresh(p, 'demo-app', one.body.refresh_token)).status).toBe(400);
    await p.sql("update identity.oauth_client set refresh_reuse_leeway_seconds = 0 where id = 'demo-app'");
  });
});

describe('codes', () => {
  test('the same code twice: invalid_grant, and the tokens of the first are dead', async () => {
    const by = proof();
    const { code } = await walk(p, new Browser(), {}, by);
    const first = await redeem(p, 'demo-partner-app', code!, by);
    const second = await redeem(p, 'demo-partner-app', code!, by);
    expect([first.status, second.status, second.body.error]).toEqual([200, 400, 'invalid_grant']);
    expect(await introspect(p, first.body.access_token)).toEqual({ active: false });
    expect((await refresh(p, 'demo-partner-app', first.body.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('a replay after the minute of a code kills its tokens, too', async () => {
    const by = proof();
    const { code } = await walk(p, new Browser(), {}, by);
    const { body } = await redeem(p, 'demo-partner-app', code!, by);
    await p.clock('identity', { advance: 'PT2M' });
    expect((await redeem(p, 'demo-partner-app', code!, by)).body.error).toBe('invalid_grant');
    expect((await refresh(p, 'demo-partner-app', body.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('lives for 60 s', async () => {
    const by = proof();
    const { code } = await walk(p, new Browser(), {}, by);
    await p.clock('identity', { advance: 'PT61S' });
    expect((await redeem(p, 'demo-partner-app', code!, by)).body.error).toBe('invalid_grant');
  });

  test.each<[string, string, (by: { verifier: string }) => Record<string, string>]>([
    ['another client', 'demo-app', () => ({})],
    ['no verifier', 'demo-partner-app', () => ({ code_verifier: '' })],
    ['a short verifier', 'demo-partner-app', () => ({ code_verifier: 'short' })],
    ['another verifier', 'demo-partner-app', () => ({ code_verifier: 'x'.repeat(43) })],
    ['another redirect_uri', 'demo-partner-app', () => ({ redirect_uri: CALLBACKS['demo-app']! })],
  ])('is not redeemed with %s, and is not spent by that', async (_case, client, more) => {
    const by = proof();
    const { code } = await walk(p, new Browser(), {}, by);
    const wrong = await redeem(p, client, code!, by, { redirect_uri: CALLBACKS['demo-partner-app']!, ...more(by) });
    expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringMatching(/^invalid_(grant|request)$/)]);
    expect((await redeem(p, 'demo-partner-app', code!, by)).status).toBe(200);
  });

  test('a refresh token or an id_token is no access token, and none of them a code', async () => {
    const tokens = await signIn(p, { client: 'demo-app', scope: 'openid read:profile' });
    for (const token of [tokens.refresh_token, tokens.id_token!, `usr_${tokens.id_token}`]) expect((await me(token)).status).toBe(401);
    expect((await redeem(p, 'demo-app', tokens.refresh_token, proof())).body.error).toBe('invalid_grant');
  });

  test('no secret is stored: neither code, refresh token nor cookie is found in the database', async () => {
    const browser = new Browser();
    const tokens = await signIn(p, {}, browser);
    const rows =
      JSON.stringify(await p.sql('select * from identity.oauth_artifact')) +
      JSON.stringify(await p.sql('select * from identity.token_family'));
    for (const secret of [tokens.refresh_token, ...browser.cookies.filter(value => value.length > 12)]) expect(rows).not.toContain(secret);
  });
});

test('revoking a refresh token ends its family, and only for its owner', async () => {
  const tokens = await signIn(p);
  await post(p, 'revoke', { client_id: 'demo-app', token: tokens.refresh_token });
  expect((await introspect(p, tokens.access_token)).active).toBe(true);
  const { client_id, client_secret } = { client_id: 'demo-partner-app', client_secret: 'demo-partner-secret' };
  expect((await post(p, 'revoke', { client_id, client_secret, token: tokens.refresh_token })).status).toBe(200);
  expect(await introspect(p, tokens.access_token)).toEqual({ active: false });
});
