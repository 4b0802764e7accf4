import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { keyIdOf, keySetFault, type ClientKey } from '../../subgraphs/identity/rules/client-keys.js';
import { atEnd } from '../support/at-end.js';
import { platform, type Answer, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { claimsOf, introspect, post } from './oauth.js';

interface Pair {
  privateKey: CryptoKey;
  jwk: ClientKey;
}

async function pairOf(kid: string, alg = 'ES256'): Promise<Pair> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } as ClientKey };
}

let p: TestPlatform;
let service: string;
let first: Pair;
let second: Pair;
beforeAll(async () => {
  [p, first, second] = [
    await platform({ services: ['identity'], manualClock: false, env: { IDENTITY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' } }),
    await pairOf('first'),
    await pairOf('second'),
  ];
  service = await p.serviceToken('admin:identity');
});

const ID = 'signing-robot';
const clients = '/identity/v1/admin/oauth-clients';
const patch = (body: object): Promise<Answer> => p.rest('PATCH', `${clients}/${ID}`, { token: service, body });

interface Saying {
  claims?: JWTPayload;
  kid?: string | undefined;
  alg?: string;
}

const assertion = ({ privateKey, jwk }: Pair, { claims = {}, alg = 'ES256', ...more }: Saying = {}): Promise<string> => {
  const now = Math.floor(Date.now() / 1000);
  const said = { iss: ID, sub: ID, aud: `${p.url}/identity`, jti: crypto.randomUUID(), exp: now + 60, ...claims };
  return new SignJWT(said).setProtectedHeader({ alg, kid: 'kid' in more ? more.kid : jwk.kid }).sign(privateKey);
};
const obtain = (text: string, more: Record<string, string> = {}): Promise<Answer> =>
  post(p, 'token', {
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: text,
    ...more,
  });

describe('a key set', () => {
  test('holds public keys for signatures, each with a kid of its own', async () => {
    const rsa = await pairOf('rsa', 'PS256');
    expect([keySetFault({ keys: [first.jwk] }), keySetFault({ keys: [first.jwk, rsa.jwk, (await pairOf('ed', 'EdDSA')).jwk] })]).toEqual([
      null,
      null,
    ]);
    const { kid: _none, ...nameless } = second.jwk;
    const faults: [unknown, string][] = [
      [null, '/keys'],
      [{}, '/keys'],
      [{ keys: [] }, '/keys'],
      [{ keys: Array.from({ length: 11 }, () => first.jwk) }, '/keys'],
      [{ keys: [first.jwk, first.jwk] }, '/keys'],
      [{ keys: [first.jwk, nameless] }, '/keys'],
      [{ keys: [first.jwk, await exportJWK(second.privateKey)] }, '/keys/1'],
      [{ keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }, '/keys/0'],
      [{ keys: [{ ...first.jwk, use: 'enc' }] }, '/keys/0'],
      [{ keys: [{ ...first.jwk, x: 'AA' }] }, '/keys/0'],
      [{ keys: ['x'] }, '/keys/0'],
    ];
    for (const [set, path] of faults) expect([set, keySetFault(set)?.path]).toEqual([set, path]);
  });

  test('gives each key an id of its own for each client, whatever its kid', () => {
    expect(keyIdOf('a', first.jwk)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(keyIdOf('a', { ...first.jwk, kid: 'other' })).toBe(keyIdOf('a', first.jwk));
    expect(new Set([keyIdOf('a', first.jwk), keyIdOf('b', first.jwk), keyIdOf('a', second.jwk)]).size).toBe(3);
  });
});

describe('a client that signs', () => {
  test('is registered with public keys only, and gets no secret', async () => {
    const body = { client_id: ID, name: 'Robot', kind: 'machine', scopes: ['admin:cash'], token_endpoint_auth_method: 'private_key_jwt' };
    const create = (more: object) => p.rest('POST', clients, { token: service, body: { ...body, ...more } });
    expect((await create({})).status).toBe(400);
    const leaked = await create({ jwks: { keys: [await exportJWK(first.privateKey)] } });
    expect([leaked.status, leaked.body.errors[0]]).toEqual([400, { pointer: '/jwks/keys/0', message: 'must hold no private key' }]);
    const made = await create({ jwks: { keys: [first.jwk, second.jwk] } });
    expect([made.status, made.body.client_secret ?? null]).toEqual([201, null]);
  });

  test('obtains tokens that name the key', async () => {
    const { status, body } = await obtain(await assertion(first));
    expect([status, body.scope]).toEqual([200, 'admin:cash']);
    expect(claimsOf(body.access_token)).toMatchObject({ client_id: ID, csi: keyIdOf(ID, first.jwk) });
    const again = await obtain(await assertion(second), { client_id: ID, scope: 'admin:cash' });
    expect(claimsOf(again.body.access_token).csi).toBe(keyIdOf(ID, second.jwk));
  });

  test('an assertion is good once, also of two at once', async () => {
    const text = await assertion(first);
    const answers = await Promise.all([obtain(text), obtain(text)]);
    expect(answers.map(one => one.status).sort((a, b) => a - b)).toEqual([200, 401]);
    expect((await obtain(text)).body.error).toBe('invalid_client');
  });

  test.each<[string, (now: number) => Saying]>([
    ['for another audience', () => ({ claims: { aud: 'https://other.example' } })],
    ['of another issuer', () => ({ claims: { iss: 'demo-m2m' } })],
    ['that has expired', now => ({ claims: { exp: now - 30 } })],
    ['that lasts for an hour', now => ({ claims: { exp: now + 3600 } })],
    ['without an end', () => ({ claims: { exp: undefined } })],
    ['without a jti', () => ({ claims: { jti: undefined } })],
    ['that names no key', () => ({ kid: undefined })],
    ['that names a key which is not there', () => ({ kid: 'third' })],
  ])('an assertion %s is refused', async (_case, saying) => {
    const { status, body } = await obtain(await assertion(first, saying(Math.floor(Date.now() / 1000))));
    expect([status, body.error, body.access_token]).toEqual([401, 'invalid_client', undefined]);
  });

  test('nobody else can sign for it, and a secret does not help', async () => {
    const stranger = await pairOf('first');
    expect((await obtain(await assertion(stranger))).status).toBe(401);
    const none = Buffer.from(JSON.stringify({ alg: 'none', kid: 'first' })).toString('base64url');
    expect((await obtain(`${none}.${(await assertion(first)).split('.')[1]}.`)).status).toBe(401);
    const secret = await post(p, 'token', { grant_type: 'client_credentials', client_id: ID, client_secret: 'kept as a hash' });
    expect([secret.status, secret.body.error]).toEqual([401, 'invalid_client']);
  });

  test('loses the tokens of a key that is taken away, at once, and keeps those of the other', async () => {
    const [old, kept] = [
      (await obtain(await assertion(first))).body.access_token,
      (await obtain(await assertion(second))).body.access_token,
    ];
    expect((await patch({ jwks: { keys: [second.jwk] } })).status).toBe(200);
    await until(
      'the revocation',
      async () => (await introspect(p, old)).active,
      active => active === false,
    );
    expect((await introspect(p, kept)).active).toBe(true);
    await until(
      'the key to be refused',
      async () => (await obtain(await assertion(first))).status,
      status => status === 401,
    );
    expect((await obtain(await assertion(second, { kid: undefined }))).status).toBe(200);
  });
});

describe('keys at an address', () => {
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let asked = 0;
  let base: string;
  beforeAll(async () => {
    const server = createServer((request, response) => {
      asked++;
      answer(request, response);
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    atEnd(async () => server.close().closeAllConnections());
    await patch({ jwks: null, jwks_uri: 'https://keys.example/jwks' });
  });

  /** Registration demands https, so the test's address goes into the row. A new address is a new client to the engine. */
  let addresses = 0;
  async function at(place: string, answers: typeof answer = () => undefined): Promise<Answer> {
    [answer, asked] = [answers, 0];
    await p.sql('update identity.oauth_client set jwks_uri = $2 where id = $1', [ID, `${place}?${addresses++}`]);
    await p.sql('delete from identity.failed_client_auth');
    await post(p, 'token', { grant_type: 'client_credentials', client_id: ID, client_secret: 'wrong' }); // a failure ends what is believed of it
    return obtain(await assertion(first));
  }
  const keys = (response: ServerResponse, more = {}): unknown =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [first.jwk], ...more }));

  test('are fetched, once for a while, and name the key by the same id', async () => {
    const { status, body } = await at(`${base}/jwks`, (_request, response) => void keys(response));
    expect([status, claimsOf(body.access_token).csi]).toEqual([200, keyIdOf(ID, first.jwk)]);
    expect((await obtain(await assertion(first))).status).toBe(200);
    expect(asked).toBe(1);
    expect((await obtain(await assertion(second))).status).toBe(401);
  });

  test.each<[string, () => string, typeof answer, number]>([
    ['of another network', () => 'https://10.0.0.1/jwks', () => undefined, 0],
    ['of the metadata of a cloud', () => 'http://169.254.169.254/jwks', () => undefined, 0],
    [
      'that leads elsewhere',
      () => `${base}/jwks`,
      (_request, response) => void response.writeHead(302, { location: `${base}/other` }).end(),
      1,
    ],
    ['with 70 kB', () => `${base}/jwks`, (_request, response) => void keys(response, { padding: 'x'.repeat(70_000) }), 1],
    ['with something else', () => `${base}/jwks`, (_request, response) => void response.end('<html>'), 1],
    ['that never ends', () => `${base}/jwks`, (_request, response) => void response.write('{'), 1],
  ])('are not taken from an address %s', async (_case, place, answers, requests) => {
    const { status, body } = await at(place(), answers);
    expect([status, body.error, asked]).toEqual([401, 'invalid_client', requests]);
  });
});

test('private_key_jwt is told in the metadata', async () => {
  const { body } = await p.rest('GET', '/identity/.well-known/openid-configuration');
  expect(body.token_endpoint_auth_methods_supported).toContain('private_key_jwt');
  expect(body.token_endpoint_auth_signing_alg_values_supported).toEqual(['ES256', 'ES384', 'PS256', 'RS256', 'EdDSA']);
});
