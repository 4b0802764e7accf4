import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, sharedPlatform, type SharedPlatform } from '../support/platform.js';
import { Browser, CALLBACKS, isConsent, isSignIn, PASSWORD } from './browser.js';
import { M2M, PARTNER } from './oauth.js';

/** Two strict client libraries of others, which know the standards and nothing of us. */
let p: SharedPlatform;
let issuer: URL;
beforeAll(async () => {
  p = await sharedPlatform();
  issuer = new URL(`${p.url}/identity`);
});

const REDIRECT = CALLBACKS['demo-partner-app']!;
const SCOPE = 'openid read:profile';

/** What a person's browser makes of an authorization request: the address at which the app is called back. */
async function visit(url: URL): Promise<URL> {
  const browser = new Browser();
  let page = await browser.open(p, url.href);
  if (isSignIn(page))
    page = await browser.follow(p, await browser.submit(page, '/login', { identifier: 'demo@example.test', password: PASSWORD }));
  if (isConsent(page))
    page = await browser.follow(p, await browser.submit(page, '/consent', { decision: 'allow', scope: SCOPE.split(' ').slice(1) }));
  return new URL(page.location!);
}

/** Libraries know tokens by the standard's names only; a prefix is opaque to them. */
describe('openid-client', () => {
  const configured = (who: { client_id: string; client_secret: string }) =>
    client.discovery(
      issuer,
      who.client_id,
      { token_endpoint_auth_method: 'client_secret_basic', id_token_signed_response_alg: 'ES256' },
      client.ClientSecretBasic(who.client_secret),
      {
        execute: [client.allowInsecureRequests], // this platform answers on http
      },
    );

  test('finds everything by discovery', async () => {
    const metadata = (await configured(PARTNER)).serverMetadata();
    expect(metadata).toMatchObject({
      issuer: issuer.href,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    });
    const plain = await client.discovery(issuer, 'demo-app', undefined, client.None(), {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    });
    expect(plain.serverMetadata().token_endpoint).toBe(metadata.token_endpoint);
  });

  test('completes code + PKCE with nonce, refresh, introspection and revocation', async () => {
    const config = await configured(PARTNER);
    client.enableNonRepudiationChecks(config); // verifies the id_token's signature against the key set as well
    const [pkceCodeVerifier, expectedState, expectedNonce] = [client.randomPKCECodeVerifier(), client.randomState(), client.randomNonce()];
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT,
      scope: SCOPE,
      state: expectedState,
      nonce: expectedNonce,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const tokens = await client.authorizationCodeGrant(config, await visit(url), {
      pkceCodeVerifier,
      expectedState,
      expectedNonce,
      idTokenExpected: true,
      maxAge: 600,
    });
    expect(tokens.claims()).toMatchObject({ sub: DEMO, aud: 'demo-partner-app', nonce: expectedNonce });
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token!);
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
    expect(await client.tokenIntrospection(config, refreshed.access_token)).toMatchObject({
      active: true,
      sub: DEMO,
      client_id: 'demo-partner-app',
    });
    await client.tokenRevocation(config, refreshed.refresh_token!);
    expect(await client.tokenIntrospection(config, refreshed.access_token)).toEqual({ active: false });
    await expect(client.refreshTokenGrant(config, refreshed.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('gets a service token by client_credentials', async () => {
    const tokens = await client.clientCredentialsGrant(await configured(M2M), { scope: 'admin:clinical' });
    expect([tokens.access_token.slice(0, 7), tokens.scope, tokens.expires_in]).toEqual(['svc_eyJ', 'admin:clinical', 3600]);
  });

  test('learns why it is refused', async () => {
    const config = await configured({ client_id: 'demo-m2m', client_secret: 'wrong' });
    await expect(client.clientCredentialsGrant(config)).rejects.toMatchObject({ status: 401 });
  });
});

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const server = async () => oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));

  test('completes the public code flow with PKCE, and refreshes', async () => {
    const as = await server();
    const app: oauth.Client = { client_id: 'demo-app', id_token_signed_response_alg: 'ES256' };
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const url = new URL(as.authorization_endpoint!);
    const challenge = await oauth.calculatePKCECodeChallenge(verifier);
    const asked = {
      client_id: 'demo-app',
      redirect_uri: CALLBACKS['demo-app']!,
      response_type: 'code',
      scope: SCOPE,
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
    const params = oauth.validateAuthResponse(as, app, await visit(url), state); // checks iss, too (RFC 9207)
    const answer = await oauth.authorizationCodeGrantRequest(as, app, oauth.None(), params, CALLBACKS['demo-app']!, verifier, insecure);
    const tokens = await oauth.processAuthorizationCodeResponse(as, app, answer, { requireIdToken: true });
    expect(oauth.getValidatedIdTokenClaims(tokens)!.sub).toBe(DEMO);
    const again = await oauth.refreshTokenGrantRequest(as, app, oauth.None(), tokens.refresh_token!, insecure);
    expect((await oauth.processRefreshTokenResponse(as, app, again)).refresh_token).toMatch(/./);
  });

  test('gets, inspects and revokes a service token', async () => {
    const as = await server();
    const machine: oauth.Client = { client_id: M2M.client_id };
    const secret = oauth.ClientSecretPost(M2M.client_secret);
    const answer = await oauth.clientCredentialsGrantRequest(as, machine, secret, { scope: 'admin:ai' }, insecure);
    const { access_token: token } = await oauth.processClientCredentialsResponse(as, machine, answer);
    const inspect = async () =>
      oauth.processIntrospectionResponse(as, machine, await oauth.introspectionRequest(as, machine, secret, token, insecure));
    expect(await inspect()).toMatchObject({ active: true, scope: 'admin:ai', client_id: 'demo-m2m' });
    await oauth.processRevocationResponse(await oauth.revocationRequest(as, machine, secret, token, insecure));
    expect((await inspect()).active).toBe(false);
  });
});
