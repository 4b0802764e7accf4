import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, sharedPlatform, type SharedPlatform } from '../support/platform.js';
import { Browser, CALLBACKS, isConsent, isSignIn, PASSWORD } from './browser.js';
import { M2M, PARTNER } from './oauth.js';

let p: SharedPlatform;
beforeAll(async () => void (p = await sharedPlatform()));

const issuer = () => new URL(`${p.url}/identity`);

/** What a person does between the app's redirect and its callback. */
async function consentTo(url: URL): Promise<URL> {
  const browser = new Browser();
  let page = await browser.open(p, url.href);
  if (isSignIn(page))
    page = await browser.follow(p, await browser.submit(page, '/login', { identifier: 'demo@example.test', password: PASSWORD }));
  if (isConsent(page))
    page = await browser.follow(p, await browser.submit(page, '/consent', { decision: 'allow', scope: ['read:profile', 'read:account'] }));
  return new URL(page.location!);
}

describe('openid-client', () => {
  const discover = (id: string, secret?: string) =>
    client.discovery(issuer(), id, secret, secret ? client.ClientSecretPost(secret) : client.None(), {
      execute: [client.allowInsecureRequests],
    });

  test.each([
    ['a public client', 'demo-app', undefined],
    ['a confidential client', PARTNER.client_id, PARTNER.client_secret],
  ])('%s completes discovery, code + PKCE, refresh, introspection and revocation', async (_kind, id, secret) => {
    const config = await discover(id, secret);
    const verifier = client.randomPKCECodeVerifier();
    const [state, nonce] = [client.randomState(), client.randomNonce()];
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACKS[id]!,
      scope: 'openid read:profile read:account',
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const tokens = await client.authorizationCodeGrant(config, await consentTo(url), {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
    });
    expect(tokens.claims()).toMatchObject({ sub: DEMO, name: 'Demo', email: 'demo@example.test', email_verified: true });
    expect(tokens.access_token).toMatch(/^usr_/);
    const renewed = await client.refreshTokenGrant(config, tokens.refresh_token!);
    if (secret) expect(await client.tokenIntrospection(config, renewed.access_token)).toMatchObject({ active: true, sub: DEMO });
    await client.tokenRevocation(config, renewed.refresh_token!);
    await expect(client.refreshTokenGrant(config, renewed.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant' });
    if (secret) expect(await client.tokenIntrospection(config, renewed.access_token)).toEqual({ active: false });
  });

  test('a machine client gets its token', async () => {
    const config = await discover(M2M.client_id, M2M.client_secret);
    const { access_token } = await client.clientCredentialsGrant(config, { scope: 'admin:clinical' });
    expect(await client.tokenIntrospection(config, access_token)).toMatchObject({ active: true, scope: 'admin:clinical' });
  });
});

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const server = async (algorithm: 'oidc' | 'oauth2') =>
    oauth.processDiscoveryResponse(issuer(), await oauth.discoveryRequest(issuer(), { algorithm, ...insecure }));

  test.each(['oidc', 'oauth2'] as const)('reads the %s metadata', async algorithm => {
    expect(await server(algorithm)).toMatchObject({
      code_challenge_methods_supported: ['S256'],
      authorization_endpoint: `${p.url}/identity/v1/oauth/authorize`,
    });
  });

  test('completes code + PKCE, refresh and client_credentials', async () => {
    const as = await server('oidc');
    const app: oauth.Client = { client_id: 'demo-app' };
    const verifier = oauth.generateRandomCodeVerifier();
    const query = {
      client_id: 'demo-app',
      redirect_uri: CALLBACKS['demo-app']!,
      response_type: 'code',
      scope: 'openid read:profile',
      state: 'abc',
      max_age: '3600',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    const answer = await consentTo(new URL(`${as.authorization_endpoint}?${new URLSearchParams(query)}`));
    const params = oauth.validateAuthResponse(as, app, answer, 'abc');
    const response = await oauth.authorizationCodeGrantRequest(as, app, oauth.None(), params, CALLBACKS['demo-app']!, verifier, insecure);
    const tokens = await oauth.processAuthorizationCodeResponse(as, app, response, { requireIdToken: true, maxAge: 3600 });
    await oauth.validateApplicationLevelSignature(as, response, insecure);
    expect(oauth.getValidatedIdTokenClaims(tokens)).toMatchObject({ sub: DEMO });
    const again = await oauth.processRefreshTokenResponse(
      as,
      app,
      await oauth.refreshTokenGrantRequest(as, app, oauth.None(), tokens.refresh_token!, insecure),
    );
    expect(again.refresh_token).not.toBe(tokens.refresh_token);
    const machine: oauth.Client = { client_id: M2M.client_id };
    const basic = oauth.ClientSecretBasic(M2M.client_secret);
    const granted = await oauth.clientCredentialsGrantRequest(as, machine, basic, { scope: 'admin:clinical' }, insecure);
    expect((await oauth.processClientCredentialsResponse(as, machine, granted)).access_token).toMatch(/^svc_/);
  });
});
