import { generateKeyPair, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { authorizeUrl, Browser, CALLBACKS, proof, redeem, refresh, signIn, walk } from './browser.js';
import { claimsOf, headerOf, introspect, M2M, PARTNER, post } from './oauth.js';

/** What `code-flow`, `tokens`, `verification` and `races` do not try. Source: issue "identity whole", table of attacks. */
let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'], manualClock: false })));

const me = (token: string) => p.rest('GET', '/identity/v1/users/me', { token });

describe('a code', () => {
  test('that another app has injected into its own flow is not redeemed, whatever verifier goes with it', async () => {
    const [theirs, own] = [proof(), proof()];
    const { code } = await walk(p, new Browser(), {}, theirs);
    for (const by of [theirs, own]) {
      const answer = await redeem(p, 'demo-app', code!, by);
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant']);
    }
  });

  test('of another sign-in of the same app, injected, fails by its verifier', async () => {
    const [victim, attacker] = [proof(), proof()];
    const { code } = await walk(p, new Browser(), {}, victim);
    await walk(p, new Browser(), { email: 'demo2@example.test' }, attacker);
    expect((await redeem(p, 'demo-partner-app', code!, attacker)).body.error).toBe('invalid_grant');
  });

  test.each([
    ['43 characters of another alphabet', '!'.repeat(43)],
    ['42 characters', 'a'.repeat(42)],
    ['129 characters', 'a'.repeat(129)],
  ])('is not redeemed with a verifier of %s', async (_case, code_verifier) => {
    const by = proof();
    const { code } = await walk(p, new Browser(), {}, by);
    const answer = await redeem(p, 'demo-partner-app', code!, by, { code_verifier });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^invalid_(grant|request)$/)]);
  });

  test('is not redeemed with the challenge in the place of the verifier', async () => {
    const by = proof();
    const { code } = await walk(p, new Browser(), {}, by);
    expect((await redeem(p, 'demo-partner-app', code!, by, { code_verifier: by.challenge })).body.error).toBe('invalid_grant');
  });

  test('is not redeemed without its redirect_uri', async () => {
    const by = proof();
    const { code } = await walk(p, new Browser(), {}, by);
    const form = { grant_type: 'authorization_code', ...PARTNER, code: code!, code_verifier: by.verifier };
    expect((await post(p, 'token', form)).body.error).toMatch(/^invalid_(grant|request)$/);
  });
});

describe('a redirect_uri', () => {
  test.each([
    ['a suffix of the host', 'http://localhost:5174.evil.example/callback'],
    ['an encoded traversal', 'http://localhost:5174/callback/%2e%2e/evil'],
    ['encoded characters', 'http://localhost:5174/%63allback'],
    ['a doubled slash', 'http://localhost:5174//callback'],
    ['a trailing slash', 'http://localhost:5174/callback/'],
    ['an empty query', 'http://localhost:5174/callback?'],
    ['a backslash', 'http://localhost:5174\\@evil.example/callback'],
    ['another scheme', 'https://localhost:5174/callback'],
    ['capital letters in the host', 'http://LOCALHOST:5174/callback'],
    ['the address of localhost', 'http://127.0.0.1:5174/callback'],
    ['a script', 'javascript:alert(1)'],
    ['another app of ours', CALLBACKS['demo-app']!],
  ])('with %s is a page, never a redirect', async (_case, redirect_uri) => {
    const page = await new Browser().get(authorizeUrl(p, { more: { redirect_uri } }, proof()));
    expect([page.status, page.location]).toEqual([400, null]);
  });
});

describe('parameters that stand twice', () => {
  test.each(['redirect_uri', 'client_id', 'scope', 'code_challenge', 'response_type', 'state'])(
    '%s: the request goes nowhere',
    async name => {
      const url = new URL(authorizeUrl(p, {}, proof()));
      url.searchParams.append(name, name === 'redirect_uri' ? 'https://evil.example/' : url.searchParams.get(name)!);
      const page = await new Browser().get(url.href);
      const answer = page.location ? new URL(page.location).searchParams : null;
      expect(page.location ?? '').not.toContain('evil.example');
      expect(answer ? answer.get('error') : page.status).toBe(answer ? 'invalid_request' : 400);
      expect(answer?.get('code') ?? null).toBeNull();
    },
  );

  test.each(['code', 'code_verifier', 'redirect_uri', 'refresh_token'])('%s at the token endpoint: invalid_request', async name => {
    const { status, body } = await post(p, 'token', [
      ...Object.entries({ ...PARTNER, grant_type: 'authorization_code', [name]: 'x' }),
      [name, 'y'],
    ]);
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });
});

describe('what an app asks for in other words', () => {
  test.each([
    ['an object of its own', { request: 'eyJhbGciOiJub25lIn0.e30.' }, /^(request_not_supported|invalid_request)$/],
    ['an address of an object', { request_uri: 'https://evil.example/r' }, /^(request_uri_not_supported|invalid_request)$/],
    ['a token in the answer', { response_type: 'token' }, /^(unsupported_response_type|unauthorized_client)$/],
    ['an id_token in the answer', { response_type: 'code id_token' }, /^(unsupported_response_type|unauthorized_client|invalid_request)$/],
    ['another resource', { resource: 'urn:other:api' }, /^invalid_target$/],
  ])('%s is refused', async (_case, more, error) => {
    const page = await new Browser().get(authorizeUrl(p, { more }, proof()));
    const { search, hash } = new URL(page.location ?? 'http://none');
    const answer = new URLSearchParams(search || hash.slice(1)); // errors of other response types come in the fragment, by their standard
    if (page.location) expect(answer.get('error')).toMatch(error);
    else expect(page.status).toBe(400);
    expect([answer.get('code'), answer.get('access_token')]).toEqual([null, null]);
  });
});

describe('a refresh token', () => {
  test('of another app is invalid_grant, and goes on working for its own', async () => {
    const tokens = await signIn(p);
    expect((await refresh(p, 'demo-app', tokens.refresh_token)).body.error).toBe('invalid_grant');
    expect((await refresh(p, 'demo-partner-app', tokens.refresh_token)).status).toBe(200);
  });

  test('is not an access token, not a code, and not the subject of an exchange', async () => {
    const { refresh_token: token } = await signIn(p);
    for (const presented of [token, `usr_${token}`, `svc_${token}`]) expect((await me(presented)).status).toBe(401);
    expect((await redeem(p, 'demo-partner-app', token, proof())).body.error).toBe('invalid_grant');
  });

  test('of a user is not one of a machine, and an access token not a refresh token', async () => {
    const { access_token: token } = await signIn(p);
    expect((await refresh(p, 'demo-partner-app', token)).body.error).toBe('invalid_grant');
    const answer = await post(p, 'token', { grant_type: 'refresh_token', ...M2M, refresh_token: (await signIn(p)).refresh_token });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });
});

describe('a key id', () => {
  let good: string;
  beforeAll(async () => void (good = await p.userToken(DEMO, ['read:profile'])));

  test.each([
    ['a path', { kid: '../../../../dev/null' }],
    ['SQL', { kid: "x' union select 'key" }],
    ['an address', { kid: 'https://evil.example/key' }],
    ['a key set of somebody else', { jku: 'https://evil.example/jwks' }],
    ['a certificate of somebody else', { x5u: 'https://evil.example/cert' }],
    ['a critical extension', { crit: ['exp'], exp: 1 }],
  ])('with %s opens nothing', async (_case, header) => {
    const { privateKey } = await generateKeyPair('ES256');
    const jws = new SignJWT(claimsOf(good)).setProtectedHeader({ typ: 'at+jwt', alg: 'ES256', kid: headerOf(good).kid, ...header });
    const token = `usr_${await jws.sign(privateKey, { crit: { exp: true } })}`;
    expect((await me(token)).status).toBe(401);
    expect(await introspect(p, token)).toEqual({ active: false });
  });
});

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

test('a token in another spelling of the same bytes opens nothing', async () => {
  const token = await p.userToken(DEMO, ['read:profile']);
  const last = BASE64URL.indexOf(token.at(-1)!);
  const spellings = [
    `${token.slice(0, -1)}${BASE64URL[last + 1]}`,
    `${token.slice(0, -1)}${BASE64URL[last + 15]}`,
    `${token}=`,
    `${token}==`,
  ];
  expect(Buffer.from(spellings[0]!.split('.')[2]!, 'base64url')).toEqual(Buffer.from(token.split('.')[2]!, 'base64url'));
  expect([(await me(token)).status, (await introspect(p, token)).active]).toEqual([200, true]);
  for (const spelling of spellings) expect([(await me(spelling)).status, (await introspect(p, spelling)).active]).toEqual([401, false]);
});

describe('guessing a secret', () => {
  test('is slowed down by any of the ways to authenticate, at every endpoint', async () => {
    const wrong = { client_id: 'demo-m2m', client_secret: 'guess' };
    const ways = [
      () => post(p, 'token', { grant_type: 'client_credentials', ...wrong }),
      () => post(p, 'introspect', { token: 'x', ...wrong }),
      () => post(p, 'revoke', { token: 'x', ...wrong }),
      () =>
        post(
          p,
          'token',
          { grant_type: 'client_credentials' },
          { authorization: `Basic ${Buffer.from('demo-m2m:guess').toString('base64')}` },
        ),
    ];
    const statuses: number[] = [];
    for (let count = 0; count < 24; count++) statuses.push((await ways[count % ways.length]!()).status);
    expect(statuses.slice(0, 20).every(status => status === 401)).toBe(true);
    expect(statuses.slice(-3)).toEqual([429, 429, 429]);
  });
});
