import { CompactSign, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTHeaderParameters } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { keyringOf } from '../../subgraphs/identity/ports/keyring.js';
import { claimsOf, headerOf, introspect } from './oauth.js';

let p: TestPlatform;
let good: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'], manualClock: false });
  good = await p.serviceToken('admin:identity');
});

const read = (token: string | null, headers: Record<string, string> = {}) => p.rest('GET', '/identity/v1/admin/users', { token, headers });

/** Signed with identity's own key, so that nothing but the named difference can be why it is refused. */
async function signed(claims: Record<string, unknown>, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
  const key = keyringOf(p.host('identity')).current(new Date());
  const jws = new SignJWT({ ...claimsOf(good), ...claims }).setProtectedHeader({ typ: 'at+jwt', alg: 'ES256', kid: key.kid, ...header });
  return `svc_${await jws.sign(key.privateKey)}`;
}

async function byOtherKey(kid?: string): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256');
  return `svc_${await new SignJWT(claimsOf(good)).setProtectedHeader({ typ: 'at+jwt', alg: 'ES256', ...(kid && { kid }) }).sign(privateKey)}`;
}

/** The classic confusion: HMAC keyed with the public key that everybody can read. */
async function byPublicKeyAsSecret(form: 'jwk' | 'coordinates'): Promise<string> {
  const { kid } = headerOf(good);
  const { body } = await p.rest('GET', '/identity/.well-known/jwks.json');
  const jwk = body.keys.find((one: { kid: string }) => one.kid === kid);
  const secret = form === 'jwk' ? JSON.stringify(jwk) : Buffer.from(jwk.x, 'base64url');
  const jws = new CompactSign(Buffer.from(JSON.stringify(claimsOf(good)))).setProtectedHeader({ typ: 'at+jwt', alg: 'HS256', kid });
  return `svc_${await jws.sign(Buffer.from(secret))}`;
}

/** A key that the token brings along must not be believed. */
async function withEmbeddedKey(): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const header = { typ: 'at+jwt', alg: 'ES256', jwk: await exportJWK(publicKey) };
  return `svc_${await new SignJWT(claimsOf(good)).setProtectedHeader(header).sign(privateKey)}`;
}

const seconds = Math.floor(Date.now() / 1000);

describe('an access token', () => {
  test('that identity has issued gives access', async () => {
    expect((await read(good)).status).toBe(200);
    expect((await read(await signed({}))).status).toBe(200);
  });

  test.each<[string, () => Promise<string>]>([
    ['algorithm none', async () => `svc_${new UnsecuredJWT(claimsOf(good)).encode()}`],
    ['HS256 keyed with the public JWK', () => byPublicKeyAsSecret('jwk')],
    ['HS256 keyed with the public coordinates', () => byPublicKeyAsSecret('coordinates')],
    ['the signature of another key under our kid', () => byOtherKey(headerOf(good).kid)],
    ['an unknown kid', () => byOtherKey('unknown')],
    ['no kid and another key', () => byOtherKey()],
    ['a key of its own', () => withEmbeddedKey()],
    ['another issuer', () => signed({ iss: 'https://evil.example' })],
    ['another audience', () => signed({ aud: 'urn:other:api' })],
    ['our audience among others', () => signed({ aud: ['urn:platform:api', 'urn:other:api'] })],
    ['type JWT', () => signed({}, { typ: 'JWT' })],
    ['no type', () => signed({}, { typ: undefined as never })],
    ['the use of the other prefix', () => signed({ token_use: 'user' })],
    ['no use', () => signed({ token_use: undefined })],
    ['an end in the past', () => signed({ iat: seconds - 7200, exp: seconds - 6 })],
    ['no end', () => signed({ exp: undefined })],
    ['no client', () => signed({ client_id: undefined })],
    ['no id', () => signed({ jti: undefined })],
    [
      'changed claims under the old signature',
      async () => {
        const [header, , signature] = good.split('.');
        return [header, Buffer.from(JSON.stringify({ ...claimsOf(good), scope: 'admin:payments' })).toString('base64url'), signature].join(
          '.',
        );
      },
    ],
    ['no prefix', async () => good.slice(4)],
    ['the prefix of a user token', async () => `usr_${good.slice(4)}`],
    ['nothing of a token', async () => 'svc_x'],
  ])('with %s is 401 invalid_token, and inactive', async (_case, forge) => {
    const token = await forge();
    const { status, headers, body } = await read(token);
    expect([status, body.code, headers['www-authenticate']]).toEqual([401, 'unauthenticated', 'Bearer error="invalid_token"']);
    expect(await introspect(p, token)).toEqual({ active: false });
  });

  test('is taken from the header only, once', async () => {
    expect((await p.rest('GET', `/identity/v1/admin/users?access_token=${good}`)).status).toBe(401);
    expect((await read(null, { authorization: `Basic ${good}` })).status).toBe(401);
    expect((await read(null, { authorization: `Bearer ${good}, Bearer ${good}` })).status).toBe(401);
  });

  test('that is missing is challenged without an error', async () => {
    const { status, headers } = await read(null);
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });
});

describe('the subgraph itself', () => {
  const query = {
    query: `query($r: [_Any!]!) { _entities(representations: $r) { ... on User { id email } } }`,
    variables: { r: [{ __typename: 'User', id: DEMO }] },
  };

  test.each([
    ['without a token', async () => null, 401],
    ['with a forged token', () => byOtherKey(headerOf(good).kid), 401],
  ] as [string, () => Promise<string | null>, number][])('answers %s with %s and no data', async (_case, token, status) => {
    const answer = await p.rest('POST', '/identity/graphql', { token: await token(), body: query });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).not.toContain('example.test');
  });

  test('shows a stranger no contact data on _entities', async () => {
    const stranger = await p.userToken('0190b3a0-0000-7000-8000-0000000000a2', ['read:account', 'read:profile']);
    const answer = await p.rest('POST', '/identity/graphql', { token: stranger, body: query });
    expect(answer.body).toEqual({ data: { _entities: [{ id: DEMO, email: null }] } });
  });
});
